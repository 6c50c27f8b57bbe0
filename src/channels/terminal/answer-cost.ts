import type { Clock } from '../../lib/clock.ts';

/** What a person used today. `model` answers here, and is empty if none is connected. */
export type AnswerSpending = Readonly<{ model: string; tokens: number; usd: number }>;

/** What an answer cost and how long it took: `claude-sonnet-5-5 · $0.0123 · 3.1 s`. */
export type AnswerCost = Readonly<{
  /** Call it when the person asks something. */
  asked(): void;
  /** The line for the last answer; undefined if nothing is known. */
  line(): Promise<string | undefined>;
}>;

export function createAnswerCost(spent: () => Promise<AnswerSpending | undefined>, clock: Clock): AnswerCost {
  let began: number | undefined;
  let before: Promise<AnswerSpending | undefined> = Promise.resolve(undefined);
  return {
    asked() {
      began = clock.now();
      before = spent();
    },
    async line() {
      if (began === undefined) return undefined;
      const seconds = (clock.now() - began) / 1_000;
      const [was, now] = await Promise.all([before, spent()]);
      if (was === undefined || now === undefined || now.model === '') return undefined;
      const usd = now.usd - was.usd;
      const tokens = now.tokens - was.tokens;
      const cost =
        usd > 0 ? `$${usd.toFixed(4)}` : tokens > 0 ? `${tokens.toLocaleString('en')} tokens` : undefined;
      return [now.model, cost, `${seconds.toFixed(1)} s`].filter((part) => part !== undefined).join(' · ');
    },
  };
}
