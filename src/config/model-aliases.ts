import type { z } from 'zod';
import { claudeModel, isClaude, isHardEffort, type ThinkingKind } from '../core/claude-models.ts';
import {
  aliasOf,
  endpointFor,
  type ModelApi,
  type ModelSettings,
  type ModelsSettings,
} from '../core/model.ts';
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

/** The variable of the environment that has the key for the usual address of an API. */
export const keyVariables: Readonly<Partial<Record<ModelApi, string>>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
};

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Completes the aliases with the built-in ones, and with the endpoint and key of `default`. An alias with its own
 * endpoint or kind of API never gets another's key (M1). Without config or key there is no `default`, and the offline
 * model answers. The built-in ones are Claude's: beside a default of another kind they need Anthropic's key.
 */
export function modelAliases(
  { fallback, fallbackOn, aliases: written }: WrittenModels,
  env: Env,
): Readonly<{
  models: ModelsSettings;
  taken: readonly FromEnvironment[];
}> {
  const taken: FromEnvironment[] = [];
  const withKey = (name: string, alias: Alias | undefined): Alias | undefined => {
    const variable = keyVariables[alias?.api ?? 'anthropic'];
    const apiKey = variable === undefined ? undefined : env[variable];
    if (!apiKey || alias?.apiKey !== undefined || alias?.baseUrl !== undefined) return alias;
    taken.push({ path: ['models', name, 'api_key'], name: variable ?? '' });
    return { ...alias, apiKey };
  };
  const base = withKey('default', Object.hasOwn(written, 'default') ? written['default'] : undefined);
  const isClaudes = (base?.api ?? 'anthropic') === 'anthropic';
  const builtIns: Readonly<Record<string, Alias>> = Object.fromEntries(
    isClaudes || env['ANTHROPIC_API_KEY']
      ? Object.keys(builtIn).map((name) => [name, isClaudes ? {} : { api: 'anthropic' as const }])
      : [],
  );
  const others = Object.entries({ ...builtIns, ...written }).filter(([name]) => name !== 'default');
  const aliases: Record<string, ModelSettings> = {};
  if (base !== undefined) aliases['default'] = { ...base, model: modelOfAlias('default', base) };
  for (const [name, given] of others) {
    const taking = endpointFor(given, base);
    const isOwn = given.api !== undefined && Object.keys(taking).length === 0;
    aliases[name] = {
      ...taking,
      ...(isOwn ? withKey(name, given) : given),
      model: modelOfAlias(name, given),
    };
  }
  return { models: { fallback, fallbackOn, aliases }, taken };
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
  const { aliases, fallback = [] } = (models ?? {}) as Partial<WrittenModels>;
  if (aliases === undefined) return;
  const names = [...new Set([...Object.keys(aliases), 'default', ...Object.keys(builtIn)])];
  for (const [name, alias] of Object.entries(aliases)) {
    const isClaudes = (name === 'default' || isBuiltInAlias(name)) && apiOf(name, aliases) === 'anthropic';
    if (!isClaudes && alias?.model === undefined) {
      complain(['models', name, 'model'], 'name the model that this alias stands for');
    }
  }
  const check = (path: readonly string[], name: unknown): void => {
    if (typeof name !== 'string' || names.includes(name)) return;
    if (name.includes('/') && names.includes(name.slice(0, name.indexOf('/')))) return;
    const known = nearest(name, names)[0] ?? names.join(', ');
    complain(path, `no alias under [models] has this name: write ${known}, or add it there`);
  };
  const { model = 'default' } = (agent ?? {}) as Partial<z.output<typeof agentSection>>;
  for (const name of fallback) check(['models', 'fallback'], name);
  checkFallback(fallback, model, complain);
  check(['agent', 'model'], model);
}

/** Complains of a list that leads back to where it began, which would ask a model that gave no answer again. */
function checkFallback(fallback: readonly string[], main: unknown, complain: Complain): void {
  const say = (write: string): void => complain(['models', 'fallback'], write);
  const twice = fallback.find((name, at) => fallback.indexOf(name) < at);
  if (twice !== undefined) say(`${twice} is named twice: remove one`);
  else if (fallback.length > 0 && fallback.every((name) => name === main))
    say(`${fallback.join()} is the main agent's model, so it would fall back to itself: name another alias`);
}

/** The API of an alias, which may be that of `default`. */
function apiOf(name: string, aliases: WrittenModels['aliases']): ModelApi {
  const given = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  const base = Object.hasOwn(aliases, 'default') ? aliases['default'] : undefined;
  return given?.api ?? endpointFor(given, base).api ?? 'anthropic';
}

