import { taintAround } from '../access/taint-of.ts';
import { whileAdmitted, type StillAdmitted } from '../access/while-admitted.ts';
import { whileUnmarked } from '../access/while-unmarked.ts';
import type { App } from '../app.ts';
import type { CallAhead, MoreMoney, ReachedBudget, WatchMoney } from '../core/budget.ts';
import { usedBy, type Model } from '../core/model.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import type { Requester } from '../core/tool.ts';
import { costOf } from '../limits/costs.ts';
import { budgetName, dollarsIn, waitText } from '../limits/dollar-budgets.ts';
import type { WithPictures } from './with-pictures.ts';

type Pause = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * The model of an alias for one turn or run. It is asked only while its person is admitted (S11) and budgets of dollars
 * allow it (G6), and it sees the pictures in the chat's folder. `pause` stops the work's time limit while people are asked.
 */
export type ModelFor = (
  alias: string,
  chat: string,
  work: Readonly<{
    requester: Requester;
    skill?: string;
    transcript: string;
    /** True if the turn tells what a run gave. Its first call is made in any case, so that no result is lost. */
    tellsResult?: boolean;
    pause?: Pause;
  }>,
) => Model;

export function createModelFor(
  app: App,
  {
    withPictures,
    stillAdmitted,
    money,
  }: Readonly<{ withPictures: WithPictures; stillAdmitted: StillAdmitted; money: WatchMoney | undefined }>,
): ModelFor {
  const mayCall = createMayCall(app, money);
  return (alias, chat, { pause = (work) => work(), tellsResult = false, ...work }) => {
    const model = app
      .runtime()
      .models.get(alias, (each) =>
        whileUnmarked(whileAdmitted(withPictures(each, chat), work.requester, stillAdmitted), () =>
          taintAround(app.store.transcripts, work.transcript),
        ),
      );
    return {
      ...model,
      async mayCall(next, signal) {
        if (tellsResult && next.last === undefined) return undefined;
        try {
          return await mayCall({ ...next, ...work, model: model.alias }, signal, pause);
        } catch (error) {
          if (!signal.aborted) throw error;
          return undefined;
        }
      },
    };
  };
}

/** Makes the check before a model call. Where a budget would be passed, it asks for more. */
function createMayCall({ budgets, config, patient, workStates, log }: App, money: WatchMoney | undefined) {
  const reached = ({ requester, skill, model, last }: CallAhead): Promise<ReachedBudget | undefined> => {
    const used = last === undefined ? [] : usedBy(last, model);
    const next = used.reduce((sum, one) => sum + (costOf(config(), one.model, one.tokens) ?? 0), 0);
    return patient(() => budgets.ofCall(requester, skill, next), { repeatable: true });
  };

  async function warn({ requester, skill }: CallAhead): Promise<void> {
    await money
      ?.warn(requester, skill)
      .catch((error: unknown) => log.warn({ err: error }, 'could not warn about a budget'));
  }

  async function ask(
    budget: ReachedBudget,
    ahead: CallAhead,
    { signal, pause }: Readonly<{ signal: AbortSignal; pause: Pause }>,
  ): Promise<MoreMoney> {
    if (money === undefined || config().limits.extraUsd === 0) return 'nobody';
    const isReached = async (): Promise<boolean> => (await reached(ahead))?.key === budget.key;
    const asking = () => money.ask(budget, ahead, { signal, isReached });
    return pause(() => workStates.asking(ahead.requester.conversation, asking));
  }

  return async (ahead: CallAhead, signal: AbortSignal, pause: Pause): Promise<string | undefined> => {
    await warn(ahead);
    for (;;) {
      const budget = await reached(ahead);
      if (budget === undefined) return undefined;
      const answer = await ask(budget, ahead, { signal, pause });
      if (answer !== 'allowed' && answer !== 'changed') return endsText(budget, ahead, answer);
    }
  };
}

const why = {
  stopped: fixed`I asked for more money for it, and the answer was no.`,
  expired: fixed`I asked for more money for it, but nobody answered in time.`,
} as const;

function endsText(
  budget: ReachedBudget,
  { requester, skill }: CallAhead,
  answer: Exclude<MoreMoney, 'allowed' | 'changed'>,
): string {
  // The model of a turn reads what came of a run in English.
  const say = sayIn(skill === undefined ? requester.language : undefined);
  const wait = waitText(budget.resetsIn, say);
  const sentences = [
    say`I stopped here, because the next step would pass a budget. It resets ${wait}.`,
    ...(answer === 'nobody' ? [] : [say(why[answer])]),
  ];
  // Figures of a budget are not for everybody in a group (U16).
  if (requester.chatType === 'private')
    sentences.push(
      `${say`Budget: ${budgetName(budget, say, 'person')}`}.`,
      `${say`Spent: ${dollarsIn(budget.spent, say)} US dollars`}.`,
    );
  return sentences.join(' ');
}
