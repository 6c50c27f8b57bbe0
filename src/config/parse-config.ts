import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { completeConfig, type Config, type Surroundings } from './complete-config.ts';
import {
  describeSyntaxError,
  foundAt,
  keyProblem,
  unknownKeyProblem,
  whatToWrite,
  type ConfigProblem,
} from './config-problem.ts';
import { shortestSecret } from './hook-sections.ts';
import { locateKeys } from './locate-keys.ts';
import { unpricedLimits } from './model-prices.ts';
import { configSchema } from './schema.ts';
import { isSecretKey } from './secrets-of-config.ts';
import { valueAt, type FromEnvironment, type KeyPath } from './section.ts';

export type ParsedConfig =
  Readonly<{ ok: true; config: Config }> | Readonly<{ ok: false; problems: readonly ConfigProblem[] }>;

/**
 * Reads a config and reports all problems at once, in the order of the file (G2). It never throws or prints secrets. An
 * unset variable is a problem unless `mayLack` allows it. Then a secret or list item becomes "unset", which is too
 * short to redact, and any other key is left out.
 */
export function parseConfig(text: string, surroundings: Surroundings): ParsedConfig {
  const { file, env, mayLack = () => false } = surroundings;
  const toml = parseToml(text, file);
  if (!toml.ok) return toml;
  const { data, taken, missing } = substituteVariables(toml.data, env, (path) =>
    mayLack(path) ? { value: standInAt(path) } : undefined,
  );
  // These checks run once, and compiling them takes longer than that (B3).
  const parsed = configSchema.safeParse(withLongForms(data), { error: whatToWrite, jitless: true });
  const config =
    parsed.success && missing.length === 0 ? completeConfig(parsed.data, surroundings, taken) : undefined;
  const unpriced = config === undefined ? [] : unpricedLimits(data, config);
  if (config !== undefined && unpriced.length === 0 && otherForms(toml.data).length === 0)
    return { ok: true, config };
  const placeOf = locateKeys(text);
  const at: At = (path) => ({ file, place: placeOf(path), path });
  const found = (path: KeyPath, isChoice = false): string =>
    foundAt(path, valueAt(data, path), taken, { isChoice });
  const absent = missing.map(({ path, name }) =>
    keyProblem(
      at(path),
      `"$${name}", but the environment has no ${name}`,
      'set it (not empty), or remove the line',
    ),
  );
  const written = otherForms(toml.data).map(({ path, name }) =>
    keyProblem(
      at(path),
      'taken as it stands',
      `for the environment variable write "$${name}", the whole value`,
    ),
  );
  const told = new Set([...absent, ...written].map(({ key }) => key));
  const others = (parsed.error?.issues ?? [])
    .flatMap((issue) => problemsOf(issue, at, found))
    .filter(({ key }) => !told.has(key));
  const notHeld = unpriced.map(({ path, write }) => keyProblem(at(path), found(path), write));
  return { ok: false, problems: inOrder([...absent, ...written, ...others, ...notHeld]) };
}

/** The value for a variable that may be unset. Secrets of hooks have a minimum length. */
function standInAt(path: KeyPath): string | undefined {
  const unset = path[0] === 'hooks' ? 'unset'.padEnd(shortestSecret) : 'unset';
  return isSecretKey(path) || isListed(path) ? unset : undefined;
}

function isListed(path: KeyPath): boolean {
  return typeof path.at(-1) === 'number';
}

function parseToml(
  text: string,
  file: string | undefined,
): Readonly<{ ok: true; data: object }> | Readonly<{ ok: false; problems: readonly ConfigProblem[] }> {
  const problem = (one: ConfigProblem) => ({ ok: false, problems: [{ file, ...one }] }) as const;
  try {
    const data = parse(text, { unsafeKeyBehaviour: 'throw', maxDepth: deepest });
    if (!isDeeperThan(deepest, data)) return { ok: true, data };
    return problem({
      message: `The file nests deeper than ${deepest} levels: write fewer dots or brackets.`,
    });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return problem(describeSyntaxError(error));
  }
}

/** How many levels of tables and lists are accepted. Code that reads the result may recurse. */
const deepest = 50;

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item));
}

/** Replaces the short form `haiku = "claude-haiku-5-5"` by a table (G4). */
function withLongForms(data: unknown): unknown {
  const models = valueAt(data, ['models']);
  if (typeof models !== 'object' || models === null) return data;
  const long = Object.entries(models).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' && name !== 'fallback' && name !== 'fallback_on' ? { model: value } : value,
  ]);
  return { ...(data as object), models: Object.fromEntries(long) as unknown };
}

type At = (path: KeyPath) => Parameters<typeof keyProblem>[0];

