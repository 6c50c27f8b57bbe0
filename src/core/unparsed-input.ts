/** Stands for the arguments of a call that were no JSON: an object, as the Messages API wants them back. */
const key = 'arguments that were no JSON';
/** Characters of them that are kept, so that the model sees what it wrote. */
const longest = 2_000;

export function unparsedInput(written: string): Readonly<Record<string, string>> {
  return { [key]: written.slice(0, longest) };
}

export function isUnparsed(input: unknown): boolean {
  return typeof input === 'object' && input !== null && Object.hasOwn(input, key);
}
