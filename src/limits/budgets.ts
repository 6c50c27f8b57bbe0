import { createHash } from 'node:crypto';
import type { Config } from '../config/complete-config.ts';
import type { MoneyBudget, BudgetOf, ReachedBudget } from '../core/budget.ts';
import { chatIdOf } from '../core/conversation.ts';
import { localDay, operatorZone, untilNextDay } from '../core/local-time.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import type { Requester } from '../core/tool.ts';
import type { Clock } from '../lib/clock.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';
import { createDollarBudgets, dollarsIn, waitText, type DollarBudgets } from './dollar-budgets.ts';
import { scopesOf, type LimitScope } from './scopes.ts';
import { createSums, nothingSpent, sumsOf, type Spent } from './sums.ts';

/** Enforces `[limits]` per sender, chat, skill and in total (U10, G6). */
export type Budgets = Readonly<{
  /** Returns a sentence for the person if a budget is used up; undefined if the message is allowed. */
  ofMessage(requester: Requester): Promise<string | undefined>;
  /**
   * Returns a sentence for the model if a limit is reached; undefined if the run is allowed. A run that is allowed
   * counts towards the hourly limit, once per `id`.
   */
  ofRun(requester: Requester, skill: string, id: string): Promise<string | undefined>;
  /**
   * Returns a check of the limit of runs at the same time. Call it in the step that adds the run, with the items under
   * way then.
   */
  atOnce(requester: Requester, skill: string): (underWay: readonly ListedItem[]) => string | undefined;
  /** Returns a sentence for the person if a budget is used up; undefined if the model may be called. */
  ofModel(requester: Requester, skill: string | undefined): Promise<string | undefined>;
  /** The first dollar budget that a call of about `usd` more would pass; undefined if it may be made (G6). */
  ofCall(requester: Requester, skill: string | undefined, usd: number): Promise<ReachedBudget | undefined>;
  /** The dollar budgets of this month that count here, without what approvers added. */
  ofMonth(requester: Requester, skill: string | undefined): Promise<readonly MoneyBudget[]>;
  /** Adds dollars to a budget for its day or month, once for each `id`. */
  allow: DollarBudgets['allow'];
  isAllowed: DollarBudgets['isAllowed'];
  today(sender: string): Promise<Spent>;
  /** What a person spent in this calendar month, in US dollars. */
  thisMonth(sender: string): Promise<number>;
}>;

const hourMs = 3_600_000;

type BudgetOptions = Readonly<{
  config: () => Config;
  store: Pick<Store, 'usage' | 'usedBetween' | 'countUse' | 'keyed'> &
    Readonly<{ inbox: Pick<Store['inbox'], 'beside'> }>;
  clock: Clock;
}>;

export function createBudgets(options: BudgetOptions): Budgets {
  const { config, store, clock } = options;
  const readSums = createSums(options);
  const dollars = createDollarBudgets({ config, allowances: store.keyed('allowances'), clock });

  const spentUp = createSpentUp(options, { readSums, dollars });

  async function tooManyThisHour(scopes: readonly LimitScope[], id: string): Promise<string | undefined> {
    const limited = scopes.filter(({ limits }) => limits.runsPerHour > 0);
    const over = await store.countUse(
      id,
      limited.map(({ key, limits }) => ({ key: hashed(key), most: limits.runsPerHour, ms: hourMs })),
    );
    const full = limited.find(({ key }) => hashed(key) === over?.key);
    if (over === undefined || full === undefined) return undefined;
    return `${full.whose} limit of ${full.limits.runsPerHour} runs an hour is reached: there is room ${waitText(over.freeAt - clock.now(), sayIn(undefined))}.`;
  }

  return {
    ofMessage: (requester) => spentUp(scopesOf(config().limits, requester), true, requester.language),
    ofModel: (requester, skill) => spentUp(scopesOf(config().limits, requester, skill), false),
    async ofRun(requester, skill, id) {
      const scopes = scopesOf(config().limits, requester, skill);
      return (
        (await spentUp(scopes, false)) ??
        tooManyAtOnce(scopes, await store.inbox.beside()) ??
        (await tooManyThisHour(scopes, id))
      );
    },
    atOnce: (requester, skill) => (underWay) =>
      tooManyAtOnce(scopesOf(config().limits, requester, skill), underWay),
    ofCall: (requester, skill, usd) =>
      dollars.reached(scopesOf(config().limits, requester, skill), { next: usd, sums: readSums(false) }),
    ofMonth: (requester, skill) =>
      dollars.ofMonth(scopesOf(config().limits, requester, skill), readSums(false)),
    allow: dollars.allow,
    isAllowed: dollars.isAllowed,
    async today(sender) {
      const rows = await store.usage({ day: localDay(clock.now(), operatorZone(config())), sender });
      return sumsOf(rows, config()).get('all') ?? nothingSpent;
    },
    thisMonth: async (sender) =>
      ((await readSums(false).month()).get(`sender ${sender}`) ?? nothingSpent).usd,
  };
}

