import { homedir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ModelsSettings } from '../core/model.ts';
import { deepFreeze } from '../lib/json/json-values.ts';
import { modelAliases } from './model-aliases.ts';
import { withGroups } from './people-groups.ts';
import { configSchema, type Settings } from './schema.ts';
import type { FromEnvironment, KeyPath } from './section.ts';

type DeepReadonly<T> = unknown extends T
  ? unknown
  : T extends string | number | boolean | undefined
    ? T
    : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** The config in force: defaults filled in, folders absolute, aliases with their endpoint, and frozen. */
export type Config = DeepReadonly<
  Omit<Settings, 'models' | 'store'> & {
    models: ModelsSettings;
    store: { url: string };
    /** Absolute path of the file; undefined if there is none. */
    path?: string;
    /** The keys whose values came from environment variables. */
    fromEnvironment: FromEnvironment[];
  }
>;

/** What relative paths and variables are resolved against. */
export type Surroundings = Readonly<{
  file?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  home?: string;
  /** Whether the variable at this place may be unset. */
  mayLack?: ((path: KeyPath) => boolean) | undefined;
}>;

/** Webhooks need an address to listen on, so this is the default if there are any (N7). */
const hooksListen = '127.0.0.1:9464';

export function completeConfig(
  settings: Settings,
  { file, env, cwd = process.cwd(), home = homedir() }: Surroundings,
  taken: readonly FromEnvironment[],
): Config {
  const absolute = file === undefined ? undefined : path.resolve(cwd, file);
  const base = absolute === undefined ? cwd : path.dirname(absolute);
  const toAbsolute = (written: string): string =>
    path.resolve(
      base,
      written.replace(/^~(?=$|\/)/, () => home),
    );
  const models = modelAliases(settings.models, env);
  const { bot, skills, plugins, capabilities, network } = settings;
  const { keyFile } = capabilities;
  const dataDir = toAbsolute(bot.dataDir);
  const store = settings.store.url ?? `sqlite:${path.join(dataDir, 'skillet.db')}`;
  const config: Config = {
    ...settings,
    bot: { ...bot, dataDir, workspace: toAbsolute(bot.workspace) },
    skills: {
      ...skills,
      userDir: toAbsolute(skills.userDir),
      agentsDir: skills.agentsDir === undefined ? undefined : toAbsolute(skills.agentsDir),
      sources: skills.sources.map((source) =>
        source.path === undefined ? source : { ...source, path: toAbsolute(source.path) },
      ),
    },
    capabilities: { ...capabilities, keyFile: keyFile === undefined ? undefined : toAbsolute(keyFile) },
    plugins: plugins.map((one) => (one.path === undefined ? one : { ...one, path: toAbsolute(one.path) })),
    network: { ...network, caFile: network.caFile === undefined ? undefined : toAbsolute(network.caFile) },
    server: {
      ...settings.server,
      listen: settings.server.listen ?? (settings.hooks.length > 0 ? hooksListen : undefined),
    },
    store: { url: store.replace(/^sqlite:(.*)$/s, (_, written: string) => `sqlite:${toAbsolute(written)}`) },
    models: models.models,
    path: absolute,
    fromEnvironment: [...taken, ...models.taken],
  };
  return deepFreeze(withGroups(config));
}

/** The config with the keys of the file and with defaults. It contains secrets. */
export function writtenConfig(config: Config): Readonly<Record<string, unknown>> {
  const { path: _, fromEnvironment: __, ...settings } = config;
  return z.encode(configSchema, settings as Settings);
}

/** The keys that differ, as `section.key` and sorted. They decide what needs a restart (G3). */
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
