import { z } from 'zod';

/** Arguments of a tool that its server also wants as HTTP headers: where each is, by the name of its header. */
export type ParamHeaders = ReadonlyMap<string, readonly string[]>;

const mark = 'x-mcp-header';
/** What HTTP allows as the name of a header. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const marked = z.object({
  [mark]: z.string().regex(token),
  type: z.enum(['string', 'integer', 'number', 'boolean']),
});

/**
 * Reads which arguments of a tool go into headers (X9), of a schema that is nested 64 levels deep at most. Undefined if a
 * mark is malformed, used twice, or where no argument is: the protocol says that such a tool is not to be used.
 */
export function readParamHeaders(inputSchema: unknown): ParamHeaders | undefined {
  const found = new Map<string, readonly string[]>();
  const names = new Set<string>();
  const isSound = (schema: unknown, path: readonly string[], isArgument: boolean): boolean => {
    if (typeof schema !== 'object' || schema === null) return true;
    if (!Array.isArray(schema) && isArgument && Object.hasOwn(schema, mark)) {
      const own = marked.safeParse(schema);
      if (!own.success || path.length === 0 || names.has(own.data[mark].toLowerCase())) return false;
      names.add(own.data[mark].toLowerCase());
      found.set(own.data[mark], path);
    } else if (Object.hasOwn(schema, mark)) return false;
    return Object.entries(schema).every(([key, value]) => {
      if (key !== 'properties') return isData.has(key) || isSound(value, path, false);
      return Object.entries(Object(value) as object).every(([name, one]) =>
        isSound(one, [...path, name], isArgument),
      );
    });
  };
  return isSound(inputSchema, [], true) ? found : undefined;
}

/** Keywords with data in them instead of schemas. */
const isData: ReadonlySet<string> = new Set([mark, 'default', 'examples', 'enum', 'const']);

/** The headers that a call with this input needs. Arguments that are no plain values get none. */
export function headersOfCall(
  headers: ParamHeaders | undefined,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...(headers ?? [])].flatMap(([name, path]) => {
      const value = path.reduce<unknown>(
        (of, key) =>
          Object.hasOwn(Object(of) as object, key) ? Reflect.get(Object(of) as object, key) : undefined,
        input,
      );
      const isPlain = ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
      return isPlain ? [[`Mcp-Param-${name}`, headerValue(String(value))]] : [];
    }),
  );
}

/** Text as a header can carry it. What is not plain ASCII, or would be trimmed or mistaken, goes in Base64. */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
