import type { Tokens } from '../core/model.ts';

/** One use of a model, to be added to the sums. */
export type Use = Omit<UsageRow, 'requests'>;

/** Tokens that were used, summed by day (UTC, `2026-11-22`), who, where, skill (empty: the main agent) and model. */
export type UsageRow = Readonly<{
  day: string;
  sender: string;
  conversation: string;
  skill: string;
  model: string;
  requests: number;
  tokens: Tokens;
}>;
