import { truncate } from '../core/text.ts';

/** What an error says, without its stack and secrets, which are taken out before it is cut. */
export function reasonOf(error: unknown, redact: (text: string) => string): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  const lines = message.split('\n').filter((line) => !/^\s+at .+/.test(line));
  return truncate(redact(lines.join('\n').trim()), 2_000).text;
}

/** The same for a model: where a file is on the host is no business of it. */
export function toldOf(error: unknown, redact: (text: string) => string): string {
  return hostPaths(error).reduce((text, file) => text.replaceAll(file, '…'), reasonOf(error, redact));
}

function hostPaths(error: unknown): readonly string[] {
  if (!(error instanceof Error && 'syscall' in error)) return [];
  const paths = ['path', 'dest'].map((field): unknown => Reflect.get(error, field));
  return paths.filter((file) => typeof file === 'string' && file !== '') as string[];
}