/** Complains of settings that the model or server is known to refuse (M14). */
export function checkModelSettings({ models }: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { aliases = {} } = (models ?? {}) as Partial<WrittenModels>;
  for (const [name, alias] of Object.entries(aliases)) {
    if (typeof alias !== 'object') continue;
    const say = (key: string, write: string): void => complain(['models', name, key], write);
    const api = apiOf(name, aliases);
    if (api === 'openai') checkChat(alias, say);
    else checkThinking(modelOfAlias(name, alias), alias, say);
    checkPlace(api, alias, say);
    const wrong = alias.baseUrl === undefined ? undefined : wrongAddress(api, alias.baseUrl);
    if (wrong !== undefined) say('base_url', wrong);
  }
}

/** Complains if the main agent's model is to search the web and its server has no search (M21). */
export function checkModelSearch(
  { models, agent, tools }: Readonly<Record<string, unknown>>,
  complain: Complain,
): void {
  const { web_search: search } = (tools ?? {}) as Readonly<{ web_search?: { provider?: unknown } }>;
  if (search?.provider !== 'model') return;
  const { aliases = {} } = (models ?? {}) as Partial<WrittenModels>;
  const { model: name = 'default' } = (agent ?? {}) as Partial<z.output<typeof agentSection>>;
  const [alias = name, ...rest] = Object.hasOwn(aliases, name) ? [name] : name.split('/');
  const api = apiOf(alias, aliases);
  const model = rest.length > 0 ? rest.join('/') : modelOfAlias(alias, aliases[alias]);
  if ((api === 'anthropic' || api === 'vertex') && isClaude(model)) return;
  const write = `the model "${name}" has no search of its own, which Claude has at Anthropic and on Vertex AI: write "brave" or "searxng", or name such a model in [agent] model`;
  complain(['tools', 'web_search', 'provider'], write);
}

type Say = (key: string, write: string) => void;

function checkChat({ thinking, toolSearch }: Alias, say: Say): void {
  if (toolSearch === 'model')
    say('tool_search', 'with api = "openai" the bot searches: write "own" or "off", or remove the line');
  if (thinking === undefined || thinking === 'off') return;
  say(
    'thinking',
    'with api = "openai" only "off" has a meaning: write effort = "low" to "max", or remove the line',
  );
}

function checkPlace(api: ModelApi, { region, project, apiKey }: Alias, say: Say): void {
  if (region !== undefined && api !== 'bedrock' && api !== 'vertex')
    say('region', 'that is for api = "bedrock" and api = "vertex": remove the line');
  if (project !== undefined && api !== 'vertex')
    say('project', 'that is for api = "vertex": remove the line');
  if (apiKey !== undefined && api === 'vertex')
    say('api_key', "Vertex AI uses Google's application default credentials: remove the line");
}

function checkThinking(model: string, { thinking, effort }: Alias, say: Say): void {
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
  } else if (known.bindsThinking && kind !== undefined && kind !== 'adaptive' && isHardEffort(effort)) {
    say(
      'effort',
      `${model} refuses that with thinking = "${kind}": write "high" or less, or thinking = "adaptive"`,
    );
  }
}

/** Addresses at which well-known servers speak Chat Completions. */
const chatAddresses: Readonly<Record<string, string>> = {
  'api.openai.com': 'https://api.openai.com/v1',
  'generativelanguage.googleapis.com': 'https://generativelanguage.googleapis.com/v1beta/openai',
  'api.groq.com': 'https://api.groq.com/openai/v1',
  'api.mistral.ai': 'https://api.mistral.ai/v1',
};

function wrongAddress(api: ModelApi, baseUrl: string): string | undefined {
  const { hostname, pathname } = new URL(baseUrl);
  if (api === 'openai') {
    if (!/\/chat\/completions\/?$/.test(pathname)) return undefined;
    const short = baseUrl.replace(/\/chat\/completions\/?$/, '');
    return `leave out /chat/completions, which the bot adds itself: write "${short}"`;
  }
  if (api !== 'anthropic') return undefined;
  const chat = Object.hasOwn(chatAddresses, hostname) ? chatAddresses[hostname] : undefined;
  if (chat !== undefined)
    return `this server does not speak the Anthropic Messages API, but Chat Completions: write api = "openai" and base_url = "${chat}"`;
  if (!/\/v1(\/messages)?\/?$/.test(pathname)) return undefined;
  const written = baseUrl.replace(/\/v1(\/messages)?\/?$/, '');
  return `leave out /v1, which the bot adds itself: write "${written}". For a server of Chat Completions, add api = "openai"`;
}
