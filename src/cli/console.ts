import { createInterface } from 'node:readline/promises';
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { displayWidth } from '../lib/text/text.ts';

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Prints data as JSON, for `--json`. */
export function printJson(data: unknown): void {
  process.stdout.write(`${JSON.stringify(data, null, 2)}\n`);
}

/**
 * Prints the lines of a list, or `none` if there are none. On a terminal a longer line continues below, between words;
 * elsewhere it stays whole.
 */
export function printList(lines: readonly string[], none = ''): void {
  for (const line of lines.join('\n').split('\n')) if (line !== '') printText(line);
  if (lines.length === 0 && none !== '') print(none);
}

/** Prints a text of several lines. On a terminal a longer line continues below, between words. */
export function printText(text: string): void {
  for (const line of text.split('\n')) print(folded(line, terminalWidth()));
}

/** How many columns the terminal has; infinite if the output is none. */
export function terminalWidth(): number {
  const { isTTY, columns } = process.stdout;
  return isTTY && columns > 0 ? columns : Infinity;
}

function folded(line: string, width: number): string {
  const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
  const rows: string[] = [];
  let row = '';
  for (const part of line.match(/^ *\S+| +\S+/g) ?? []) {
    if (row === '' || displayWidth(row + part) <= width) row += part;
    else {
      rows.push(row);
      row = indent + part.trimStart();
    }
  }
  return [...rows, row].join('\n');
}

/** A time (Unix ms) in minutes, such as `2026-11-24 04:05 UTC`. */
export function inMinutes(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * Shows progress on standard error: one line that changes on a terminal; elsewhere each step once, without percentages.
 */
export function progressLine(): Readonly<{ show(text: string): void; end(): void }> {
  const isTerminal = process.stderr.isTTY;
  let shown = '';
  return {
    show(text) {
      const now = isTerminal ? text : text.replace(/:? *\d+%$/, '');
      if (now === shown) return;
      shown = now;
      process.stderr.write(isTerminal ? `\r\u001b[K${now}` : `${now}\n`);
    },
    end() {
      if (isTerminal && shown !== '') process.stderr.write('\r\u001b[K');
      shown = '';
    },
  };
}

/** A signal that Ctrl-C or SIGTERM aborts, with `why`, until this is disposed. */
export function untilInterrupted(why: Error): Disposable & Readonly<{ signal: AbortSignal }> {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort(why);
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return {
    signal: interrupted.signal,
    [Symbol.dispose]: () => void process.off('SIGINT', stop).off('SIGTERM', stop),
  };
}

/** Waits, and keeps the process alive. Resolves to false if it was aborted meanwhile. */
export function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(ms, true, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return false;
  });
}

/** The answer to a question. `unasked`: nobody is at the terminal. */
export type Agreed = 'yes' | 'no' | 'unasked';

/** Asks a question that only a plain yes answers. `yes`: it was given on the command line already. */
export async function agree(question: string, yes: boolean): Promise<Agreed> {
  if (yes) return 'yes';
  if (!process.stdin.isTTY || !process.stdout.isTTY) return 'unasked';
  const ask = createInterface({ input: process.stdin, output: process.stdout });
  // After Ctrl-C or Ctrl-D the question is never answered.
  const closed = new Promise<string>((resolve) => ask.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([ask.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no';
  } finally {
    ask.close();
  }
}

/** Whether the answer is a yes. If not, it prints why and sets the exit code: 2 if nobody was asked, 1 for a no. */
export function isYes(
  answer: Agreed,
  words: Readonly<{ unasked: string; no: string }> = {
    unasked: 'There is nobody to ask here. Read what is shown above, then add --yes.',
    no: 'Nothing was changed.',
  },
): boolean {
  if (answer === 'unasked') {
    process.exitCode = 2;
    console.error(words.unasked);
  } else if (answer === 'no') {
    process.exitCode = 1;
    print(words.no);
  }
  return answer === 'yes';
}

type Redact = (text: string) => string;
type Guarded = NodeJS.WriteStream['write'] & { redactBy?: (redact: Redact) => void };

/**
 * From now on a reader of the output who is gone costs only the words, and does not end the process (S15). It is for a
 * bot, which has other work.
 */
export function outliveReaders(): void {
  process.stdout.removeAllListeners('error').on('error', () => undefined);
}

/** From now on this process prints no secret (S2, S3), not even when it crashes. A later call replaces `redact`. */
export function guardOutput(redact: Redact): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write: Guarded = stream.write;
    if (write.redactBy === undefined) stream.write = guarded(stream, redact);
    else write.redactBy(redact);
  }
  // Otherwise Node would print the error by itself, without redaction.
  if (process.listenerCount('uncaughtException') === 0)
    process.on('uncaughtException', (error) => {
      process.stderr.write(`${inspect(error)}\n`);
      process.exit(1);
    });
}

function guarded(stream: NodeJS.WriteStream, first: Redact): Guarded {
  const plain = stream.write.bind(stream);
  let redact = first;
  const write: Guarded = (given: string | Uint8Array, ...rest: unknown[]): boolean => {
    const clean = typeof given === 'string' ? redact(given) : given;
    return Reflect.apply(plain, stream, [clean, ...rest]) as boolean;
  };
  write.redactBy = (next) => {
    redact = next;
  };
  return write;
}
