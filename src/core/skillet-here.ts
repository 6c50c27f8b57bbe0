import path from 'node:path';

type Start = Readonly<{
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
}>;

/**
 * How people type the command line where this process was started: `skillet`, or `npx skillet` if npm started it or it
 * runs in the folder of a clone. Every command that is shown to somebody begins with it.
 */
export function skilletHere({ argv, env, cwd }: Start = process): string {
  const program = argv[1] ?? '';
  if (!['skillet', 'skillet.js'].includes(path.basename(program))) return 'skillet';
  const isInClone = path.resolve(program) === path.join(cwd(), 'bin/skillet.js');
  return isInClone || env['npm_lifecycle_event'] !== undefined ? 'npx skillet' : 'skillet';
}

/**
 * Replaces `skillet` in a text of this package, which contains commands such as `skillet doctor`, with how people type
 * it here.
 */
export function asTypedHere(text: string): string {
  return text.replace(/(?<=^|[\s`"(])(?<!npx )skillet(?= [a-z])/g, skilletHere());
}
