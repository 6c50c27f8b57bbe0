import type { Prices } from './claude-models.ts';

/** What is known of a model of Chat Completions. Prices are US dollars per million tokens. */
type ListedModel = Readonly<{
  prices: Prices;
  /** Prompts of more tokens than this cost `factor` times as much. */
  longPrompt?: Readonly<{ above: number; factor: number }>;
}>;

/**
 * The model with this name, with or without its provider before it (`openai/gpt-5.4`) and a date behind it
 * (`gpt-5.4-2026-03-05`). Undefined if it is not in the list: then the config has to say its prices.
 */
export function listedModel(id: string): ListedModel | undefined {
  const name = id.replace(/^.*\//, '').replace(/-\d{4}-\d{2}-\d{2}$/, '');
  const row = Object.hasOwn(list, name) ? list[name] : undefined;
  if (row === undefined) return undefined;
  const [input, cacheRead, out, cacheWrite = input, above] = row;
  return {
    prices: { in: input, out, cacheRead, cacheWrite },
    longPrompt: above === undefined ? undefined : { above, factor: 2 },
  };
}

type Row = readonly [input: number, cached: number, out: number, cacheWrite?: number, longAbove?: number];

/**
 * List prices, read on 2026-11-29 from the table that GitHub keeps of its providers' prices
 * (github.com/github/docs, data/tables/copilot/models-and-pricing.yml). Long prompts cost twice as much to read, and 1.5 times
 * to answer; twice is counted for both. Prices for a limited time are not in it.
 */
const list: Readonly<Record<string, Row>> = {
  'gpt-5-mini': [0.25, 0.025, 2],
  'gpt-5.3-codex': [1.75, 0.175, 14],
  'gpt-5.4': [2.5, 0.25, 15, 2.5, 272_000],
  'gpt-5.4-mini': [0.75, 0.075, 4.5],
  'gpt-5.4-nano': [0.2, 0.02, 1.25],
  'gpt-5.5': [5, 0.5, 30, 5, 272_000],
  'gpt-5.6-luna': [0.2, 0.02, 1.2, 0.25, 200_000],
  'gpt-5.6-terra': [2, 0.2, 12, 2.5, 272_000],
  'gpt-5.6-sol': [5, 0.5, 30, 6.25, 272_000],
  'gemini-3.1-pro': [2, 0.2, 12, 2, 200_000],
  'gemini-3.5-flash': [1.5, 0.15, 9],
  'grok-4.5': [2, 0.5, 6, 2, 200_000],
  'grok-4.6': [2, 0.5, 6, 2, 200_000],
};
