/** Bytes for people: `812 bytes`, `12 kB`, `3.4 MB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const [unit, size] = bytes < 999_500 ? ['kB', bytes / 1000] : ['MB', bytes / 1_000_000];
  return `${size < 10 ? size.toFixed(1).replace(/\.0$/, '') : Math.round(size)} ${unit}`;
}
