import { truncate } from '../lib/text/text.ts';

/** The thrown value; or, since a plugin may throw a value whose getters throw, an error that says it cannot be read. */
export function readableError(thrown: unknown): unknown {
  try {
    for (let one = thrown; one instanceof Error; one = one.cause)
      void [wordsOf(one), hostPaths(one), 'code' in one];
    return String(thrown) === '' ? new Error('it threw an empty value') : thrown;
  } catch {
    return new Error('it threw something that cannot be read');
  }
}

/** What an error says, without its stack and secrets, which are taken out before it is cut. */
export function reasonOf(error: unknown, redact: (text: string) => string): string {
  const message = wordsOf(error);
  const lines = message.split('\n').filter((line) => !/^\s+at .+/.test(line));
  return truncate(redact(lines.join('\n').trim()), 2_000).text;
}

/** The same for a model: where a file is on the host is no business of it. */
export function toldOf(error: unknown, redact: (text: string) => string): string {
  return hostPaths(error).reduce((text, file) => text.replaceAll(file, '…'), reasonOf(error, redact));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function hostPaths(error: unknown): readonly string[] {
  if (!(error instanceof Error && 'syscall' in error)) return [];
  const paths = ['path', 'dest'].map((field): unknown => Reflect.get(error, field));
  return paths.filter((file) => typeof file === 'string' && file !== '') as string[];
}
