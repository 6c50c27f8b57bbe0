import type { NextCall } from './model.ts';
import type { Requester } from './tool.ts';

/** Whose money a budget limits: a person's, a chat's, a skill's, or all of it. */
export type BudgetOf = 'sender' | 'room' | 'skill' | 'all';

/** A budget in US dollars, for one day or calendar month of the operator's zone (G6). */
export type MoneyBudget = Readonly<{
  /** Names the budget and its day or month, but no person. */
  key: string;
  of: BudgetOf;
  /** The id of the person or chat, or the skill's name; empty for all. */
  name: string;
  period: 'day' | 'month';
  /** What may be spent in that time, in US dollars. */
  limit: number;
  spent: number;
}>;

/** A budget that the next model call would pass. Its limit includes what approvers added. */
export type ReachedBudget = MoneyBudget &
  Readonly<{
    /** What the next call costs, as far as is known. */
    next: number;
    /** Milliseconds until the day or month is over. */
    resetsIn: number;
  }>;

/** A turn or run that is about to ask its model. */
export type CallAhead = NextCall &
  Readonly<{
    requester: Requester;
    /** Undefined if the main agent asks for itself. */
    skill?: string | undefined;
    transcript: string;
    /** The alias of the model that is asked. */
    model: string;
  }>;

/** What came of a question for more money. `changed`: the budget is no longer reached, so nobody has to answer. */
export type MoreMoney = 'allowed' | 'changed' | 'stopped' | 'expired' | 'nobody';

/** Watches budgets for people. Without it, work ends at a budget without a question. */
export type WatchMoney = Readonly<{
  /** Asks approvers for more, once for all work that waits for the same budget. `isReached` looks at it again. */
  ask(
    budget: ReachedBudget,
    ahead: CallAhead,
    how: Readonly<{ signal: AbortSignal; isReached(): Promise<boolean> }>,
  ): Promise<MoreMoney>;
  /** Warns people about budgets that are used up to a good part, once for each. */
  warn(requester: Requester, skill: string | undefined): Promise<void>;
}>;
