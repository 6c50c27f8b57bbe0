import { callsOf } from '../../agent/next-step.ts';
import type { App, Desk } from '../../app.ts';
import type { MoneyBudget, WatchMoney } from '../../core/budget.ts';
import type { Entry } from '../../core/entry.ts';
import { expired, type Feature, type NewTurn, type TurnPart, type WhyAsked } from '../../core/feature.ts';
import { skillOf, type Message } from '../../core/message.ts';
import { codedAnswer } from '../../core/plain-words.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import type { Requester } from '../../core/tool.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { worstCost } from '../../limits/costs.ts';
import { budgetName, dollarsIn } from '../../limits/dollar-budgets.ts';
import { toSenderAlone } from '../../replies/replies.ts';
import { skillRunSettings } from '../../runs/skill-run-settings.ts';
import type { FeatureKit } from '../kit.ts';
import { createMoneyQuestions, type MoneyQuestions } from './money-questions.ts';
import { moneyOperations } from './operations.ts';
import { tellAlone } from './show-money.ts';

/** Money: warnings before a budget is used up, questions for more, and what a run can cost (G6). */
export const spending = {
  create: createSpending,
  atRest: (desk: Desk) => ({ operations: moneyOperations(desk) }),
} satisfies FeatureKit;

/** Shares of a month's budget, in percent, that people are warned at. */
const levels = [50, 80, 95] as const;

/** Longer than any month. */
const warnedKeptMs = 40 * 86_400_000;

function createSpending(app: App): Feature {
  const questions = createMoneyQuestions(app);
  const warn = createWarn(app);
  return {
    name: 'spending',
    operations: moneyOperations(app, questions.answer),
    money: { ask: questions.ask, warn },
    turn: async (turn) => warnAfter(turn, warn, app),
    presses: {
      async money({ press: { sender } }, [id = '', value]) {
        const say = sayIn(sender.language);
        if (value !== 'allow' && value !== 'stop') return { told: say(expired) };
        const answered = await questions.answer(id, sender, value);
        if (answered.kind === 'taken') return undefined;
        return { told: answered.kind === 'unknown' ? say(expired) : answered.text.replaceAll('`', '') };
      },
    },
    takes: { answer: (message) => answerInWords(message, questions, app) },
    async stopped({ cancelled }) {
      for (const id of cancelled) await questions.finish(id);
    },
    kept: async (asked, say) => worstCase(asked, app, say),
  };
}

/**
 * Takes `yes CODE` or `no CODE` in a direct message, because questions about money are asked there alone. Returns false
 * if the message answers none.
 */
async function answerInWords(
  message: Message,
  questions: MoneyQuestions,
  { replies }: App,
): Promise<boolean> {
  const written = message.chatType === 'private' ? codedAnswer(message.text) : undefined;
  if (written === undefined || written.word === 'always') return false;
  const answered = await questions.answer(
    written.code,
    message.sender,
    written.word === 'yes' ? 'allow' : 'stop',
  );
  if (answered.kind === 'unknown') return false;
  // If the answer was taken, the question itself shows the outcome.
  if (answered.kind !== 'taken') await replies.answer(message, answered.text, toSenderAlone(message));
  return true;
}

/** Makes the function that warns about budgets of this month. Each budget has one warning for each level (G6). */
function createWarn(app: App): WatchMoney['warn'] {
  const { store, budgets, replies } = app;
  const warned = store.keyed('budget-warnings');

  async function warnOf(budget: MoneyBudget, requester: Requester): Promise<void> {
    const share = (budget.spent / budget.limit) * 100;
    const level = levels.findLast((one) => share >= one);
    if (level === undefined) return;
    const markOf = (one: number): string => `${budget.key} ${budget.limit} ${one}`;
    const known = await warned.hasMany(levels.filter((one) => one >= level).map(markOf));
    if (known.includes(true)) return;
    const key = `spent:${markOf(level)}`;
    await replies.tellOwners(key, (say) => {
      const spent = say.number(budget.spent, 2);
      return say`${level} % of a budget is used up: ${budgetName(budget, say, 'approver')}. Spent so far: ${spent} US dollars.`;
    });
    const own = (say: Say): string =>
      say`You have used ${level} % of your budget of ${dollarsIn(budget.limit, say)} US dollars a month.`;
    if (budget.of === 'sender') await tellAlone(requester, `${key}:for`, own, app);
    // The mark comes last: after a crash the same messages are stored once more under the same keys, which sends nothing.
    await warned.set(markOf(level), true, warnedKeptMs);
  }

  return async (requester, skill) => {
    for (const budget of await budgets.ofMonth(requester, skill)) await warnOf(budget, requester);
  };
}

/** Looks at the budgets once more when a turn has its answer, for the turn itself and for the skills that it used. */
function warnAfter({ requester, message }: NewTurn, warn: WatchMoney['warn'], { log }: App): TurnPart {
  return {
    async footer(entries) {
      try {
        for (const skill of [undefined, ...skillsIn(entries, skillOf(message.task))])
          await warn(requester, skill);
      } catch (error) {
        log.warn({ err: error }, 'could not warn about a budget');
      }
      return { text: '' };
    },
  };
}

function skillsIn(entries: readonly Entry[], ofTask: string | undefined): readonly string[] {
  const calls = entries.flatMap((entry) => (entry.kind === 'assistant' ? callsOf(entry) : []));
  const named = calls.flatMap(({ name, input }) => {
    const { skill } = input as Readonly<{ skill?: unknown }>;
    return name === 'use_skill' && typeof skill === 'string' ? [skill] : [];
  });
  return [...new Set([...named, ...(ofTask === undefined ? [] : [ofTask])])];
}

/** What one run of a skill, or one answer of the main agent, can cost at most by the prices of its model. */
function worstCase({ skill: name }: WhyAsked, { runtime, library }: App, say: Say): readonly string[] {
  const { config, models } = runtime();
  const skill = name === undefined ? undefined : library.current().get(name);
  if (name !== undefined && skill === undefined) return [];
  const main = { model: config.agent.model, maxIterations: config.agent.maxTurns };
  const { model, maxIterations } = skill === undefined ? main : skillRunSettings(skill, config);
  // The summary at the end is one more call.
  const calls = maxIterations + 1;
  const { fallback = [] } = config.models;
  const costs = [model, ...fallback].map((each) => {
    const { alias, contextWindow: window } = models.get(each);
    return { alias, window, usd: worstCost(config, { alias, window, calls }) };
  });
  const worst = costs.toSorted((a, b) => (b.usd ?? 0) - (a.usd ?? 0))[0];
  if (worst?.usd === undefined || worst.window === undefined) return [];
  const usd = say.number(worst.usd, 2);
  const how = say`${calls} calls of ${inlineCode(worst.alias)} that each fill its window of ${say.number(worst.window)} tokens`;
  return [
    skill === undefined
      ? say`One answer costs at most ${usd} US dollars, without the skills that it uses: ${how}.`
      : say`One run of ${inlineCode(skill.name)} costs at most ${usd} US dollars, without other skills that it uses: ${how}.`,
  ];
}
