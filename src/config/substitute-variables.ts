import type { KeyPath } from './section.ts';

/** A place in the file whose value is a variable of the environment. */
export type FromEnvironment = Readonly<{ path: KeyPath; name: string }>;

/**
 * Replaces every text that is exactly `$NAME` by the environment's value (G5); `$$NAME` is the text `$NAME`. Only
 * capitals make a name, so that a literal secret with a `$` in front is never taken for one and told in a message.
 * A variable that is not set or empty is replaced by what `standIn` has for its place; else it is reported and its text left.
 */
export function substituteVariables(
  data: unknown,
  env: Readonly<Record<string, string | undefined>>,
  standIn: (path: KeyPath) => Readonly<{ value: string | undefined }> | undefined,
): Readonly<{ data: unknown; taken: readonly FromEnvironment[]; missing: readonly FromEnvironment[] }> {
  const taken: FromEnvironment[] = [];
  const missing: FromEnvironment[] = [];
  const visit = (value: unknown, path: KeyPath): unknown => {
    if (typeof value === 'string') {
      if (/^\$\$[A-Z_][A-Z0-9_]*$/.test(value)) return value.slice(1);
      const name = /^\$([A-Z_][A-Z0-9_]*)$/.exec(value)?.[1];
      if (name === undefined) return value;
      const found = Object.hasOwn(env, name) ? env[name] : undefined;
      const other = found ? undefined : standIn(path);
      if (other !== undefined) return other.value;
      (found ? taken : missing).push({ path, name });
      return found || value;
    }
    if (Array.isArray(value)) return value.map((item, index) => visit(item, [...path, index]));
    if (!isTable(value)) return value;
    const items = Object.entries(value).map(([key, item]) => [key, visit(item, [...path, key])] as const);
    return Object.fromEntries(items.filter(([, item]) => item !== undefined));
  };
  return { data: visit(data, []), taken, missing };
}

/** Dates are objects too, and no tables. */
function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}
