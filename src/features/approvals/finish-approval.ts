import { z } from 'zod';
import type { Audit } from '../../audit/create-audit.ts';
import type { StandingRule } from '../../core/approval.ts';
import { storedProvenance } from '../../core/provenance.ts';
import { sayIn } from '../../core/texts/say.ts';
import { interrupted } from '../../core/tool-call.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ApprovalDetails } from './approval-details.ts';
import { partKey, type Replies } from '../../replies/replies.ts';
import { outcomeKey, type PendingRequest } from '../../store/pending-requests.ts';
import type { Store } from '../../store/store.ts';
import { auditOf, isApproved, languageOf, outcomeText, textOfJson } from './approval-question.ts';
import type { StandingRules } from './standing-rules.ts';

export type FinishApproval = Readonly<{
  /** Shows how a question ended, and wakes those who wait for it. */
  finish(id: string): Promise<void>;
  /** Finishes questions whose time is over. */
  finishExpired(): Promise<void>;
  /** Shows outcomes that a crash kept from being shown. */
  finishCutOff(): Promise<void>;
  /** How a question ended, and whether its call was interrupted since. */
  outcomeNow(request: PendingRequest): Promise<string>;
}>;

/** Makes the functions that end questions, however they ended. */
export function createFinishApproval(
  {
    replies,
    rules,
    details,
  }: Readonly<{
    replies: Replies;
    rules: StandingRules;
    details: ApprovalDetails;
  }>,
  { store, audit, clock, log }: Readonly<{ store: Store; audit: Audit; clock: Clock; log: Log }>,
): FinishApproval {
  /** The outcome is shown last, so that `finishCutOff` repeats it if the process ends before. */
  async function finish(id: string, isCutOff = false): Promise<void> {
    const request = await store.pendingRequests.find(id);
    // A run's question is not shown with buttons: the main agent asks it in words (U14).
    if (request?.kind !== 'approval') return store.signals.send('answer', id);
    const rule = request.answer?.value === 'always' ? standingRuleOf(request) : undefined;
    if (rule !== undefined && !(await rules.covers(rule)))
      await rules.add(rule, request.answer?.by ?? '', clock.now());
    await store.signals.send('answer', id);
    if (!isCutOff || !(await audit.holds(id, request.askedAt))) await audit.record(auditOf(request));
    const key = outcomeKey(id);
    const receipt = await store.outbox.receipt(textOfJson(request.payload['message']));
    if (receipt !== undefined) await store.outbox.show(partKey(key, 0), receipt);
    const text = isCutOff ? await outcomeNow(request) : outcomeText(request);
    const input = textOfJson(request.payload['input']);
    const whole = input === '' ? text : `${text}\n\n${input}`;
    const inGroup = request.payload['details'] !== undefined;
    const outbox = await replies.rows(request.conversation, key, inGroup ? text : whole);
    await store.commit({
      outbox: inGroup ? [...(await details.outcomes(request, whole)), ...outbox] : outbox,
    });
  }

  async function outcomeNow(request: PendingRequest): Promise<string> {
    if (!isApproved(request) || !(await wasInterrupted(request, store))) return outcomeText(request);
    const say = sayIn(languageOf(request));
    return `${outcomeText(request)} ${say`It was interrupted, so it may not have run. Check that before you ask for it again.`}`;
  }

  return {
    finish: (id) => finish(id),
    async finishExpired() {
      for (const id of await store.pendingRequests.expire(clock.now())) await finish(id);
    },
    async finishCutOff() {
      for (const id of await store.pendingRequests.takeUnshown(clock.now()))
        await finish(id, true).catch((error: unknown) =>
          log.warn({ err: error, request: id }, 'could not show yet how an approval ended'),
        );
    },
    outcomeNow,
  };
}

async function wasInterrupted(
  { transcript, toolUseId }: PendingRequest,
  { transcripts }: Store,
): Promise<boolean> {
  const { entries } = await transcripts.read(transcript);
  return entries.some(
    ({ entry }) =>
      entry.kind === 'tool_result' && entry.toolUseId === toolUseId && entry.content === interrupted,
  );
}

/** The rule that "always" would add. Undefined if the question allows none. */
export function standingRuleOf({ payload }: PendingRequest): StandingRule | undefined {
  return storedRule.safeParse(payload['standing']).data;
}

const storedRule = z.object({
  tool: z.string(),
  definitionHash: z.string().optional(),
  skill: z.string().optional(),
  files: z.string().optional(),
  chat: z.string(),
  sender: z.string(),
  from: storedProvenance.optional(),
});
