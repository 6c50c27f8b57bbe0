import path from 'node:path';

const longest = 80;

/** A file name that needs no quotes in a shell. `ending` is used if the name has none. */
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

/** The name itself, or `name-2`, `name-3` and so on if it is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const ending = path.posix.extname(name);
  const stem = name.slice(0, name.length - ending.length);
  for (let number = 2; ; number++) {
    const next = `${stem}-${number}${ending}`;
    if (!taken.has(next)) return next;
  }
}

/** Whether `freeName` could have made this name from the wanted one. */
export function isNameFor(wanted: string, name: string): boolean {
  const ending = path.posix.extname(wanted);
  const stem = wanted.slice(0, wanted.length - ending.length);
  if (!name.startsWith(stem) || !name.endsWith(ending)) return false;
  return /^(?:-[1-9]\d*)?$/.test(name.slice(stem.length, name.length - ending.length));
}
