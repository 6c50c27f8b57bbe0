import { z } from 'zod';
import type { Config } from './complete-config.ts';
import { configSchema, type Settings } from './schema.ts';

/** The config as a file would say it: snake_case tables, every default written out. Holds secrets. */
export function writtenConfig(config: Config): Readonly<Record<string, unknown>> {
  const { path: _, fromEnvironment: __, ...settings } = config;
  return z.encode(configSchema, settings as Settings);
}
