import type { Shown } from './draw.ts';

/** What a person wrote. `mention` is the name of the bot, where they named it first. */
export function saidBy(who: string, at: string, text: string, mention?: string): Shown {
  const named = mention === undefined ? [] : [{ text: mention, style: 'link' } as const, { text: ' ' }];
  return { who, isBot: false, at, spans: [...named, { text }] };
}

/** The same message, with a line above it that says who sees it or when. */
export function noted(quote: string, shown: Shown): Shown {
  return { ...shown, quote };
}