/** Makes what returns the sentence for the first budget that is used up; undefined if none is. */
function createSpentUp(
  { config, clock }: BudgetOptions,
  { readSums, dollars }: Readonly<{ readSums: ReturnType<typeof createSums>; dollars: DollarBudgets }>,
) {
  return async (
    scopes: readonly LimitScope[],
    mayBeStale: boolean,
    language?: string,
  ): Promise<string | undefined> => {
    const say = sayIn(language);
    const sums = readSums(mayBeStale);
    for (const scope of scopes) {
      const { whose, of, limits } = scope;
      const { tokensPerDay } = limits;
      if (tokensPerDay > 0) {
        const { tokens } = (await sums.today()).get(scope.sum) ?? nothingSpent;
        if (tokens >= tokensPerDay) {
          const wait = waitText(untilNextDay(clock.now(), operatorZone(config())), say);
          const budget = say`${say.number(tokensPerDay)} tokens`;
          return spentText(say, { whose, of, period: 'day', budget, wait });
        }
      }
      const reached = await dollars.reached([scope], { next: 0, sums });
      if (reached === undefined) continue;
      const budget = say`${dollarsIn(reached.limit, say)} US dollars`;
      const wait = waitText(reached.resetsIn, say);
      return spentText(say, { whose, of, period: reached.period, budget, wait });
    }
    return undefined;
  };
}

function tooManyAtOnce(scopes: readonly LimitScope[], underWay: readonly ListedItem[]): string | undefined {
  const limited = scopes.filter(({ limits }) => limits.concurrentRuns > 0);
  const tasks = underWay.flatMap(({ message }) =>
    message?.task?.kind === 'run'
      ? [
          {
            sender: message.sender.id,
            chat: chatIdOf(message.conversation),
            skill: message.task.skill,
          },
        ]
      : [],
  );
  const full = limited.find(({ limits, isFor }) => tasks.filter(isFor).length >= limits.concurrentRuns);
  if (full === undefined) return undefined;
  return `${full.whose} limit of ${full.limits.concurrentRuns} runs at the same time is reached. There is room when one of them has ended.`;
}

/** Keys are stored as hashes that reveal no person, so `/forget` has nothing to remove. */
function hashed(key: string): string {
  return createHash('sha256').update(`runs ${key}`).digest('hex').slice(0, 32);
}

function spentText(
  say: Say,
  {
    whose,
    of,
    period,
    budget,
    wait,
  }: Readonly<{
    whose: string;
    of: BudgetOf;
    period: MoneyBudget['period'];
    budget: string;
    wait: string;
  }>,
): string {
  const isDay = period === 'day';
  switch (of) {
    case 'sender':
      return isDay
        ? say`Your budget of ${budget} a day is used up. It resets ${wait}.`
        : say`Your budget of ${budget} a month is used up. It resets ${wait}.`;
    case 'room':
      return isDay
        ? say`This chat’s budget of ${budget} a day is used up. It resets ${wait}.`
        : say`This chat’s budget of ${budget} a month is used up. It resets ${wait}.`;
    case 'all':
      return isDay
        ? say`My budget of ${budget} a day is used up. It resets ${wait}.`
        : say`My budget of ${budget} a month is used up. It resets ${wait}.`;
    // Only a model reads it and passes it on in its own words, so it stays English.
    default:
      return `${whose} budget of ${budget} a ${period} is used up. It resets ${wait}.`;
  }
}