function problemsOf(
  issue: z.core.$ZodIssue,
  at: At,
  found: (path: KeyPath, isChoice?: boolean) => string,
): readonly ConfigProblem[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(at([...path, key])));
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) =>
      problemsOf({ ...inner, path: [...path, ...inner.path] }, at, found),
    );
  }
  // Below `[skills]` and `[models]` a free name begins a table; any other value there is an unknown key.
  const [section, name] = path;
  const namesTable = path.length === 2 && (section === 'skills' || section === 'models');
  const isTable = issue.code === 'invalid_type' && issue.expected === 'object';
  if (namesTable && isTable && !knownKeys([section]).includes(String(name))) return [unknownKey(at(path))];
  return [keyProblem(at(path), found(path, issue.code === 'invalid_value'), issue.message)];
}

function unknownKey(where: ReturnType<At>): ConfigProblem {
  const inside = where.path.slice(0, -1);
  const known = knownKeys(inside);
  const isSkill = inside[0] === 'skills' && inside.length === 2;
  const capitals = isSkill ? '; environment variables are written in capitals' : '';
  return unknownKeyProblem(where, known, `known here: ${known.join(', ')}${capitals}.`);
}

function inOrder(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const rank = ({ line = 0, column = 0 }: ConfigProblem): number => line * 10_000 + column;
  return problems.toSorted((a, b) => rank(a) - rank(b));
}

export type FieldSchema = Readonly<{
  type?: string;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
  anyOf?: readonly FieldSchema[];
  items?: FieldSchema;
}>;

type Node = FieldSchema &
  Readonly<{
    properties?: Readonly<Record<string, Node>>;
    additionalProperties?: Node | boolean;
    items?: Node;
  }>;

function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let node: Node | undefined = inputSchema();
  for (const part of path) node = node && below(node, part);
  return Object.keys(node?.properties ?? {});
}

/** Every key of the config. `*` stands for a free name, `[]` for an item of a list. */
export function everyKey(): readonly string[] {
  return everyField().map(([key]) => key);
}

/** Every key of the config with its JSON Schema. */
export function everyField(): readonly (readonly [key: string, schema: FieldSchema])[] {
  const visit = (node: Node, prefix: string): readonly (readonly [string, FieldSchema])[] => {
    const { properties = {}, additionalProperties: other, items } = node;
    const named = Object.entries(properties).flatMap(([key, child]) => visit(child, `${prefix}.${key}`));
    const free = typeof other === 'object' && isTable(other) ? visit(other, `${prefix}.*`) : [];
    const listed = items !== undefined && isTable(items) ? visit(items, `${prefix}[]`) : [];
    const inner = [...named, ...free, ...listed];
    return inner.length > 0 ? inner : [[prefix.replace(/^\./, ''), node]];
  };
  return visit(inputSchema(), '');
}

function below({ properties, additionalProperties, items }: Node, part: PropertyKey): Node | undefined {
  if (typeof part === 'number') return items;
  const own = properties?.[String(part)];
  return own ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

function isTable({ properties, additionalProperties }: Node): boolean {
  return properties !== undefined || typeof additionalProperties === 'object';
}

function inputSchema(): Node {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as Node;
}

/** Matches variables as shells, CI systems and templates write them. Here only `$NAME` is one (G5). */
const whole =
  /^\s*(?:\$\{(?:env[:.])?(\w+)(?::?[-?+].*)?\}|\$\((\w+)\)|\$\{\{\s*(?:\w+\.)?(\w+)\s*\}\}|\{\{\s*(?:env\.)?([A-Z]\w*)\s*\}\}|%([A-Z_]\w*)%|env:([A-Z_]\w*)|\s+\$([A-Z_]\w*)|\$([A-Z_]\w*)\s+)\s*$/;
const inside = /\$\{([A-Z_][A-Z0-9_]*)\}|\s\$([A-Z_][A-Z0-9_]*)$/;

function otherForms(data: unknown): readonly FromEnvironment[] {
  const found: FromEnvironment[] = [];
  const visit = (value: unknown, path: KeyPath): void => {
    if (typeof value === 'string') {
      const isCredential = isSecretKey(path) || path.includes('headers') || /url$/.test(String(path.at(-1)));
      const match = whole.exec(value) ?? (isCredential ? inside.exec(value) : null);
      const name = match?.slice(1).find((one) => one !== undefined);
      // Places of a bundle, which its server gets when it starts (F12).
      const isPlace = path[0] === 'mcp' && /^PLUGIN_(?:ROOT|DATA)$/.test(name ?? '');
      if (name !== undefined && !isPlace) found.push({ path, name: name.toUpperCase() });
    } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
      for (const [key, inner] of Object.entries(value))
        visit(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  };
  visit(data, []);
  return found;
}

/**
 * Replaces `$NAME` by the environment variable (G5), and `$$NAME` by the text `$NAME`. Names are in capitals only, so
 * that a literal secret with a `$` is never printed as a name. An unset variable becomes `standIn`, or a problem
 * without it.
 */
function substituteVariables(
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
    // A date is an object too, but not a table.
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    const items = Object.entries(value).map(([key, item]) => [key, visit(item, [...path, key])] as const);
    return Object.fromEntries(items.filter(([, item]) => item !== undefined));
  };
  return { data: visit(data, []), taken, missing };
}
