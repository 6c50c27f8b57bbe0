import type { Log } from '../log.ts';
import { createWorkerTask } from '../processes/worker-task.ts';

const longest = 8_000;
const mostLines = 400;

/** True if reading the text blocks the event loop for about 50 ms at most, whatever its shape (S15). */
function isShort(markdown: string): boolean {
  return markdown.length <= longest && markdown.split('\n', mostLines + 1).length <= mostLines;
}

/**
 * Milliseconds, the start of the thread included. The longest answer that is shown takes a few seconds in its worst
 * shape.
 */
const threadMs = 30_000;

/**
 * Reads and writes Markdown of any length: short text here, long text in a thread, so that it delays nobody (S15). If
 * the thread runs out of time or dies, `plain` answers without the parser. `thread` is a module without its ending that
 * does what `read` does.
 */
export function createMarkdownTask<Input extends Readonly<{ markdown: string }>, Answer>(
  thread: URL,
  { read, plain, log }: Readonly<{ read(input: Input): Answer; plain(input: Input): Answer; log: Log }>,
): (input: Input) => Promise<Answer> {
  const readInThread = createWorkerTask<Input, Answer>(thread, { ms: threadMs });
  return async (input) => {
    if (isShort(input.markdown)) return read(input);
    const result = await readInThread(input, new AbortController().signal);
    if (result.ok) return result.answer;
    const { why, cause } = result;
    log.warn(
      { err: cause, why, characters: input.markdown.length },
      'long Markdown could not be read in time, so it is shown as plain text',
    );
    return plain(input);
  };
}
