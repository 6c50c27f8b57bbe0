import { createHash } from 'node:crypto';
import type { LeanFile } from '../lean/lean-platform.ts';
import type { SentFile } from '../../servers/telegram/read-call.ts';
import { repeatsOf, type Repeat } from './count-scale.ts';

/** Files that people wanted back, against those they got. */
export type FileCounts = Readonly<{
  wanted: number;
  returned: number;
  /** Never sent back: must be empty. */
  lost: readonly string[];
  /** With other bytes than its person sent under this name, or sent to somebody who did not want it: must be empty. */
  mixedUp: readonly string[];
  repeated: number;
  explained: number;
}>;

const size = 20_000;

/** Of eight messages two bring a file and want it back, one wants the newest one of before, and one that is older. */
export function wantedBy(number: number): string | undefined {
  if (bringsFile(number)) return nameOf(number);
  if (number % 8 === 6) return nameOf(number - 2);
  return number % 8 === 2 ? nameOf(Math.max(0, number - 6)) : undefined;
}

/** What comes with a message. No other chat or message has these bytes. */
export function broughtBy(chat: number, number: number): SentFile | undefined {
  if (!bringsFile(number)) return undefined;
  const name = nameOf(number);
  return {
    name,
    get bytes() {
      return bytesOf(chat, name);
    },
  };
}

export function countFiles(
  said: ReadonlyMap<number, number>,
  files: ReadonlyMap<number, readonly LeanFile[]>,
  repeats: readonly Repeat[],
): FileCounts {
  const lost: string[] = [];
  const mixedUp: string[] = [];
  const counted = { wanted: 0, returned: 0, repeated: 0, explained: 0 };
  for (const [chat, count] of said) {
    const wanted = Array.from({ length: count }, (_, number) => wantedBy(number) ?? []).flat();
    const names = new Set(wanted);
    const right = (files.get(chat) ?? []).filter(({ name, sha256 }) => {
      const isRight = names.has(name) && sha256 === sha256Of(bytesOf(chat, name));
      if (!isRight) mixedUp.push(`${name} in ${chat}`);
      return isRight;
    });
    counted.wanted += wanted.length;
    for (const name of names) {
      const isIt = (each: string): boolean => each === name;
      const due = wanted.filter(isIt).length;
      const came = right.filter((file) => isIt(file.name)).length;
      const more = Math.max(0, came - due);
      if (came < due) lost.push(`${due - came} of ${name} in ${chat}`);
      counted.returned += Math.min(came, due);
      counted.repeated += more;
      counted.explained += Math.min(more, repeatsOf(repeats, chat, name));
    }
  }
  return { ...counted, lost, mixedUp };
}

function bringsFile(number: number): boolean {
  return number % 4 === 0;
}

function nameOf(number: number): string {
  return `file-${number}.bin`;
}

function bytesOf(chat: number, name: string): Buffer {
  return createHash('shake256', { outputLength: size }).update(`${chat} ${name}`).digest();
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
