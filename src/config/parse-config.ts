import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { completeConfig, type Config, type Surroundings } from './complete-config.ts';
import {
  describeFound,
  keyProblem,
  whatToWrite,
  describeSyntaxError,
  type ConfigProblem,
} from './config-problem.ts';
import { formatKeyPath, valueAt, type KeyPath } from './section.ts';
import { locateKeys } from './locate-keys.ts';
import { unpricedLimits } from './model-prices.ts';
import { configSchema } from './schema.ts';
import { isSecretKey } from './secrets-of-config.ts';
import { substituteVariables, type FromEnvironment } from './substitute-variables.ts';
import { nearest } from '../lib/text/text.ts';

export type ParsedConfig =
  Readonly<{ ok: true; config: Config }> | Readonly<{ ok: false; problems: readonly ConfigProblem[] }>;

/**
 * Reads the text of a config file; all problems at once, in the order of the file (G2). Never throws, never prints a secret.
 * A variable that the environment has not is a problem, unless its place `mayLack` it: then a secret is "unset", which is too
 * short to be redacted, as is what a list holds, so that the rest keeps its place; anything else is as if it was not written.
 */
export function parseConfig(text: string, surroundings: Surroundings): ParsedConfig {
  const { file, env, mayLack = () => false } = surroundings;
  const toml = parseToml(text, file);
  if (!toml.ok) return toml;
  const { data, taken, missing } = substituteVariables(toml.data, env, (path) =>
    mayLack(path) ? { value: isSecretKey(path) || isListed(path) ? 'unset' : undefined } : undefined,
  );
  const absent: readonly Finding[] = missing.map(({ path, name }) => ({
    path,
    found: `"$${name}"`,
    write: `the environment has no ${name}, so set it (not empty), or remove the line`,
  }));
  const parsed = configSchema.safeParse(withLongForms(data), { error: whatToWrite });
  const config =
    parsed.success && absent.length === 0 ? completeConfig(parsed.data, surroundings, taken) : undefined;
  const unpriced = config === undefined ? [] : unpricedLimits(data, config);
  if (config !== undefined && unpriced.length === 0) return { ok: true, config };
  const issues = parsed.error?.issues ?? [];
  const told = new Set(absent.map(({ path }) => JSON.stringify(path)));
  const others = issues
    .flatMap((issue) => findings(issue, data, taken))
    .filter(({ path }) => !told.has(JSON.stringify(path)));
  const placeOf = locateKeys(text);
  const notHeld = unpriced.map((one) => ({ ...one, found: foundAt(data, one.path, taken, false) }));
  const problems: readonly ConfigProblem[] = [...absent, ...others, ...notHeld].map(
    ({ path, found, write, message }: Finding) => {
      const problem = keyProblem({ file, place: placeOf(path), path }, found, write);
      return message === undefined ? problem : { ...problem, message };
    },
  );
  return { ok: false, problems: inOrder(problems) };
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

/** Levels of tables and lists; everything below may recurse. */
const deepest = 50;

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item));
}

/** `haiku = "claude-haiku-5-5"` under `[models]` is short for a table (G4). */
function withLongForms(data: unknown): unknown {
  const models = valueAt(data, ['models']);
  if (typeof models !== 'object' || models === null) return data;
  const long = Object.entries(models).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' && name !== 'fallback' ? { model: value } : value,
  ]);
  return { ...(data as object), models: Object.fromEntries(long) as unknown };
}

type Finding = Readonly<{ path: KeyPath; found: string; write: string; message?: string }>;

function findings(
  issue: z.core.$ZodIssue,
  data: unknown,
  taken: readonly FromEnvironment[],
): readonly Finding[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key]));
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) =>
      findings({ ...inner, path: [...path, ...inner.path] }, data, taken),
    );
  }
  // Under [skills] and [models] a free name begins a table: anything else there is a key that does not exist.
  const namesTable = path.length === 2 && (path[0] === 'skills' || path[0] === 'models');
  const last = path.at(-1);
  if (
    namesTable &&
    issue.code === 'invalid_type' &&
    issue.expected === 'object' &&
    !knownKeys([path[0] ?? '']).includes(String(last))
  ) {
    return [unknownKey(path)];
  }
  return [{ path, found: foundAt(data, path, taken, issue.code === 'invalid_value'), write: issue.message }];
}

function foundAt(data: unknown, path: KeyPath, taken: readonly FromEnvironment[], isChoice: boolean): string {
  const key = JSON.stringify(path);
  const variable = taken.find((one) => JSON.stringify(one.path) === key);
  if (variable !== undefined) return `the value of $${variable.name}`;
  return describeFound(valueAt(data, path), isSecretKey(path), isChoice);
}

/** Says which key was probably meant. */
function unknownKey(path: KeyPath): Finding {
  const key = String(path.at(-1));
  const inside = path.slice(0, -1);
  const candidates = knownKeys(inside);
  const [guess] = nearest(key, candidates);
  const isSkill = inside[0] === 'skills' && inside.length === 2;
  const capitals = isSkill ? '; environment variables are written in capitals' : '';
  const write =
    guess === undefined ? `known here: ${candidates.join(', ')}${capitals}` : `did you mean ${guess}`;
  const end = guess === undefined ? '.' : '?';
  const message = `${formatKeyPath(path)} is not a known key: ${write}${end}`;
  return { path, found: 'not a known key', write, message };
}

function inOrder(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const rank = ({ line = 0, column = 0 }: ConfigProblem): number => line * 10_000 + column;
  return problems.toSorted((a, b) => rank(a) - rank(b));
}

type Node = Readonly<{
  properties?: Readonly<Record<string, Node>>;
  additionalProperties?: Node | boolean;
  items?: Node;
}>;

/** Keys that the schema knows at a place of the file; list positions and free names lead on. */
function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let node: Node | undefined = inputSchema();
  for (const part of path) node = node && below(node, part);
  return Object.keys(node?.properties ?? {});
}

/** Every key of the schema from the top; `*` stands for a free name, `[]` for a list's item. */
export function everyKey(): readonly string[] {
  const visit = (node: Node, prefix: string): readonly string[] => {
    const { properties = {}, additionalProperties: other, items } = node;
    const named = Object.entries(properties).flatMap(([key, child]) => visit(child, `${prefix}.${key}`));
    const free = typeof other === 'object' && isTable(other) ? visit(other, `${prefix}.*`) : [];
    const listed = items !== undefined && isTable(items) ? visit(items, `${prefix}[]`) : [];
    const inner = [...named, ...free, ...listed];
    return inner.length > 0 ? inner : [prefix.replace(/^\./, '')];
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
