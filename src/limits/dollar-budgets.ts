import { createHash } from 'node:crypto';
import type Keyv from 'keyv';
import type { Config } from '../config/complete-config.ts';
import type { MoneyBudget, ReachedBudget } from '../core/budget.ts';
import { localDay, operatorZone, untilNextDay, untilNextMonth } from '../core/local-time.ts';
import type { Say } from '../core/texts/say.ts';
import type { Clock } from '../lib/clock.ts';
import { inlineCode } from '../lib/text/text.ts';
import type { LimitScope } from './scopes.ts';
import { nothingSpent, type SumsNow } from './sums.ts';

const periods = ['day', 'month'] as const;

/** Longer than any month, so that an allowance outlives the month that it is for. */
const allowanceKeptMs = 40 * 86_400_000;

/** Budgets in US dollars for a day and a calendar month (U10, G6). */
export type DollarBudgets = Readonly<{
  /** The first of these budgets that `next` more dollars would pass; with 0, that is used up. */
  reached(
    scopes: readonly LimitScope[],
    how: Readonly<{ next: number; sums: SumsNow }>,
  ): Promise<ReachedBudget | undefined>;
  /** The budgets of this month, each with what is spent of it, without what approvers added. */
  ofMonth(scopes: readonly LimitScope[], sums: SumsNow): Promise<readonly MoneyBudget[]>;
  /** Adds dollars to a budget for its day or month, once for each `id`. */
  allow(id: string, budget: string, usd: number): Promise<void>;
  isAllowed(id: string): Promise<boolean>;
}>;

export function createDollarBudgets({
  config,
  allowances,
  clock,
}: Readonly<{ config: () => Config; allowances: Keyv; clock: Clock }>): DollarBudgets {
  async function added(budget: string): Promise<number> {
    let sum = 0;
    for await (const [, value] of allowances.iterator()) {
      const allowance = value as Readonly<{ budget: string; usd: number }>;
      if (allowance.budget === budget) sum += allowance.usd;
    }
    return sum;
  }

  async function budgetOf(
    { key, of, name, limits, sum }: LimitScope,
    period: MoneyBudget['period'],
    sums: SumsNow,
  ): Promise<MoneyBudget | undefined> {
    const base = period === 'day' ? limits.usdPerDay : limits.usdPerMonth;
    if (base === 0) return undefined;
    const read = period === 'day' ? sums.today : sums.month;
    const { usd: spent } = (await read()).get(sum) ?? nothingSpent;
    const today = localDay(clock.now(), operatorZone(config()));
    const bound = `${period} ${period === 'day' ? today : today.slice(0, 7)} ${key}`;
    const hash = createHash('sha256').update(`budget ${bound}`).digest('hex').slice(0, 32);
    return { key: hash, of, name, period, limit: base, spent };
  }

  return {
    async reached(scopes, { next, sums }) {
      for (const scope of scopes)
        for (const period of periods) {
          const base = await budgetOf(scope, period, sums);
          if (base === undefined || !isOver(base, next)) continue;
          const budget = { ...base, limit: base.limit + (await added(base.key)) };
          if (!isOver(budget, next)) continue;
          const until = period === 'day' ? untilNextDay : untilNextMonth;
          return { ...budget, next, resetsIn: until(clock.now(), operatorZone(config())) };
        }
      return undefined;
    },
    async ofMonth(scopes, sums) {
      const found = await Promise.all(scopes.map((scope) => budgetOf(scope, 'month', sums)));
      return found.filter((budget) => budget !== undefined);
    },
    async allow(id, budget, usd) {
      await allowances.set(id, { budget, usd }, allowanceKeptMs);
    },
    isAllowed: (id) => allowances.has(id),
  };
}

/** A budget that is used up is over with any next call, also if that costs nothing as far as is known. */
function isOver({ spent, limit }: MoneyBudget, next: number): boolean {
  return spent >= limit || spent + next > limit;
}

/** An amount such as `10` or `0.50`. */
export function dollarsIn(usd: number, say: Say): string {
  return say.number(usd, Number.isInteger(usd) ? 0 : 2);
}

/**
 * Says what a budget is for and how large it is, such as `this chat, 10 US dollars a month`. Approvers read ids; a person
 * reads of their own budget.
 */
export function budgetName(
  { of, name, period, limit }: MoneyBudget,
  say: Say,
  reader: 'approver' | 'person',
): string {
  const isPerson = reader === 'person';
  const whose = {
    sender: isPerson ? say`your own` : inlineCode(name),
    room: isPerson ? say`this chat` : inlineCode(name),
    skill: inlineCode(name),
    all: say`everything together`,
  }[of];
  const usd = dollarsIn(limit, say);
  return period === 'day' ? say`${whose}, ${usd} US dollars a day` : say`${whose}, ${usd} US dollars a month`;
}

/** When a budget has room again, in words: `in 2 h 5 min`, `in 12 days`. */
export function waitText(ms: number, say: Say): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  const hours = Math.floor(minutes / 60);
  const left = minutes % 60;
  if (hours >= 48) return say`in ${Math.ceil(hours / 24)} days`;
  if (hours === 0) return say`in ${left} min`;
  return left === 0 ? say`in ${hours} h` : say`in ${hours} h ${left} min`;
}
