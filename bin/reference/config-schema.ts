import { z } from 'zod';
import { configSchema } from '../../src/config/schema.ts';
import {
  aboutSection,
  defaultIn,
  examplesOf,
  meaningOf,
  readExampleConfig,
  type ExampleConfig,
} from './example-config.ts';

type Node = Readonly<{
  type?: string;
  enum?: readonly unknown[];
  pattern?: string;
  anyOf?: readonly Node[];
  items?: Node;
  properties?: Readonly<Record<string, Node>>;
  patternProperties?: Readonly<Record<string, Node>>;
  additionalProperties?: Node | boolean;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  examples?: readonly unknown[];
  title?: string;
  description?: string;
  placeholder?: string;
  definitions?: Readonly<Record<string, Node>>;
}>;

/** Draft 7 is the newest that editors of TOML read. */
export function configJsonSchema(): string {
  const made = z.toJSONSchema(configSchema, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-7',
  }) as Node;
  const written = readExampleConfig();
  const { type, properties, additionalProperties, definitions } = describe(made, '', written);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Made from the code by `npm run docs:reference`.',
    title: 'Configuration of Skillet',
    description:
      'Keys, types and defaults of config.toml. `skillet config check` also checks what a schema can’t say.',
    ...{ type, properties, additionalProperties, definitions },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Adds meanings, defaults and examples. `key` is as in `everyField`: `*` is a free name, `[]` an item of a list. */
function describe(node: Node, key: string, written: ExampleConfig): Node {
  const { properties, additionalProperties: other, items, default: preset, ...rest } = withoutBounds(node);
  const below = (name: string): string => (key === '' ? name : `${key}.${name}`);
  const named = properties && mapValues(properties, (name, child) => describe(child, below(name), written));
  const free = typeof other === 'object' && isTable(other) ? describe(other, below('*'), written) : other;
  const listed = items && (isTable(items) ? describe(items, `${key}[]`, written) : orVariable(items));
  // Words for the forms of a chat: the file of examples has those for people who edit the config.
  const { title: _title, placeholder: _placeholder, description: _description, ...own } = rest;
  const isSection =
    named !== undefined || [other, items].some((one) => typeof one === 'object' && isTable(one));
  const about = isSection ? aboutSection(key.replace('[]', ''), written) : meaningOf(key, written);
  const value = isSection ? undefined : (defaultIn(key, written) ?? preset);
  const examples = isSection || value !== undefined ? [] : examplesOf(key, written);
  return alsoHere(key, {
    ...(about === '' ? {} : { description: about }),
    ...(value === undefined ? {} : { default: value }),
    ...(examples.length === 0 ? {} : { examples }),
    ...orVariable(own),
    ...(named && { properties: named }),
    ...(free !== undefined && { additionalProperties: free }),
    ...(listed && { items: listed }),
  });
}

/** What the code accepts there besides what its schema says. */
function alsoHere(key: string, node: Node): Node {
  // The short form `haiku = "claude-haiku-5-5"` (G4).
  if (key === 'models.*') return { description: node.description, anyOf: [{ type: 'string' }, node] };
  // Variables of a skill's environment are in capitals (U3).
  if (key === 'skills.*')
    return {
      ...node,
      patternProperties: { '^[A-Z_][A-Z0-9_]*$': { type: 'string' } },
      additionalProperties: false,
    };
  return node;
}

const variable: Node = { type: 'string', pattern: '^\\$[A-Z_][A-Z0-9_]*$' };

/** A text may be `"$NAME"`, also where only some texts count (G5). */
function orVariable(node: Node): Node {
  const { type, enum: choices, pattern, anyOf, ...rest } = node;
  if (anyOf !== undefined) {
    const isText = anyOf.some(
      (one) => one.type === 'string' && one.enum === undefined && one.pattern === undefined,
    );
    return { ...rest, anyOf: [...anyOf.map(withoutBounds), ...(isText ? [] : [variable])] };
  }
  if (type !== 'string' || (choices === undefined && pattern === undefined)) return withoutBounds(node);
  const limits = { ...(choices && { enum: choices }), ...(pattern !== undefined && { pattern }) };
  return { ...rest, anyOf: [{ type, ...limits }, variable] };
}

/** The bounds of whole numbers in JavaScript are no bounds of a key. */
function withoutBounds({ minimum, maximum, ...node }: Node): Node {
  const isBound = (value: number | undefined): value is number =>
    value !== undefined && Math.abs(value) !== Number.MAX_SAFE_INTEGER;
  return { ...node, ...(isBound(minimum) && { minimum }), ...(isBound(maximum) && { maximum }) };
}

function isTable({ properties, additionalProperties }: Node): boolean {
  return properties !== undefined || typeof additionalProperties === 'object';
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (key: string, value: Value) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(key, value)]));
}
