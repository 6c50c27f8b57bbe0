import type { App } from '../../app.ts';
import type { Conversation } from '../../core/conversation.ts';
import { fixed, sayIn, type Say, type Words } from '../../core/texts/say.ts';
import type { Requester } from '../../core/tool.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { budgetName, dollarsIn } from '../../limits/dollar-budgets.ts';
import { partKey, toSenderAlone } from '../../replies/replies.ts';
import { outcomeKey, type PendingRequest } from '../../store/pending-requests.ts';
import { privatelyTo, type AskedMoney, type MoneyOutcome } from './money-question.ts';

type Reader = Readonly<{ person: string; conversation: Conversation }>;

/** Makes what shows a question about money, and how it ended, to those who may answer: each in private (U16). */
export function createShowMoney(app: App) {
  const { store, config, users, channels, replies, canAsk } = app;

  /** Owners and approvers who can be reached. */
  async function readers(): Promise<readonly Reader[]> {
    const people = [...new Set([...(await users.owners()), ...config().policy.approvers])];
    return people.flatMap((person) => {
      const conversation = privatelyTo(person);
      return channels.has(conversation.channel) && canAsk(conversation) ? [{ person, conversation }] : [];
    });
  }

  return {
    /** Shows it, once. False if nobody can be asked. */
    async question({ id }: PendingRequest, money: AskedMoney, requester: Requester): Promise<boolean> {
      const all = await readers();
      for (const { person, conversation } of all) {
        const say = sayIn(await users.languageOf(person));
        const buttons = [
          { label: say`Allow ${dollarsIn(money.usd, say)} $`, action: `money:${id}:allow` },
          { label: say`Stop`, action: `money:${id}:stop` },
        ];
        const text = questionText(id, money, say);
        await store.commit({
          outbox: await replies.rows(conversation, keyOf(id, person), text, { buttons }),
        });
      }
      const isTold = all.some(({ person }) => person === requester.sender);
      if (all.length > 0 && !isTold)
        await tellAlone(requester, keyOf(id, `for:${requester.sender}`), askedOthers, app);
      return all.length > 0;
    },
    /** Puts the outcome in the place of the question. May be repeated. */
    async outcome(request: PendingRequest, money: AskedMoney, outcome: MoneyOutcome): Promise<void> {
      for (const { person, conversation } of await readers()) {
        const asked = keyOf(request.id, person);
        const key = outcomeKey(asked);
        const receipt = await store.outbox.receipt(partKey(asked, 0));
        if (receipt !== undefined) await store.outbox.show(partKey(key, 0), receipt);
        const text = moneyOutcomeText(request, money, outcome, sayIn(await users.languageOf(person)));
        await store.commit({ outbox: await replies.rows(conversation, key, text) });
      }
    },
  };
}

/** Says something to the requester alone, once for each key (U16). */
export async function tellAlone(
  { sender: id, name = '', kind, language, chatType, conversation }: Requester,
  key: string,
  words: Words,
  { store, replies, clock }: App,
): Promise<void> {
  const alone = toSenderAlone({ chatType, sender: { id, name, kind, language }, sentAt: clock.now() });
  await store.commit({ outbox: await replies.rows(conversation, key, sayIn(language)(words), alone) });
}

const askedOthers = fixed`The next step would pass a budget, so I asked those who decide about it. I continue as soon as they allow more.`;

function keyOf(id: string, person: string): string {
  return `money:${id}:${person}`;
}

function questionText(id: string, money: AskedMoney, say: Say): string {
  const { skill, person, next, left } = money;
  const work = skill === undefined ? inlineCode(person) : `${inlineCode(person)}, ${inlineCode(skill)}`;
  const one = say.number(next, 2);
  const all = say.number(next * left, 2);
  const lines = [
    say`For: ${work}`,
    ...figures(money, say),
    // Nothing is known of the cost before the first call.
    ...(next === 0
      ? []
      : [say`Next step: about ${one} US dollars. All ${left} steps that may follow: at most about ${all}`]),
  ];
  const question = say`May I spend more than a budget allows?`;
  const otherwise = say`Without an answer within 10 minutes the work ends.`;
  const words = [say`yes`, say`no`].map((word) => inlineCode(`${word} ${id}`)).join(' / ');
  const how = say`Press a button, or reply ${words}.`;
  return [question, lines.map((line) => `- ${line}`).join('\n'), `${how} ${otherwise}`].join('\n\n');
}

function figures(money: AskedMoney, say: Say): readonly string[] {
  return [
    say`Budget: ${budgetName(money, say, 'approver')}`,
    say`Spent: ${say.number(money.spent, 2)} US dollars`,
  ];
}

/** How a question ended, in the place of the question; what it was about stays in view. */
export function moneyOutcomeText(
  { answer }: PendingRequest,
  money: AskedMoney,
  outcome: MoneyOutcome | 'open',
  say: Say,
): string {
  const name = inlineCode(answer?.name ?? answer?.by ?? '');
  const said = {
    allow: say`${name} allowed ${dollarsIn(money.usd, say)} US dollars more.`,
    stop: say`${name} allowed no more, so the work ends.`,
    changed: say`The budget has room again, so nobody has to decide this.`,
    expired: say`Nobody answered in time, so the work ended.`,
    cancelled: say`The work was stopped, so nobody has to decide this.`,
    open: say`Nobody answered in time, so the work ended.`,
  }[outcome];
  return [said, ...figures(money, say).map((line) => `- ${line}`)].join('\n');
}
