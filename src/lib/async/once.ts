/** A function that makes its value at the first call and gives the same one from then on. */
export function once<T>(make: () => T): () => T {
  let made: Readonly<{ value: T }> | undefined;
  return () => (made ??= { value: make() }).value;
}
