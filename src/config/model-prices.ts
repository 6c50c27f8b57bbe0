import { claudeModel, type Prices } from '../core/claude-models.ts';
import { listedModel } from '../core/listed-models.ts';
import type { Config } from './complete-config.ts';
import { valueAt, type KeyPath } from './section.ts';
import { resolveModel, type ModelSettings } from '../core/model.ts';

const cache = { read: 0.1, write: 1.25 };

/** Prices of a model: those of the config, else the list prices. Undefined if there are none. */
export function pricesOf(settings: ModelSettings): Prices | undefined {
  const listed = listPrices(settings);
  const { priceIn = listed?.in, priceOut = listed?.out, priceCacheRead, priceCacheWrite } = settings;
  if (priceIn === undefined || priceOut === undefined) return undefined;
  const isListed = priceIn === listed?.in;
  return {
    in: priceIn,
    out: priceOut,
    cacheRead: priceCacheRead ?? (isListed ? listed.cacheRead : priceIn * cache.read),
    cacheWrite: priceCacheWrite ?? (isListed ? listed.cacheWrite : priceIn * cache.write),
  };
}

/** List prices; those of long prompts if the context window allows long prompts. */
function listPrices({ model, contextWindow = 0 }: ModelSettings): Prices | undefined {
  const { prices, longPrompt } = claudeModel(model) ?? listedModel(model) ?? {};
  if (prices === undefined || longPrompt === undefined || contextWindow <= longPrompt.above) return prices;
  const { factor } = longPrompt;
  const { in: input, out, cacheRead, cacheWrite } = prices;
  return {
    in: input * factor,
    out: out * factor,
    cacheRead: cacheRead * factor,
    cacheWrite: cacheWrite * factor,
  };
}

/** Limits in dollars that can't be enforced, because a model has no price (M14). */
export function unpricedLimits(
  data: unknown,
  { models, agent, agents, skills }: Config,
): readonly Readonly<{ path: KeyPath; write: string }>[] {
  const written = [[], ['chat'], ['skill'], ['global']]
    .flatMap((scope): readonly KeyPath[] => [
      ['limits', ...scope, 'usd_per_day'],
      ['limits', ...scope, 'usd_per_month'],
    ])
    .filter((path) => Number(valueAt(data, path) ?? 0) > 0);
  const [path] = written;
  if (path === undefined) return [];
  const named = [
    ...Object.keys(models.aliases),
    ...[agent.model, ...(models.fallback ?? [])],
    ...Object.values(agents).map(({ model }) => model),
    ...Object.values(skills.byName).map(({ model }) => model),
  ];
  const unpriced = [...new Set(named)].filter((name) => {
    const found = name === undefined ? undefined : resolveModel(models, name);
    return found !== undefined && pricesOf(found) === undefined;
  });
  if (unpriced.length === 0) return [];
  const keys = unpriced.map((name) => `[models.${String(name)}]`).join(', ');
  return [
    {
      path,
      write: `it can't hold for a model without a price: set price_in and price_out under ${keys} (0 for one that costs nothing), or remove the dollar limit`,
    },
  ];
}
