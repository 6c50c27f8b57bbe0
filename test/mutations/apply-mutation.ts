import type { Mutation } from './mutation.ts';

/** The source with the change made. Throws if what it changes does not stand there exactly once. */
export function applyMutation({ name, file, find, replace }: Mutation, source: string): string {
  const times = source.split(find).length - 1;
  if (times !== 1) throw new Error(`${name}: in src/${file} this stands ${times} times, not once: ${find}`);
  if (find === replace) throw new Error(`${name}: it changes nothing`);
  return source.replace(find, () => replace);
}
