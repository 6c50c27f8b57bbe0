import path from 'node:path';

type Start = Readonly<{ argv: readonly string[]; env: Readonly<Record<string, string | undefined>> }>;

/**
 * How people type the command line where this process was started: `skillet`, `npx skillet` or, by the scripts of a
 * clone, `npm run -s skillet --`. Every command that is shown to somebody begins with it.
 */
export function skilletHere({ argv, env }: Start = process): string {
  const event = env['npm_lifecycle_event'];
  const isProgram = ['skillet', 'skillet.js'].includes(path.basename(argv[1] ?? ''));
  if (!isProgram || event === undefined) return 'skillet';
  return event !== 'npx' && env['npm_package_name'] === 'skillet' ? 'npm run -s skillet --' : 'npx skillet';
}

/**
 * Replaces `skillet` in a fixed text, which contains commands such as `skillet doctor`, with how people type it here.
 */
export function asTypedHere(text: string): string {
  return text.replace(/(?<=^|[\s`"(])skillet(?= [a-z])/g, skilletHere());
}
