import { z } from 'zod';
import type { App } from '../../app.ts';
import type { AuditEvent } from '../../audit/audit-event.ts';
import type { CallAhead, ReachedBudget } from '../../core/budget.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import { questionCode } from '../../core/plain-words.ts';
import type { PendingRequest } from '../../store/pending-requests.ts';

/** After this time, a question without an answer counts as a no. */
const answerWithinMs = 10 * 60_000;

const asked = z.object({
  asks: z.literal('money'),
  /** The key of the budget that the answer changes. */
  key: z.string(),
  of: z.enum(['sender', 'room', 'skill', 'all']),
  name: z.string(),
  period: z.enum(['day', 'month']),
  limit: z.number(),
  spent: z.number(),
  /** What the next call costs, and how many calls may follow. */
  next: z.number(),
  left: z.number(),
  /** How many dollars a yes adds. */
  usd: z.number(),
  skill: z.string().optional(),
  /** Name of the person whose work it is. */
  person: z.string(),
});

/** What a stored question about money is about. */
export type AskedMoney = z.output<typeof asked>;

/** What an answer may be; `changed`: the budget has room again, so nobody had to answer. */
const answers = ['allow', 'stop', 'changed'] as const;

/** How a question about money ended. */
export type MoneyOutcome = (typeof answers)[number] | 'expired' | 'cancelled';

/** Reads a stored question about money; undefined if it is about something else. */
export function moneyOf({ payload }: PendingRequest): AskedMoney | undefined {
  return asked.safeParse(payload).data;
}

export function newQuestion(
  id: string,
  { key, of, name, period, limit, spent, next }: ReachedBudget,
  { requester, skill, left, transcript }: CallAhead,
  { step, now }: Readonly<{ step: number; now: number }>,
): Parameters<App['store']['pendingRequests']['add']>[0] {
  const money: AskedMoney = {
    ...{ asks: 'money', key, of, name, period, limit, spent, next, left, skill },
    // Enough for the next call, whatever is missing for it.
    usd: step * Math.max(1, Math.ceil((spent + next - limit) / step)),
    person: requester.name ?? requester.sender,
  };
  return {
    ...{ id, kind: 'question', transcript, toolUseId: id },
    conversation: requester.conversation,
    requester: requester.sender,
    // Only owners and approvers can answer, also if they asked themselves.
    payload: { ...money, byApprover: true },
    askedAt: now,
    expiresAt: now + answerWithinMs,
  };
}

/** A new limit is a new question, and so is one that nobody answered in time. */
export function questionId({ key, limit }: ReachedBudget, times: number): string {
  return questionCode(`money ${key} ${limit} ${times}`);
}

export function outcomeOf({ state, answer, expiresAt }: PendingRequest, now: number): MoneyOutcome | 'open' {
  if (state === 'answered') return answers.find((value) => value === answer?.value) ?? 'stop';
  if (state === 'open') return expiresAt > now ? 'open' : 'expired';
  return state;
}

/** The direct message in which this person is asked. */
export function privatelyTo(person: string): Conversation {
  const at = person.indexOf(':');
  return { channel: person.slice(0, at), chat: person.slice(at + 1) };
}

export function auditOfMoney(
  { id, requester, conversation, answer }: PendingRequest,
  { of, period, skill, usd }: AskedMoney,
): AuditEvent {
  const verdict = answer?.value === 'allow' ? 'allowed' : 'refused';
  const place = { requester, conversation: conversationKey(conversation) };
  return { event: 'budget', id, verdict, of, period, skill, usd, ...place, by: answer?.by };
}
