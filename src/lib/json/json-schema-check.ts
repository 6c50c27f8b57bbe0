import type * as JsonSchema from '@cfworker/json-schema';
import type { OutputUnit, Schema, SchemaDraft } from '@cfworker/json-schema';
import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';
import { once } from '../async/mutex.ts';
import { isShallow } from './json-values.ts';

const require = createRequire(import.meta.url);

/** Loaded when it is first used, because few bots have tools from outside. */
const library = once(() => require('@cfworker/json-schema') as typeof JsonSchema);

/** Says in words what is wrong with the data; undefined if it fits the schema. */
export type SchemaCheck = (data: unknown) => string | undefined;

type Node = Readonly<Record<string, unknown>>;

/** How many milliseconds a check may block everything else. */
const checkMs = 500;
const dataLevels = 200;
const mostProblems = 5;

/**
 * Makes a check for an object schema of drafts 4 to 2020-12. Throws for undefined references. With `patterns: false` it
 * ignores `pattern` and `format`. If a check takes 500 ms, as with a bad pattern, the data counts as wrong.
 */
export function jsonSchemaCheck(
  schema: Node,
  { patterns = true }: Readonly<{ patterns?: boolean }> = {},
): SchemaCheck {
  const draft = draftOf(schema);
  const own = structuredClone(patterns ? schema : withoutPatterns(schema)) as Schema;
  const whole = { ...own, type: own.type ?? 'object' };
  const { dereference, validate } = library();
  const known = dereference(whole);
  for (const part of Object.values(known)) {
    const { $ref, __absolute_ref__: uri = $ref } = typeof part === 'boolean' ? {} : part;
    if (uri !== undefined && known[uri] === undefined)
      throw new Error(`it refers to ${$ref}, which it does not define`);
  }
  return (data) => {
    if (!isShallow(data, dataLevels)) return `this data is nested deeper than ${dataLevels} levels`;
    const checked = runWithTimeLimit(checkMs, () => validate(data, whole, draft, known, false));
    if (checked === undefined) return `this data could not be checked within ${checkMs} ms`;
    const { valid, errors } = checked.value;
    return valid ? undefined : inWords(errors);
  };
}

function draftOf({ $schema }: Node): SchemaDraft {
  const named = typeof $schema === 'string' ? /draft-0?(4|7)|2019-09/.exec($schema) : null;
  return named === null ? '2020-12' : ((named[1] ?? '2019-09') as SchemaDraft);
}

/** Keywords whose errors only repeat those of their parts. */
const containers = new Set(['properties', 'items', 'prefixItems', '$ref', 'allOf', 'patternProperties']);

function inWords(errors: readonly OutputUnit[]): string {
  const parts = errors.filter(({ keyword }) => !containers.has(keyword));
  const each = (parts.length > 0 ? parts : errors).map(({ instanceLocation, error }) => {
    const place = instanceLocation.slice(2).replaceAll('/', '.');
    return place === '' ? error : `${place}: ${error}`;
  });
  return [...new Set(each)].slice(0, mostProblems).join('\n');
}

/** Keywords whose values are data, not schemas. */
const verbatim = new Set(['enum', 'const', 'examples', 'required', 'default']);
const byName = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

function withoutPatterns(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutPatterns);
  if (typeof node !== 'object' || node === null) return node;
  const { pattern: _, format: __, patternProperties, ...said } = node as Node;
  return mapped(said, (key, value) => {
    // A pattern also allows names, which are unknown without it, so all names are allowed.
    if (patternProperties !== undefined && key === 'additionalProperties') return true;
    if (verbatim.has(key)) return value;
    return byName.has(key) ? mapped(value, (_name, one) => withoutPatterns(one)) : withoutPatterns(value);
  });
}

function mapped(value: unknown, change: (key: string, one: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(key, one)]));
}

// A check costs 0.4 ms this way; a new context each time cost 1.5 ms. Without a time limit a bad pattern would block
// the bot.
const limited = once(() => ({ context: createContext({}), script: new Script('work()') }));

/** Does work and returns its value; undefined after `ms` milliseconds. It stops even a regular expression. */
function runWithTimeLimit<Value>(ms: number, work: () => Value): Readonly<{ value: Value }> | undefined {
  const { context, script } = limited();
  context['work'] = work;
  try {
    return { value: script.runInContext(context, { timeout: ms }) as Value };
  } catch (error) {
    // The error is one of the other context, so `instanceof` does not match.
    if (Reflect.get(Object(error) as object, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    delete context['work'];
  }
}
