import { createHash } from 'node:crypto';
import type { Channel, Part } from '../core/channel.ts';
import { sayIn } from '../core/texts/say.ts';
import type { Store } from '../store/store.ts';
import type { OutgoingFiles } from './artifacts.ts';

const mostMessages = 10;
/**
 * How many characters to split at most, in two attempts. The second fills ten messages of any channel; splitting more
 * takes seconds.
 */
const readAtMost = [50_000, 150_000] as const;
const fileName = 'answer.md';

/** The pieces of the answer's beginning, as many as an answer may have (H2). `isWhole` is true if that is all of it. */
export async function beginningOf(
  markdown: string,
  split: Channel['split'],
): Promise<Readonly<{ pieces: readonly string[]; isWhole: boolean }>> {
  for (const most of readAtMost) {
    const head = headOf(markdown, most);
    const pieces = await split(head);
    if (pieces.length > mostMessages) return { pieces: pieces.slice(0, mostMessages), isWhole: false };
    if (head === markdown || most === readAtMost.at(-1)) return { pieces, isWhole: head === markdown };
  }
  throw new Error('not reached');
}

function headOf(markdown: string, most: number): string {
  if (markdown.length <= most) return markdown;
  const line = markdown.lastIndexOf('\n', most);
  return markdown.slice(0, line > most / 2 ? line : most).toWellFormed();
}

type Long = Readonly<{
  /** Key of the part in the outbox. */
  key: string;
  markdown: string;
  channel: Channel;
  language: string | undefined;
  onlyTo: string | undefined;
}>;

/**
 * Makes the part that follows the beginning of a long answer and contains all of it as a file. The same key names the
 * same file.
 */
export function createWholeAnswer(options: {
  store: Readonly<{ outbox: Store['outbox'] }>;
  outgoing: OutgoingFiles;
}): (long: Long) => Promise<Part> {
  const { store, outgoing } = options;
  return async ({ key, markdown, channel, language, onlyTo }) => {
    const say = sayIn(language);
    const none = {
      markdown: say`This answer is too long for the chat, so the rest is left out. Ask me for it in smaller parts.`,
      onlyTo,
    };
    // A file can't go to one person in a group. What was sent already needs no bytes.
    if (onlyTo !== undefined || (await store.outbox.receipt(key)) !== undefined) return none;
    const id = createHash('sha256').update(key).digest('hex').slice(0, 32);
    const kept = await outgoing.keep(id, markdown, fileName, channel.files.largest);
    if (kept === 'too large' || kept === 'full') return none;
    return {
      markdown: say`This answer is too long for the chat. All of it is in ${fileName}.`,
      file: { id, name: fileName, mime: 'text/markdown', size: kept.size, language },
    };
  };
}
