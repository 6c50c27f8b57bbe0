import { createHttpModel, type HttpModelDeps, type HttpModelSettings } from './http-model.ts';
import { isReachable, modelAddress } from './model-place.ts';
import type { ToolSearch } from '../tool-search.ts';
import { createOfflineModel } from './offline-model.ts';
import { withFallback, type Hop, type Resting } from './with-fallback.ts';
import { claudeModel, isClaude, isHardEffort, type WebSearchType } from '../../core/claude-models.ts';
import { listedModel } from '../../core/listed-models.ts';
import {
  resolveModel,
  type CacheTtl,
  type Model,
  type ModelApi,
  type Models,
  type ModelSettings,
  type ModelsSettings,
} from '../../core/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

/** Loads the client of an API. Nothing of the others is loaded (M17). */
export const connects: Readonly<Record<ModelApi, HttpModelDeps['connect']>> = {
  anthropic: async (...way) => (await import('./anthropic-api.ts')).connectAnthropic(...way),
  openai: async (...way) => (await import('./chat-api.ts')).connectChat(...way),
  bedrock: async (...way) => (await import('./cloud-apis.ts')).connectBedrock(...way),
  vertex: async (...way) => (await import('./cloud-apis.ts')).connectVertex(...way),
};
/** Milliseconds, because servers without pings may think for long. */
const silenceMs = 120_000;

/** Makes one instance of each model when it is first asked for. */
export function createModels(
  settings: ModelsSettings,
  options: Readonly<{
    log: Log;
    clock: Clock;
    measure?: (model: Model) => Model;
    /** Called when the next model is asked. */
    onHop?: (hop: Hop) => void;
  }>,
): Models {
  const { log, clock, measure = (model) => model, onHop } = options;
  const { fallback = [], fallbackOn: on } = settings;
  const built = new Map<string, Model>();
  const resting: Resting = new Map();
  const isOffline = !Object.hasOwn(settings.aliases, 'default');

  const build = (name: string): Model => {
    const found = resolveModel(settings, name);
    if (found === undefined || (isOffline && !isReachable(found))) return createOfflineModel(name);
    return createHttpModel(httpSettings(name, found), {
      connect: connects[found.api ?? 'anthropic'],
      log,
      clock,
    });
  };
  const plain = (name: string): Model => {
    const model = built.get(name) ?? measure(build(name));
    built.set(name, model);
    return model;
  };
  const exists = (name: string): boolean => resolveModel(settings, name) !== undefined;

  return {
    offline: isOffline,
    get(name = 'default', around = (model) => model) {
      const first = plain(exists(name) ? name : 'default');
      const others = fallback.filter((alias) => alias !== first.alias && exists(alias)).map(plain);
      if (others.length === 0) return around(first);
      return withFallback([around(first), ...others.map(around)], { on, resting, onHop, log, clock });
    },
    check(name) {
      if (name === 'default' || exists(name)) return undefined;
      const message = `no alias under [models] is called "${name}"${name.includes('/') ? ' or has that model' : ''}: the default model is used`;
      return { level: 'warning', code: 'MODEL_UNKNOWN', message, field: 'model' };
    },
  };
}

function httpSettings(alias: string, settings: ModelSettings): Parameters<typeof createHttpModel>[0] {
  const { model, api = 'anthropic', baseUrl, apiKey, region, project, maxTokens } = settings;
  const claude = claudeModel(model);
  // Above this length prompts cost several times as much.
  const listed = listedModel(model);
  const known = claude?.longPrompt?.above ?? claude?.window ?? listed?.longPrompt?.above;
  // The clouds' packages know their addresses better.
  const address = api === 'anthropic' || api === 'openai' ? modelAddress(settings) : baseUrl;
  return {
    alias,
    api,
    endpoint: { name: model, baseUrl: address, apiKey, region, project },
    silenceMs,
    // Thinking counts, too, and the models that are listed may think long.
    maxTokens: maxTokens ?? (isClaude(model) || listed !== undefined ? 16_000 : 4_096),
    contextWindow: settings.contextWindow ?? known ?? (isClaude(model) ? 200_000 : undefined),
    sees: settings.vision,
    cache: cacheOf(alias, settings),
    toolSearch: toolSearchOf(settings),
    webSearch: webSearchOf(settings),
    diagnoses: api === 'anthropic' && baseUrl === undefined && isClaude(model),
    ...thinkingOf(settings),
  };
}

/** The tool by which its server searches the web (M21). Bedrock and Chat Completions have none. */
function webSearchOf({ api = 'anthropic', model }: ModelSettings): WebSearchType | undefined {
  if (!isClaude(model) || api === 'openai' || api === 'bedrock') return undefined;
  return api === 'vertex' ? 'web_search_20250305' : (claudeModel(model)?.webSearch ?? 'web_search_20250305');
}

/** Its own search is used where the server is known to have it; clouds and gateways may not (M20). */
function toolSearchOf({ toolSearch = 'auto', api = 'anthropic', baseUrl, model }: ModelSettings): ToolSearch {
  if (toolSearch !== 'auto') return toolSearch;
  return api === 'anthropic' && baseUrl === undefined && claudeModel(model)?.searchesTools === true
    ? 'model'
    : 'own';
}

/** The start of the default alias's requests is the same in many chats, so its rhythm is worth watching (M20). */
function cacheOf(name: string, { cache = 'auto', api = 'anthropic', model }: ModelSettings): CacheTtl {
  const isWatched = name === 'default' && api === 'anthropic' && isClaude(model);
  return cache === 'auto' && !isWatched ? '5m' : cache;
}

/** How a model thinks: as the config says, else as fits a chat (M16). */
function thinkingOf({
  api = 'anthropic',
  model,
  thinking,
  effort,
}: ModelSettings): Partial<HttpModelSettings> {
  const { chat = {} } = api === 'anthropic' ? (claudeModel(model) ?? {}) : {};
  const isHard = effort !== undefined && isHardEffort(effort);
  return {
    thinking: thinking ?? (isHard || chat.thinking === 'budget' ? undefined : chat.thinking),
    effort: effort ?? chat.effort,
    mostEffort: effort ?? 'high',
  };
}
