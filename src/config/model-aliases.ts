import type { z } from 'zod';
import { claudeModel, type ThinkingKind } from '../core/claude-models.ts';
import { aliasOf, endpointFor, type ModelSettings, type ModelsSettings } from '../core/model.ts';
import { nearest } from '../lib/text/text.ts';
import type { agentSection, WrittenModels } from './model-sections.ts';
import type { Complain, FromEnvironment } from './section.ts';

type Alias = WrittenModels['aliases'][string];

/** Aliases that exist without any config (M1). */
const builtIn: Readonly<Record<string, string>> = {
  haiku: 'claude-haiku-5-5',
  sonnet: 'claude-sonnet-5-5',
  opus: 'claude-opus-5-5',
};
const defaultModel = 'claude-sonnet-5-5';

export function isBuiltInAlias(name: string): boolean {
  return Object.hasOwn(builtIn, name);
}

function modelOfAlias(name: string, given: Readonly<{ model?: string | undefined }> | undefined): string {
  return given?.model ?? (isBuiltInAlias(name) ? builtIn[name] : undefined) ?? defaultModel;
}

/**
 * Completes the aliases with the built-in ones, and with the endpoint and key of `default`. An alias with its own
 * endpoint never gets another's key (M1). Without config or key there is no `default`, and the offline model answers.
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

/** Where the API key of an alias or of `ALIAS/model-id` is written, in words for the operator (M14). */
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

export function checkModelNames(
  { models, agent }: Readonly<Record<string, unknown>>,
  complain: Complain,
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

/** Hosts that speak other protocols than the Anthropic Messages API. */
const foreign: readonly string[] = ['api.openai.com', 'generativelanguage.googleapis.com'];

/** Complains of settings that the model or server is known to refuse (M14). */
export function checkModelSettings({ models }: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { aliases = {} } = (models ?? {}) as Partial<WrittenModels>;
  for (const [name, alias] of Object.entries(aliases)) {
    if (typeof alias !== 'object') continue;
    const say = (key: string, write: string): void => complain(['models', name, key], write);
    checkThinking(modelOfAlias(name, alias), alias, say);
    const wrong = alias.baseUrl === undefined ? undefined : wrongAddress(alias.baseUrl);
    if (wrong !== undefined) say('base_url', wrong);
  }
}

function checkThinking(
  model: string,
  { thinking, effort }: Alias,
  say: (key: string, write: string) => void,
): void {
  const known = claudeModel(model);
  if (known === undefined) return;
  const kind: ThinkingKind | undefined = typeof thinking === 'number' ? 'budget' : thinking;
  if (kind !== undefined && !known.thinking.includes(kind)) {
    const may = known.thinking.map((each) => (each === 'budget' ? 'a number of tokens' : `"${each}"`));
    say('thinking', `${model} refuses that: write ${may.join(' or ')}, or remove the line`);
  }
  if (effort === undefined) return;
  if (!known.efforts.includes(effort)) {
    const may = known.efforts.map((each) => `"${each}"`).join(', ');
    say('effort', `${model} refuses that: ${may === '' ? 'remove the line' : `write one of ${may}`}`);
  } else if (known.bindsThinking && kind !== undefined && kind !== 'adaptive' && isHard(effort)) {
    say(
      'effort',
      `${model} refuses that with thinking = "${kind}": write "high" or less, or thinking = "adaptive"`,
    );
  }
}

function isHard(effort: string): boolean {
  return effort === 'xhigh' || effort === 'max';
}

function wrongAddress(baseUrl: string): string | undefined {
  const { hostname, pathname } = new URL(baseUrl);
  if (foreign.includes(hostname)) {
    return 'this server does not speak the Anthropic Messages API: put a gateway that does before it, such as LiteLLM';
  }
  if (!/\/v1(\/messages)?\/?$/.test(pathname)) return undefined;
  const written = baseUrl.replace(/\/v1(\/messages)?\/?$/, '');
  return `leave out /v1, which the bot adds itself: write "${written}"`;
}
