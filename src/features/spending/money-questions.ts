import { whyNotTheirs } from '../../access/approvers.ts';
import type { App } from '../../app.ts';
import type { GivenAnswer } from '../../core/approval.ts';
import type { CallAhead, MoreMoney, ReachedBudget, WatchMoney } from '../../core/budget.ts';
import { sayIn } from '../../core/texts/say.ts';
import { createMutex } from '../../lib/async/mutex.ts';
import { isShuttingDown } from '../../lib/async/shutdown.ts';
import { waitUntil } from '../../lib/async/wait-until.ts';
import type { PendingRequest } from '../../store/pending-requests.ts';
import {
  auditOfMoney,
  moneyOf,
  newQuestion,
  outcomeOf,
  questionId,
  type MoneyOutcome,
} from './money-question.ts';
import { createShowMoney, moneyOutcomeText } from './show-money.ts';

/** How often, in milliseconds, to look for an answer in case its signal was lost, and whether the budget has room. */
const lookEveryMs = 5_000;

/** Who answers. Operators name a person by the id alone. */
type Decider = Readonly<{ id: string; name?: string; language?: string }>;

export type MoneyQuestions = Readonly<{
  ask: WatchMoney['ask'];
  /** Takes the answer of an owner or an approver; only the first one counts. */
  answer(id: string, from: Decider, value: 'allow' | 'stop'): Promise<GivenAnswer>;
  /** Shows how a question ended, and wakes those who wait for it. Leaves other questions alone. */
  finish(id: string): Promise<void>;
}>;

/**
 * Asks owners and approvers for more money (G6). Work that waits for the same budget shares one question, in all
 * processes. After a crash the work finds the question, or its answer, when it is taken up again.
 */
export function createMoneyQuestions(app: App): MoneyQuestions {
  const { store, clock } = app;
  const { pendingRequests, signals } = store;
  const show = createShowMoney(app);
  const apply = createApply(app);
  const opened = createOpened(app, apply);
  const wait = createWait(app);

  async function finish(id: string): Promise<void> {
    const request = await pendingRequests.find(id);
    const money = request && moneyOf(request);
    if (request === undefined || money === undefined) return;
    await apply(request);
    await signals.send('answer', id);
    const outcome = outcomeOf(request, clock.now());
    if (outcome !== 'open') await show.outcome(request, money, outcome);
  }

  /** The work was stopped, so its question is not needed. Others that wait for it ask again. */
  async function withdraw({ id, conversation, requester }: PendingRequest): Promise<void> {
    await store.stop({ items: [], pendingRequests: [{ conversation, requester, ids: [id] }] });
    await finish(id);
  }

  return {
    finish,
    answer: createAnswer(app, finish),
    async ask(budget, ahead, how): Promise<MoreMoney> {
      const request = await opened(budget, ahead);
      const money = request && moneyOf(request);
      if (request === undefined || money === undefined) return 'nobody';
      if (!(await show.question(request, money, ahead.requester))) return 'nobody';
      const isOwn = request.requester === ahead.requester.sender;
      try {
        const outcome = await wait(request.id, how);
        await finish(request.id);
        if (outcome === 'allow') return 'allowed';
        if (outcome === 'expired') return 'expired';
        return outcome === 'stop' || (outcome === 'cancelled' && isOwn) ? 'stopped' : 'changed';
      } catch (error) {
        if (isOwn && how.signal.aborted && !isShuttingDown(how.signal)) await withdraw(request);
        throw error;
      }
    },
  };
}

type Apply = (request: PendingRequest) => Promise<void>;

/** Makes what returns the question about a budget that counts: one that is open or was decided, else a new one. */
function createOpened({ store: { pendingRequests }, clock, config }: App, apply: Apply) {
  return async (budget: ReachedBudget, ahead: CallAhead): Promise<PendingRequest | undefined> => {
    for (let times = 0; ; times++) {
      const id = questionId(budget, times);
      const known = await pendingRequests.find(id);
      if (known === undefined) {
        const how = { step: config().limits.extraUsd, now: clock.now() };
        await pendingRequests.add(newQuestion(id, budget, ahead, how));
        return pendingRequests.find(id);
      }
      const outcome = outcomeOf(known, clock.now());
      // The money of a yes is missing if the process died right after it.
      if (outcome === 'allow') await apply(known);
      if (outcome === 'open' || outcome === 'stop' || outcome === 'allow') return known;
    }
  };
}

/** Makes what waits for the end of a question. A budget that has room again ends it, too. */
function createWait({ store: { pendingRequests, signals }, clock, stopping }: App) {
  return (id: string, { signal, isReached }: Parameters<WatchMoney['ask']>[2]): Promise<MoneyOutcome> =>
    waitUntil<MoneyOutcome>(
      async () => {
        const request = await pendingRequests.find(id);
        if (request === undefined) return { found: 'expired' };
        const outcome = outcomeOf(request, clock.now());
        if (outcome !== 'open') return { found: outcome };
        if (await isReached()) return Math.max(1, Math.min(request.expiresAt - clock.now(), lookEveryMs));
        await pendingRequests.answer(id, { by: '', value: 'changed', at: clock.now() });
        return 1;
      },
      {
        ...{ signal: AbortSignal.any([signal, stopping]), clock },
        subscribe: (wake) =>
          signals.on('answer', (answered) => {
            if (answered === id) wake();
          }),
      },
    );
}

function createAnswer(
  { store: { pendingRequests }, config, users, audit, log, clock }: App,
  finish: MoneyQuestions['finish'],
): MoneyQuestions['answer'] {
  return async (id, { id: sender, name, language }, value) => {
    const request = await pendingRequests.find(id);
    const money = request && moneyOf(request);
    if (request === undefined || money === undefined) return { kind: 'unknown' };
    const say = sayIn(language);
    const deciders = { approvers: () => config().policy.approvers, isOwner: users.isOwner };
    const refused = await whyNotTheirs(request, { sender, approves: value === 'allow' }, deciders, say);
    if (refused !== undefined) {
      log.warn({ request: id, sender }, 'somebody without the right answered a question about money');
      return { kind: 'not_yours', text: refused };
    }
    const taken = await pendingRequests.answer(id, { by: sender, name, value, at: clock.now() });
    const now = await pendingRequests.find(id);
    if (now === undefined) return { kind: 'unknown' };
    if (taken === 'answered' && value === 'stop') await audit.record(auditOfMoney(now, money));
    await finish(id);
    const text = moneyOutcomeText(now, money, outcomeOf(now, clock.now()), say);
    return { kind: taken === 'answered' ? 'taken' : 'late', text };
  };
}

/**
 * Makes the function that adds the money of a yes to its budget, once. The audit comes first: a crash may leave an extra
 * line in it, but never money that it does not know.
 */
function createApply({ budgets, audit }: App): Apply {
  // A press and the work that waits for it come here at the same time.
  const alone = createMutex();
  return (request) =>
    alone(async () => {
      const money = moneyOf(request);
      if (money === undefined || request.answer?.value !== 'allow') return;
      if (await budgets.isAllowed(request.id)) return;
      if (!(await audit.holds(request.id, request.askedAt))) await audit.record(auditOfMoney(request, money));
      await budgets.allow(request.id, money.key, money.usd);
    });
}
