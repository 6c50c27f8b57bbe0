import { homedir } from 'node:os';
import path from 'node:path';
import { modelAliases } from './model-aliases.ts';
import { type ModelSettings } from '../core/model.ts';
import type { KeyPath } from './section.ts';
import type { Settings } from './schema.ts';
import type { FromEnvironment } from './substitute-variables.ts';

type DeepReadonly<T> = unknown extends T
  ? unknown
  : T extends string | number | boolean | undefined
    ? T
    : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/**
 * What the operator wants, complete: every default filled in, folders absolute, model aliases with their endpoint.
 * Plain frozen data.
 */
export type Config = DeepReadonly<
  Omit<Settings, 'models' | 'store'> & {
    models: { fallback?: string; aliases: Record<string, ModelSettings> };
    store: { url: string };
    /** Absolute path of the file; absent where there is none. */
    path?: string;
    /** Values that came from variables, by their place in the file. */
    fromEnvironment: FromEnvironment[];
  }
>;

/** Where a config stands: what its relative paths and variables are read against. */
export type Surroundings = Readonly<{
  file?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  home?: string;
  /** Whether a variable that is not set is no problem at this place. */
  mayLack?: ((path: KeyPath) => boolean) | undefined;
}>;

/** Makes a `Config` of checked settings. */
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
  const models = modelAliases(settings.models, env['ANTHROPIC_API_KEY']);
  const { bot, skills, plugins } = settings;
  const dataDir = toAbsolute(bot.dataDir);
  const store = settings.store.url ?? `sqlite:${path.join(dataDir, 'skillet.db')}`;
  const config: Config = {
    ...settings,
    bot: { ...bot, dataDir, workspace: toAbsolute(bot.workspace) },
    skills: {
      ...skills,
      userDir: toAbsolute(skills.userDir),
      sources: skills.sources.map((source) =>
        source.path === undefined ? source : { ...source, path: toAbsolute(source.path) },
      ),
    },
    plugins: plugins.map((one) => (one.path === undefined ? one : { ...one, path: toAbsolute(one.path) })),
    store: { url: store.replace(/^sqlite:(.*)$/s, (_, written: string) => `sqlite:${toAbsolute(written)}`) },
    models: models.models,
    path: absolute,
    fromEnvironment: [...taken, ...models.taken],
  };
  return deepFreeze(config);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
