import type { z } from 'zod';
import { nearest } from '../lib/text/text.ts';
import type { agentSection, WrittenModels } from './model-sections.ts';
import type { FromEnvironment } from './substitute-variables.ts';
import { aliasOf, endpointFor, type ModelSettings, type ModelsSettings } from '../core/model.ts';

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
  models: ModelsSettings;
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
  const models = { fallback, aliases };
  return {
    models,
    taken: takesKey ? [{ path: ['models', 'default', 'api_key'], name: 'ANTHROPIC_API_KEY' }] : [],
  };
}

/** Where the key is written that an alias, or `ALIAS/model-id`, uses: for the operator who has to replace it (M14). */
export function keyPlace(
  {
    models,
    fromEnvironment,
  }: Readonly<{ models: ModelsSettings; fromEnvironment: readonly FromEnvironment[] }>,
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
