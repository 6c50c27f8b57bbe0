import type { z } from 'zod';
import { nearest } from '../core/nearest.ts';
import type { agentSection, WrittenModels } from './model-sections.ts';
import type { FromEnvironment } from './substitute-variables.ts';

/** A model and where it is served. `price…` are US dollars a million tokens, `thinking` a token budget or a word. */
export type ModelSettings = Readonly<WrittenModels['aliases'][string] & { model: string }>;
type Models = Readonly<{ fallback?: string; aliases: Readonly<Record<string, ModelSettings>> }>;

/** Aliases that exist without configuration (M1). */
const builtIn: Readonly<Record<string, string>> = {
  haiku: 'claude-haiku-5-5',
  sonnet: 'claude-sonnet-5-5',
  opus: 'claude-opus-5-5',
};
const defaultModel = 'claude-sonnet-5-5';

/** Whether an alias exists without configuration. */
export function isBuiltInAlias(name: string): boolean {
  return Object.hasOwn(builtIn, name);
}

/** The model that an alias means. */
export function modelOfAlias(
  name: string,
  given: Readonly<{ model?: string | undefined }> | undefined,
): string {
  return given?.model ?? (isBuiltInAlias(name) ? builtIn[name] : undefined) ?? defaultModel;
}

/**
 * Fills in aliases: those built in, and from `default` the endpoint and its key; an alias with an endpoint of its own
 * gets no key that was meant for another (M1). There is no `default` where none is configured and no key is in the
 * environment: then the offline model answers.
 */
export function modelAliases(
  { fallback, aliases: written }: WrittenModels,
  environmentKey: string | undefined,
): Readonly<{
  models: Models;
  taken: readonly FromEnvironment[];
}> {
  const own = Object.hasOwn(written, 'default') ? written['default'] : undefined;
  const takesKey = !!environmentKey && own?.apiKey === undefined && own?.baseUrl === undefined;
  const base = takesKey ? { ...own, apiKey: environmentKey } : own;
  const names = new Set([
    ...(base === undefined ? [] : ['default']),
    ...Object.keys(builtIn),
    ...Object.keys(written),
  ]);
  const aliases: Record<string, ModelSettings> = {};
  for (const name of names) {
    const given = name === 'default' ? base : written[name];
    const model = modelOfAlias(name, given);
    aliases[name] = { ...endpointFor(given, base), ...given, model };
  }
  const models = { ...(fallback === undefined ? {} : { fallback }), aliases };
  return {
    models,
    taken: takesKey ? [{ path: ['models', 'default', 'api_key'], name: 'ANTHROPIC_API_KEY' }] : [],
  };
}

/** Finds what an alias, or `ALIAS/model-id` on that alias's endpoint, stands for (U2); nothing for an unknown one. */
export function resolveModel({ aliases }: Models, name: string): ModelSettings | undefined {
  if (Object.hasOwn(aliases, name)) return aliases[name];
  const [alias = '', ...rest] = name.split('/');
  const model = rest.join('/');
  const at = model !== '' && Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
  return at && { ...endpointFor(undefined, at), model };
}

/** Where the key is written that an alias, or `ALIAS/model-id`, uses: for the operator who has to replace it (M14). */
export function keyPlace(
  { models, fromEnvironment }: Readonly<{ models: Models; fromEnvironment: readonly FromEnvironment[] }>,
  name: string,
): string {
  const alias = aliasOf(models, name);
  const variableOf = (of: string): string | undefined =>
    fromEnvironment.find(({ path }) => path.join('\n') === `models\n${of}\napi_key`)?.name;
  const { default: base, [alias]: own } = models.aliases;
  const isTaken = own?.apiKey === base?.apiKey && own?.baseUrl === base?.baseUrl;
  const place = variableOf(alias) === undefined && isTaken ? 'default' : alias;
  const variable = variableOf(place);
  return variable === undefined ? `[models.${place}] api_key` : `${variable} in the environment of the bot`;
}

/** The alias that a name is, or that `ALIAS/model-id` begins with. */
export function aliasOf({ aliases }: Models, name: string): string {
  return Object.hasOwn(aliases, name) ? name : (name.split('/', 1)[0] ?? name);
}

type Endpoint = Readonly<{ baseUrl?: string | undefined; apiKey?: string | undefined }>;

function endpointFor(given: Endpoint | undefined, base: Endpoint | undefined): Endpoint {
  if (given?.baseUrl !== undefined || base === undefined) return {};
  const { baseUrl, apiKey } = base;
  return { ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined ? {} : { apiKey }) };
}

/** Complains of aliases that name no model, and of `fallback` and `[agent] model` where they name no alias. */
export function checkModelNames(
  { models, agent }: Readonly<Record<string, unknown>>,
  complain: (path: readonly string[], write: string) => void,
): void {
  const { aliases, fallback } = (models ?? {}) as Partial<WrittenModels>;
  if (aliases === undefined) return;
  const names = [...new Set([...Object.keys(aliases), 'default', ...Object.keys(builtIn)])];
  for (const [name, alias] of Object.entries(aliases)) {
    const needsModel = name !== 'default' && !isBuiltInAlias(name);
    if (needsModel && alias?.model === undefined) {
      complain(['models', name, 'model'], 'name the model that this alias stands for');
    }
  }
  const check = (path: readonly string[], name: unknown): void => {
    if (typeof name !== 'string' || names.includes(name)) return;
    if (name.includes('/') && names.includes(name.slice(0, name.indexOf('/')))) return;
    const known = nearest(name, names)[0] ?? names.join(', ');
    complain(path, `no alias under [models] has this name: write ${known}, or add it there`);
  };
  check(['models', 'fallback'], fallback);
  check(['agent', 'model'], (agent as Partial<z.output<typeof agentSection>> | undefined)?.model);
}
