/** From the least to the most. */
export const effortLevels = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof effortLevels)[number];
export type ThinkingKind = 'adaptive' | 'off' | 'between_tools' | 'budget';
export type WebSearchType = 'web_search_20250305' | 'web_search_20260318';
/** Prices in US dollars per million tokens. */
export type Prices = Readonly<{ in: number; out: number; cacheRead: number; cacheWrite: number }>;

/** What a Claude model can do, by Anthropic's pages of November 2026. */
type ClaudeModel = Readonly<{
  /** Whether its thinking is valid only with the same system prompt, tools and messages (M13). */
  bindsThinking: boolean;
  window: number;
  /** Whether it has a search among tools, which are then sent with `defer_loading`. */
  searchesTools: boolean;
  /** The newest tool by which it searches the web. */
  webSearch: WebSearchType;
  /** How many tokens it counts, relative to the tokenizer of Claude 4.6 and earlier. */
  tokenFactor: number;
  /** From Claude 5 on, efforts `xhigh` and `max` need `adaptive`. */
  thinking: readonly ThinkingKind[];
  efforts: readonly Effort[];
  /** Settings for a chat, where the first words count, if the config has none (M16). */
  chat: Readonly<{ thinking?: ThinkingKind; effort?: Effort }>;
  prices?: Prices;
  /** Prompts of more tokens than `above` cost `prices` times `factor`. */
  longPrompt?: Readonly<{ above: number; factor: number }>;
}>;

export function claudeModel(id: string): ClaudeModel | undefined {
  const [, family = '', major = '', minor = '0'] = pattern.exec(id) ?? [];
  const version = Number(major) * 100 + Number(minor);
  const binds = bindsThinking(family, version);
  if (family === '' || binds === undefined) return undefined;
  const prices = priceList[`${family}-${major}-${minor}`];
  return {
    bindsThinking: binds,
    window: binds ? 1_000_000 : 200_000,
    webSearch: version >= 406 ? 'web_search_20260318' : 'web_search_20250305',
    searchesTools: version >= 500 || (version >= 405 && family !== 'haiku'),
    tokenFactor: version >= 407 ? 1.3 : 1,
    thinking: thinkingKinds(family, version),
    efforts: effortsOf(family, version),
    chat: version === 505 ? chatSettings(thinkingKinds(family, version)) : {},
    prices: prices === undefined ? undefined : { ...prices, cacheWrite: prices.in * 1.25 },
    longPrompt: family === 'haiku' && version === 505 ? { above: 100_000, factor: 5 } : undefined,
  };
}

/** Whether a name is that of a Claude model. Unknown versions count as binding their thinking. */
export function isClaude(id: string): boolean {
  return /\bclaude\b/i.test(id);
}

const pattern = /claude-(haiku|sonnet|opus|fable|mythos)-(\d)(?:[-.](\d{1,2}))?(?!\d)/i;

function bindsThinking(family: string, version: number): boolean | undefined {
  if (version <= 500) return false;
  const known = family === 'fable' || family === 'mythos' ? [501, 502] : [505];
  return known.includes(version) ? true : undefined;
}

function thinkingKinds(family: string, version: number): readonly ThinkingKind[] {
  if (family === 'fable' || family === 'mythos') return ['adaptive'];
  if (version === 505)
    return (
      { haiku: ['adaptive', 'off'] as const, sonnet: ['adaptive', 'between_tools'] as const }[family] ?? [
        'adaptive',
      ]
    );
  if (version >= 407) return ['adaptive', 'off'];
  return version === 406 ? ['adaptive', 'off', 'budget'] : ['off', 'budget'];
}

/** With `adaptive`, what the 5.5 models say between tool calls is thinking, which nobody sees. */
function chatSettings(kinds: readonly ThinkingKind[]): ClaudeModel['chat'] {
  return kinds.includes('between_tools')
    ? { thinking: 'between_tools', effort: 'medium' }
    : { effort: 'medium' };
}

/** Whether an effort needs `adaptive` thinking, from Claude 5 on. */
export function isHardEffort(effort: Effort): boolean {
  return effort === 'xhigh' || effort === 'max';
}

function effortsOf(family: string, version: number): readonly Effort[] {
  if (version >= 407) return ['low', 'medium', 'high', 'xhigh', 'max'];
  if (version === 406) return ['low', 'medium', 'high', 'max'];
  return family === 'opus' && version === 405 ? ['low', 'medium', 'high'] : [];
}

type Listed = Omit<Prices, 'cacheWrite'>;

const opus: Listed = { in: 5, out: 25, cacheRead: 0.5 };
const opus4: Listed = { in: 15, out: 75, cacheRead: 1.5 };
const sonnet4: Listed = { in: 3, out: 15, cacheRead: 0.3 };
const priceList: Readonly<Record<string, Listed>> = {
  'haiku-5-5': { in: 0.1, out: 0.5, cacheRead: 0.01 },
  'sonnet-5-5': { in: 2, out: 10, cacheRead: 0.1 },
  'opus-5-5': { in: 4, out: 20, cacheRead: 0.2 },
  'fable-5-2': { in: 8, out: 40, cacheRead: 0.2 },
  'fable-5-1': { in: 10, out: 50, cacheRead: 0.25 },
  'mythos-5-1': { in: 10, out: 50, cacheRead: 0.25 },
  'fable-5-0': { in: 10, out: 50, cacheRead: 1 },
  'mythos-5-0': { in: 10, out: 50, cacheRead: 1 },
  'sonnet-5-0': { in: 2, out: 10, cacheRead: 0.2 },
  'sonnet-4-6': sonnet4,
  'sonnet-4-5': sonnet4,
  'sonnet-4-0': sonnet4,
  'haiku-4-5': { in: 1, out: 5, cacheRead: 0.1 },
  'opus-5-0': opus,
  'opus-4-8': opus,
  'opus-4-7': opus,
  'opus-4-6': opus,
  'opus-4-5': opus,
  'opus-4-1': opus4,
  'opus-4-0': opus4,
};
