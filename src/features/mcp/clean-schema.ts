import { labelsEscaped } from '../../lib/text/escape-labels.ts';
import { oneLine } from '../../lib/text/text.ts';
import { defined } from '../../lib/json/json-values.ts';

const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu;

type Schema = Readonly<Record<string, unknown>>;
type Read = (value: unknown, depth: number) => unknown;

/** How many levels of a schema are kept; below them anything is accepted. */
const depthLimit = 12;
const textLimit = 400;
const listLimit = 200;
const namedLimit = 10;
const formsLimit = 200;

/**
 * Rebuilds a foreign schema from keywords that the Messages API accepts, with safe texts (X7, M11). The result can only
 * allow more, because the server checks its own input. Alternatives at the top become one object, and properties whose
 * names are refused move to the description.
 */
export function cleanSchema(schema: unknown): Schema {
  const whole = asObject(cleanNode(schema, 0)) ?? {};
  return asObject(withoutLooseEnds({ ...flat(whole), type: 'object' }, whole)) ?? {};
}

function cleanNode(node: unknown, depth: number): unknown {
  if (typeof node === 'boolean') return node;
  const object = asObject(node);
  if (object === undefined || depth > depthLimit) return {};
  const kept = Object.entries(object).flatMap(([key, value]) => {
    const read = keywords.get(key)?.(value, depth + 1);
    return read === undefined ? [] : [[key, read] as const];
  });
  const description = withUnnamed(object, words(object['description'], depth));
  return defined({ ...Object.fromEntries(kept), description });
}

/** The description of an object. It also lists the properties whose names the API refuses. */
function withUnnamed({ properties, required }: Schema, description: unknown): unknown {
  const odd = Object.keys(asObject(properties) ?? {}).filter((name) => !isName(name));
  if (odd.length === 0) return description;
  const needed = new Set(Array.isArray(required) ? required : []);
  const each = odd
    .slice(0, namedLimit)
    .map(
      (name) =>
        `${JSON.stringify(oneLine(strangerText(name, 64), 64))}${needed.has(name) ? ' (required)' : ''}`,
    );
  const note = `It also takes ${each.join(', ')}.`;
  return typeof description === 'string' ? `${description} ${note}` : note;
}

/** Merges the alternatives at the top of a schema. A property is required only if every alternative requires it. */
function flat(root: Schema): Schema {
  // Alternatives refer to others, so a limit on depth alone would not end this.
  let left = formsLimit;
  const flatten = (node: Schema): Schema => {
    const { $ref, anyOf, oneOf, allOf, ...own } = node;
    const forms = (value: unknown): readonly Schema[] =>
      (Array.isArray(value) ? value : []).flatMap((form: unknown) => {
        const object = asObject(form);
        return object === undefined || left-- <= 0 ? [] : [flatten(object)];
      });
    const others = [...forms([targetOf($ref, root)]), ...forms(allOf)];
    for (const choice of [forms(anyOf), forms(oneOf)]) if (choice.length > 0) others.push(either(choice));
    if (others.length === 0) return own;
    const { additionalProperties: _, ...open } = Object.assign({}, ...others, own) as Schema;
    return { ...open, ...together([own, ...others]) };
  };
  return flatten(root);
}

function together(parts: readonly Schema[]): Schema {
  const required = [...new Set(parts.flatMap(requiredOf))];
  const properties = Object.assign({}, ...parts.map(propertiesOf)) as Schema;
  return {
    properties: Object.keys(properties).length === 0 ? undefined : properties,
    required: required.length === 0 ? undefined : required,
  };
}

function either(forms: readonly Schema[]): Schema {
  const properties: Record<string, unknown> = {};
  for (const name of new Set(forms.flatMap((form) => Object.keys(propertiesOf(form))))) {
    const each = forms.flatMap((form) =>
      Object.hasOwn(propertiesOf(form), name) ? [propertiesOf(form)[name]] : [],
    );
    const different = [...new Map(each.map((one) => [JSON.stringify(one), one])).values()];
    properties[name] = different.length === 1 ? different[0] : { anyOf: different };
  }
  const [first = {}, ...others] = forms;
  const required = requiredOf(first).filter((name) =>
    others.every((form) => requiredOf(form).includes(name)),
  );
  return { properties, required };
}

function propertiesOf(schema: Schema): Schema {
  return asObject(schema['properties']) ?? {};
}

function requiredOf({ required }: Schema): readonly string[] {
  return Array.isArray(required) ? (required as string[]) : [];
}

/** The schema without references that lead nowhere, which only allows more where they were. */
function withoutLooseEnds(node: unknown, root: Schema): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutLooseEnds(item, root));
  const object = asObject(node);
  if (object === undefined) return node;
  const kept = Object.entries(object).filter(
    ([key, value]) =>
      key !== '$ref' || typeof value !== 'string' || asObject(targetOf(value, root)) !== undefined,
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutLooseEnds(value, root)]));
}

function targetOf(reference: unknown, root: Schema): unknown {
  const [, under = '', name = ''] = typeof reference === 'string' ? reference.split('/') : [];
  return asObject(root[under])?.[name];
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

/** Whether a text is a regular expression. It is compiled here, but never run. */
function isPattern(value: string): boolean {
  if (!isPlain(value, textLimit)) return false;
  try {
    return new RegExp(value, 'u').source !== '';
  } catch {
    return false;
  }
}

/** Whether the API accepts this as the name of a property. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-zA-Z0-9_.-]{1,64}$/.test(value) && value !== '__proto__';
}

function isType(value: unknown): boolean {
  if (Array.isArray(value))
    return value.length > 0 && value.every((item) => !Array.isArray(item) && isType(item));
  return typeof value === 'string' && types.includes(value);
}

function asObject(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}

/**
 * Foreign text made safe for a prompt (M11): no steering or hidden characters, labels escaped, cut to `limit`
 * characters. Line ends stay.
 */
export function strangerText(text: string, limit: number): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(unseen, ' ');
  return labelsEscaped(plain, limit).text.trim();
}

function isPlain(text: string, limit: number): boolean {
  return text.length <= limit && !/\n/.test(text) && strangerText(text, limit) === text.trim();
}
