import path from 'node:path';
import { parseArgs } from 'node:util';

/** Reads options with a value each, all of which have a default. What is not one of them is wrong usage. */
export function readOptions<Name extends string>(
  defaults: Readonly<Record<Name, string>>,
): Readonly<Record<Name, string>> {
  const options = Object.fromEntries(
    Object.entries<string>(defaults).map(([name, value]) => [
      name,
      { type: 'string', default: value } as const,
    ]),
  );
  try {
    return parseArgs({ options }).values as Record<Name, string>;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return end(2, error.message);
  }
}

/** Ends the process with one line on standard error: 1 where it could not do its work, 2 where it was started wrongly. */
export function end(code: 1 | 2, why: string): never {
  console.error(`${path.basename(process.argv[1] ?? 'notes')}: ${why}`);
  process.exit(code);
}
