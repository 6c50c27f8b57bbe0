import type { z } from 'zod';
import type { ToolSettings } from '../core/tool-settings.ts';
import type { Config } from './complete-config.ts';
import {
  formatConfigProblem,
  foundAt,
  keyProblem,
  placeInFile,
  unknownKeyProblem,
  whatToWrite,
} from './config-problem.ts';
import { valueAt, type KeyPath } from './section.ts';

type CheckedPluginConfig = Readonly<
  | { ok: true; value: unknown }
  /** Each message has place, key, what was found and the fix, without secrets. */
  | { ok: false; messages: readonly string[] }
>;

/** Checks the config of one plugin by its schema. Without a schema, any key is unknown (G2, X6). */
export function checkPluginConfig(
  config: Config,
  index: number,
  schema: z.ZodType | undefined,
): CheckedPluginConfig {
  const given = config.plugins[index]?.config ?? {};
  const base: KeyPath = ['plugins', index, 'config'];
  const known = schema === undefined ? [] : keysOf(schema);
  const unknown = known === undefined ? [] : Object.keys(given).filter((key) => !known.includes(key));
  const read = schema?.safeParse(given, { error: whatToWrite });
  const issues = read?.error?.issues ?? [];
  if (unknown.length === 0 && issues.length === 0) return { ok: true, value: read?.data ?? {} };

  const placeOf = placeInFile(config.path);
  const where = (path: KeyPath) => ({ file: config.path, place: placeOf(path), path });
  const none = known?.length === 0 ? 'this plugin takes no config, so remove it.' : undefined;
  const excess = unknown.map((key) => unknownKeyProblem(where([...base, key]), known ?? [], none));
  const wrong = issues.map((issue) => {
    const inner = issue.path.filter((part) => typeof part !== 'symbol');
    const path = [...base, ...inner];
    const isChoice = issue.code === 'invalid_value';
    const found = foundAt(path, valueAt(given, inner), config.fromEnvironment, { isChoice });
    return keyProblem(where(path), found, issue.message);
  });
  return { ok: false, messages: [...excess, ...wrong].map(formatConfigProblem) };
}

/** The keys that the schema knows; undefined if it accepts any key. */
function keysOf(schema: z.ZodType): readonly string[] | undefined {
  const def = schema._zod.def as { type: string; shape?: object; catchall?: z.ZodType };
  if (def.type !== 'object' || def.shape === undefined) return undefined;
  if (def.catchall !== undefined && def.catchall._zod.def.type !== 'never') return undefined;
  return Object.keys(def.shape);
}

type SettableTool = Readonly<{ name: string; settings?: ToolSettings }>;

/** Finds problems in `[tools.NAME]`, without secrets (X3, G2). A bad value falls back to the default. */
export function checkToolTables(config: Config, tools: readonly SettableTool[]): readonly string[] {
  let placeOf: ReturnType<typeof placeInFile> | undefined;
  const where = (path: KeyPath) => {
    placeOf ??= placeInFile(config.path);
    return { file: config.path, place: placeOf(path), path };
  };
  const problems = tools.flatMap(({ name, settings }) => {
    const table = Object.hasOwn(config.tools, name) ? { ...config.tools[name] } : {};
    const fields = settings?.fields ?? [];
    const none = fields.length === 0 ? 'this tool has no settings, so remove it.' : undefined;
    return Object.entries(table).flatMap(([key, value]: [string, unknown]) => {
      const path: KeyPath = ['tools', name, key];
      const field = fields.find((one) => one.key === key);
      const known = fields.map((one) => one.key);
      if (settings === undefined || field === undefined) return [unknownKeyProblem(where(path), known, none)];
      const checked = settings.check(key, value);
      if (checked.ok) return [];
      const how = { isSecret: field.secret || undefined, isChoice: field.kind === 'select' };
      const found = foundAt(path, value, config.fromEnvironment, how);
      return [keyProblem(where(path), found, checked.problem)];
    });
  });
  return problems.map(formatConfigProblem);
}
