import { oneLine } from '../../core/text.ts';
import { isPlain, strangerText } from './stranger-text.ts';

type Schema = Readonly<Record<string, unknown>>;
type Read = (value: unknown, depth: number) => unknown;

/** Levels that a schema may be nested; what is deeper takes anything. */
const depthLimit = 12;
const textLimit = 400;
const listLimit = 200;

/**
 * The JSON Schema of a stranger's tool as it may stand in a request (X7, M11): built anew of keywords that are known, each
 * with a value of its kind, so that the API takes it; texts made harmless. What is left out only loosens it: the server
 * judges its input itself. Always an object without alternatives at its top, which is what the API wants.
 */
export function cleanSchema(schema: unknown): Schema {
  const { anyOf, oneOf, allOf, type, $ref, ...rest } = asObject(cleanNode(schema, 0)) ?? {};
  const whole: Schema = { type: 'object', ...rest };
  return refersToItself(whole) ? whole : { type: 'object' };
}

function cleanNode(node: unknown, depth: number): unknown {
  if (typeof node === 'boolean') return node;
  const object = asObject(node);
  if (object === undefined || depth > depthLimit) return {};
  const kept = Object.entries(object).flatMap(([key, value]) => {
    const read = keywords.get(key)?.(value, depth + 1);
    return read === undefined ? [] : [[key, read] as const];
  });
  return Object.fromEntries(kept);
}

const words: Read = (value) => {
  if (typeof value !== 'string') return undefined;
  const text = oneLine(strangerText(value, textLimit), textLimit);
  return text === '' ? undefined : text;
};
const number: Read = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
const count: Read = (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? value : undefined);
const flag: Read = (value) => (typeof value === 'boolean' ? value : undefined);
const one: Read = (value, depth) =>
  typeof value === 'boolean' || asObject(value) !== undefined ? cleanNode(value, depth) : undefined;
const several: Read = (value, depth) =>
  Array.isArray(value) && value.length > 0
    ? value.slice(0, listLimit).map((item) => cleanNode(item, depth))
    : undefined;
const named: Read = (value, depth) => {
  const object = asObject(value);
  if (object === undefined) return undefined;
  const fit = Object.entries(object).filter(([name]) => isName(name));
  return Object.fromEntries(fit.map(([name, item]) => [name, cleanNode(item, depth)]));
};
const scalar: Read = (value) =>
  typeof value === 'string'
    ? isPlain(value, textLimit)
      ? value
      : undefined
    : value === null || typeof value === 'boolean'
      ? value
      : number(value, 0);
const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

const keywords = new Map<string, Read>([
  ['title', words],
  ['description', words],
  ['type', (value) => (isType(value) ? value : undefined)],
  ['properties', named],
  ['$defs', named],
  ['definitions', named],
  ['required', (value) => (Array.isArray(value) ? [...new Set(value.filter(isName))] : undefined)],
  ['items', one],
  ['additionalProperties', one],
  ['prefixItems', several],
  ['anyOf', several],
  ['oneOf', several],
  ['allOf', several],
  ['enum', (value) => nonEmpty(Array.isArray(value) ? value.slice(0, listLimit).filter(isScalar) : [])],
  ['const', scalar],
  ['default', scalar],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
  ['multipleOf', (value) => (typeof value === 'number' && value > 0 ? number(value, 0) : undefined)],
  ['minLength', count],
  ['maxLength', count],
  ['minItems', count],
  ['maxItems', count],
  ['minProperties', count],
  ['maxProperties', count],
  ['uniqueItems', flag],
  ['pattern', (value) => (typeof value === 'string' && isPattern(value) ? value : undefined)],
  ['format', (value) => (isName(value) ? value : undefined)],
  [
    '$ref',
    (value) => (typeof value === 'string' && /^#\/(\$defs|definitions)\//.test(value) ? value : undefined),
  ],
]);

function isScalar(value: unknown): boolean {
  return value === null || scalar(value, 0) !== undefined;
}

function nonEmpty(list: readonly unknown[]): readonly unknown[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Compiled at most, and never run here. */
function isPattern(value: string): boolean {
  if (!isPlain(value, textLimit)) return false;
  try {
    return new RegExp(value, 'u').source !== '';
  } catch {
    return false;
  }
}

/** A name that the API takes for a property. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-zA-Z0-9_.-]{1,64}$/.test(value) && value !== '__proto__';
}

function isType(value: unknown): boolean {
  if (Array.isArray(value))
    return value.length > 0 && value.every((item) => !Array.isArray(item) && isType(item));
  return typeof value === 'string' && types.includes(value);
}

/** Whether everything that is referred to is there. */
function refersToItself(root: Schema): boolean {
  const found = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.every(found);
    const object = asObject(node);
    if (object === undefined) return true;
    const reference = object['$ref'];
    if (typeof reference === 'string') {
      const [, under = '', name = ''] = reference.split('/');
      if (asObject(asObject(root[under])?.[name]) === undefined) return false;
    }
    return Object.values(object).every(found);
  };
  return found(root);
}

function asObject(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}
