import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Config } from './complete-config.ts';
import { configSchema, type Settings } from './schema.ts';

/** The config as a file would say it: snake_case tables, every default written out. Holds secrets. */
export function writtenConfig(config: Config): Readonly<Record<string, unknown>> {
  const { path: _, fromEnvironment: __, ...settings } = config;
  return z.encode(configSchema, settings as Settings);
}

/** What an edit changed, as `section.key` in the file's own words, sorted: from it the app tells what needs a restart (G3). */
export function changedKeys(before: Config, after: Config): readonly string[] {
  const [old, now] = [keysOf(before), keysOf(after)];
  const keys = new Set([...old.keys(), ...now.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(old.get(key), now.get(key))).sort();
}

function keysOf(config: Config): ReadonlyMap<string, unknown> {
  const sections = Object.entries(writtenConfig(config));
  return new Map(
    sections.flatMap(([section, table]) =>
      typeof table === 'object' && table !== null && !Array.isArray(table)
        ? Object.entries(table).map(([key, value]): [string, unknown] => [`${section}.${key}`, value])
        : [[section, table] as [string, unknown]],
    ),
  );
}
