import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { nearest } from '../lib/text/text.ts';
import type { Config } from './complete-config.ts';
import { describeFound, formatConfigProblem, keyProblem, whatToWrite } from './config-problem.ts';
import { formatKeyPath, valueAt, type KeyPath } from './section.ts';
import { locateKeys } from './locate-keys.ts';
import { isSecretKey } from './secrets-of-config.ts';

export type CheckedPluginConfig = Readonly<
  | { ok: true; value: unknown }
  /** As for the rest of the file: where, which key, what was found and what to write. No secret is in them. */
  | { ok: false; messages: readonly string[] }
>;

/**
 * Checks `config` of the plugin at this place of `[[plugins]]` by the schema that the plugin brings; without one any key is one
 * too many. Keys that an object of the schema does not have are problems, too (G2, X6).
 */
export function checkPluginConfig(
  config: Pick<Config, 'plugins' | 'path' | 'fromEnvironment'>,
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

  const place = placesIn(config.path);
  const where = (path: KeyPath) => ({ file: config.path, place: place(path), path });
  const foundAt = (path: KeyPath, isChoice: boolean): string => {
    const key = JSON.stringify(path);
    const variable = config.fromEnvironment.find((one) => JSON.stringify(one.path) === key);
    if (variable !== undefined) return `the value of $${variable.name}`;
    return describeFound(valueAt(given, path.slice(base.length)), isSecretKey(path), isChoice);
  };
  const wrong = issues.map((issue) => {
    const path = [...base, ...issue.path.filter((part) => typeof part !== 'symbol')];
    return formatConfigProblem(
      keyProblem(where(path), foundAt(path, issue.code === 'invalid_value'), issue.message),
    );
  });
  const excess = unknown.map((key) => {
    const path = [...base, key];
    const [guess] = nearest(key, known ?? []);
    const write =
      guess !== undefined
        ? `did you mean ${guess}?`
        : known?.length
          ? `known here: ${known.join(', ')}.`
          : 'this plugin takes no config, so remove it.';
    const problem = keyProblem(where(path), 'not a known key', '');
    return formatConfigProblem({
      ...problem,
      message: `${formatKeyPath(path)} is not a known key: ${write}`,
    });
  });
  return { ok: false, messages: [...excess, ...wrong] };
}

/** The keys of an object that takes no others by its author's word or silence; undefined if any may stand. */
function keysOf(schema: z.ZodType): readonly string[] | undefined {
  const def = schema._zod.def as { type: string; shape?: object; catchall?: z.ZodType };
  if (def.type !== 'object' || def.shape === undefined) return undefined;
  if (def.catchall !== undefined && def.catchall._zod.def.type !== 'never') return undefined;
  return Object.keys(def.shape);
}

/** Where keys stand in the file as it is now; nowhere where it can't be read any more. */
export function placesIn(file: string | undefined): ReturnType<typeof locateKeys> {
  if (file === undefined) return () => undefined;
  try {
    return locateKeys(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return () => undefined;
    throw error;
  }
}
