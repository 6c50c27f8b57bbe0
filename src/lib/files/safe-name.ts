import path from 'node:path';

const longest = 80;

/**
 * A file name made of what somebody wrote: letters, digits, `.`, `_` and `-`, so that it is one entry of a folder and needs no
 * quotes in a shell. `ending` is added where it has none.
 */
export function safeName(written: string, ending = ''): string {
  const plain = written
    .slice(-1_000)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+|[.-]+$/g, '');
  const own = path.posix.extname(plain);
  const stem = plain.slice(0, plain.length - own.length);
  const kept = own.length > 1 && own.length <= 12 ? own : '';
  const short = [...(kept === own ? stem : plain)]
    .slice(0, longest)
    .join('')
    .replace(/[.-]+$/, '');
  return `${short === '' ? 'file' : short}${kept === '' ? ending : kept}`;
}

/** The name, or the first of `name-2`, `name-3` … that is not taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const ending = path.posix.extname(name);
  const stem = name.slice(0, name.length - ending.length);
  for (let number = 2; ; number++) {
    const next = `${stem}-${number}${ending}`;
    if (!taken.has(next)) return next;
  }
}
