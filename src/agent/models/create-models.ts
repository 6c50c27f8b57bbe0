import { createAnthropicModel } from './anthropic-model.ts';
import { createOfflineModel } from './offline-model.ts';
import { claudeModel, isClaude } from '../../core/claude-models.ts';
import { ModelError } from '../../core/errors.ts';
import { resolveModel, type ModelsSettings, type Model, type Models } from '../../core/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

const anthropic = 'https://api.anthropic.com';
/** Milliseconds, because servers without pings may think for long. */
const silenceMs = 120_000;

/** Makes one instance of each model when it is first asked for. */
export function createModels(
  settings: ModelsSettings,
  options: Readonly<{
    log: Log;
    clock: Clock;
    measure?: (model: Model) => Model;
  }>,
): Models {
  const { log, clock, measure = (model) => model } = options;
  const built = new Map<string, Model>();
  const isOffline = !Object.hasOwn(settings.aliases, 'default');

  const build = (name: string): Model => {
    const found = resolveModel(settings, name);
    const unreachable = isOffline && found?.apiKey === undefined && found?.baseUrl === undefined;
    if (found === undefined || unreachable) return createOfflineModel(name);
    const claude = claudeModel(found.model);
    // Above this length prompts cost several times as much.
    const known = claude?.longPrompt?.above ?? claude?.window;
    const contextWindow = found.contextWindow ?? known ?? (isClaude(found.model) ? 200_000 : undefined);
    const made = {
      alias: name,
      model: found.model,
      endpoint: { baseUrl: found.baseUrl ?? anthropic, apiKey: found.apiKey, silenceMs },
      maxTokens: found.maxTokens ?? (isClaude(found.model) ? 16_000 : 4_096),
      contextWindow,
      sees: found.vision,
      thinking: found.thinking,
      effort: found.effort,
    };
    return createAnthropicModel(made, { log, clock });
  };
  const plain = (name: string): Model => {
    const model = built.get(name) ?? measure(build(name));
    built.set(name, model);
    return model;
  };
  const exists = (name: string): boolean => resolveModel(settings, name) !== undefined;

  return {
    offline: isOffline,
    get(name = 'default') {
      const model = plain(exists(name) ? name : 'default');
      const { fallback } = settings;
      if (fallback === undefined || fallback === model.alias || !exists(fallback)) return model;
      return withFallback(model, plain(fallback), log);
    },
    check(name) {
      if (name === 'default' || exists(name)) return undefined;
      const message = `no alias under [models] is called "${name}"${name.includes('/') ? ' or has that model' : ''}: the default model is used`;
      return { level: 'warning', code: 'MODEL_UNKNOWN', message, field: 'model' };
    },
  };
}

/**
 * A model that lets `second` answer after a passing failure of `first` (M4). Text that was streamed is not streamed
 * again.
 */
export function withFallback(first: Model, second: Model, log: Log): Model {
  return {
    ...first,
    async complete(request, signal, onText) {
      let streamed = false;
      try {
        return await first.complete(request, signal, (text) => {
          streamed = true;
          onText?.(text);
        });
      } catch (error) {
        if (!(error instanceof ModelError) || !error.passing) throw error;
        log.warn(
          { model: first.alias, fallback: second.alias, cause: error.message },
          'the fallback model is asked',
        );
        return second.complete(request, signal, streamed ? undefined : onText);
      }
    },
  };
}
