import type { Clock } from '../../lib/clock.ts';
import { chatIdOf, type Conversation } from '../../core/conversation.ts';
import { questionCode } from '../../core/plain-words.ts';
import type { Log } from '../../lib/log.ts';
import type { DeliverArtifacts } from '../../core/tool.ts';
import { waitUntil } from '../../lib/async/wait-until.ts';
import type { PendingRequest } from '../../store/pending-requests.ts';
import type { Store } from '../../store/store.ts';
import type { Audit } from '../../audit/create-audit.ts';
import type { ApprovalDetails } from './approval-details.ts';
import { askedIn, createShowDetails } from './show-details.ts';
import type { Press } from '../../core/channel.ts';
import { createApprovalQuestion, isApproved, outcomeText, textOfJson } from './approval-question.ts';
import { createFinishApproval, standingRuleOf, type FinishApproval } from './finish-approval.ts';
import type { Approval, ApprovalRequest, AskPeople, GivenAnswer } from '../../core/approval.ts';
import type { StandingRules } from './standing-rules.ts';
import { whyNotTheirs } from '../../access/approvers.ts';
import type { Replies } from '../../replies/replies.ts';
import { sayIn } from '../../core/texts/say.ts';

/** `always` also approves later calls like this one. */
export const approvalAnswers = ['approve', 'deny', 'always'] as const;
export type ApprovalAnswer = (typeof approvalAnswers)[number];

/** `typed`: the answer came in words. In a group it counts once the person was shown what they approve (U16). */
type Answerer = Readonly<{
  sender: string;
  name?: string;
  language?: string;
  conversation: Conversation;
  typed?: true;
}>;

export type Approvals = Readonly<{
  request: AskPeople['request'];
  /** Shows a group's question in full to the person who pressed, if they may answer it. Returns what else to tell them. */
  showDetails(id: string, press: Press): Promise<string | undefined>;
  /**
   * The group where this question was asked, if the person was shown it in full and may answer from their direct
   * message. Undefined: only its own conversation counts.
   */
  groupOf(id: string, person: string): Promise<Conversation | undefined>;
  /** Takes an answer, once, from the requester or an approver. */
  answer(id: string, from: Answerer, value: ApprovalAnswer): Promise<GivenAnswer>;
  /** Whether the question is open in this person's conversation and they may answer it. */
  awaits(id: string, from: Answerer): Promise<boolean>;
  /** Call when a question was answered, cancelled or has expired: shows the outcome and wakes those who wait. */
  finishApproval(id: string): Promise<void>;
  /** Runs until shutdown: lets questions expire, and shows outcomes that a crash kept from being shown. */
  attend(): Promise<void>;
}>;

/** After this time, a question without an answer counts as denied (T8). */
const answerWithinMs = 5 * 60_000;
/** How often, in milliseconds, to look for an answer in case its signal was lost. */
const lookEveryMs = 5_000;
const attendEveryMs = 60_000;

type ApprovalOptions = Readonly<{
  replies: Replies;
  approvers(): readonly string[];
  isOwner(sender: string): Promise<boolean>;
  rules: StandingRules;
  details: ApprovalDetails;
  canAsk(conversation: Conversation): boolean;
  stopping: AbortSignal;
}>;

type ApprovalHost = Readonly<{
  store: Store;
  audit: Audit;
  clock: Clock;
  log: Log;
}>;

/** Questions are stored, so any process can take the answer (T8). */
export function createApprovals(options: ApprovalOptions, host: ApprovalHost): Approvals {
  const { canAsk, stopping } = options;
  const { store, clock, log } = host;
  const finishing = createFinishApproval(options, host);
  const { finish, finishExpired, finishCutOff } = finishing;
  const askOnce = createAskOnce(options, host);

  async function wait(id: string, signal: AbortSignal, until: number | undefined): Promise<Approval> {
    return waitUntil<Approval>(
      async () => {
        const request = await look(id);
        if (request === undefined) return { found: { kind: 'denied' } };
        if (request.state !== 'open') return { found: outcomeOf(request) };
        const now = clock.now();
        if (until !== undefined && now >= until && !signal.aborted) return { found: { kind: 'unanswered' } };
        return Math.max(1, Math.min(request.expiresAt - now, (until ?? Infinity) - now, lookEveryMs));
      },
      {
        signal: AbortSignal.any([signal, stopping]),
        clock,
        subscribe: (wake) =>
          store.signals.on('answer', (answered) => {
            if (answered === id) wake();
          }),
      },
    );
  }

  /** The question as it is now. If its time is over, it expires first. */
  async function look(id: string): Promise<PendingRequest | undefined> {
    const request = await store.pendingRequests.find(id);
    if (request?.state !== 'open' || request.expiresAt > clock.now()) return request;
    await finishExpired();
    return store.pendingRequests.find(id);
  }

  return {
    async request(call, signal, { patienceMs, deliverArtifacts } = {}) {
      if (!canAsk(call.requester.conversation)) return { kind: 'nobody' };
      const id = idOf(call);
      const until = patienceMs === undefined ? undefined : clock.now() + patienceMs;
      await askOnce(id, call, deliverArtifacts);
      if (call.run !== undefined) await store.signals.send('asking', call.run);
      return wait(id, signal, until);
    },
    ...createTakeAnswers(options, { ...host, ...finishing, look }),
    finishApproval: finish,
    async attend() {
      while (!stopping.aborted) {
        try {
          await finishExpired();
          await finishCutOff();
        } catch (error) {
          log.error({ err: error }, 'could not process open approvals');
        }
        await clock.sleep(attendEveryMs, stopping).catch(() => undefined);
      }
    },
  };
}

/** Makes the function that asks a question, unless it was asked before. */
function createAskOnce({ replies }: ApprovalOptions, { store, clock }: ApprovalHost) {
  const question = createApprovalQuestion(replies);

  return async (
    id: string,
    call: ApprovalRequest,
    deliverArtifacts: DeliverArtifacts | undefined,
  ): Promise<void> => {
    if (await isAsked(id)) return;
    const { tool, skill, standing, byApprover, requester, transcript, toolUseId } = call;
    const { rows: outbox, input, details } = await question(id, call, deliverArtifacts);
    const now = clock.now();
    await store.pendingRequests.add({
      id,
      kind: 'approval',
      conversation: requester.conversation,
      requester: requester.sender,
      transcript,
      toolUseId,
      payload: {
        tool,
        // The key of the message with the buttons, which are removed with the outcome.
        message: outbox.at(-1)?.key ?? '',
        skill,
        language: requester.language,
        chatType: requester.chatType,
        input,
        details,
        standing,
        byApprover,
        fourEyes: call.others === undefined ? undefined : true,
      },
      askedAt: now,
      expiresAt: now + answerWithinMs,
    });
    // The call may have been stopped, or asked by another process, in the meantime.
    if ((await store.pendingRequests.find(id))?.state === 'open') await store.commit({ outbox });
  };

  async function isAsked(id: string): Promise<boolean> {
    const known = await store.pendingRequests.find(id);
    if (known?.state !== 'open') return known !== undefined;
    return (await store.outbox.receipt(textOfJson(known.payload['message']))) !== undefined;
  }
}

/** Makes the functions that take answers of people. */
function createTakeAnswers(
  options: ApprovalOptions,
  {
    store,
    clock,
    log,
    look,
    finish,
    finishCutOff,
    outcomeNow,
  }: ApprovalHost & FinishApproval & Readonly<{ look(id: string): Promise<PendingRequest | undefined> }>,
): Omit<Approvals, 'request' | 'finishApproval' | 'attend'> {
  const { details } = options;

  /** This includes people who may only say no: their answer tells them who may say yes. */
  async function mayAnswer(request: PendingRequest, sender: string): Promise<boolean> {
    return (await whyNotTheirs(request, { sender, approves: false }, options, sayIn('en'))) === undefined;
  }

  return {
    async awaits(id, { sender, conversation }) {
      const request = await askedIn(store, conversation, id);
      return request?.state === 'open' && request.expiresAt > clock.now() && mayAnswer(request, sender);
    },
    ...createShowDetails(options, { store, look, finish, outcomeNow }),
    async answer(id, { sender, name, language, conversation, typed }, value) {
      const say = sayIn(language);
      const request = await askedIn(store, conversation, id, typed !== true);
      if (request === undefined) return { kind: 'unknown' };
      const refused = await whyNotTheirs(request, { sender, approves: value !== 'deny' }, options, say);
      if (refused !== undefined) {
        log.warn({ request: id, sender }, 'somebody without the right answered an approval');
        return { kind: 'not_yours', text: refused };
      }
      const isBlind = typed === true && value !== 'deny' && request.payload['details'] !== undefined;
      if (isBlind && !(await details.wereShown(request, sender)))
        return {
          kind: 'not_yours',
          text: say`Press Details below my question first, so that you see what you approve.`,
        };
      if (value === 'always' && standingRuleOf(request) === undefined)
        return { kind: 'not_yours', text: say`I have to ask for this each time. Approve it or deny it.` };
      const given = { by: sender, name, value, at: clock.now() };
      const taken = await store.pendingRequests.answer(id, given);
      if (taken === 'answered') {
        log.info({ request: id, sender, value, tool: request.payload['tool'] }, 'an approval was answered');
        await finish(id);
        return { kind: 'taken', text: outcomeText({ ...request, state: 'answered', answer: given }) };
      }
      await look(id);
      await finishCutOff();
      const now = await store.pendingRequests.find(id);
      return now === undefined ? { kind: 'unknown' } : { kind: 'late', text: await outcomeNow(now) };
    },
  };
}

function outcomeOf(request: PendingRequest): Approval {
  if (request.state === 'answered')
    return isApproved(request) ? { kind: 'approved', by: request.answer?.by ?? '' } : { kind: 'denied' };
  return { kind: request.state === 'expired' ? 'expired' : 'stopped' };
}

/** The code that people type. It is the same for the same call. */
function idOf(call: ApprovalRequest): string {
  const { tool, definitionHash, input, files, reads, requester, transcript, toolUseId } = call;
  const place = chatIdOf(requester.conversation);
  const of = [definitionHash, reads && { reads }].filter((one) => one !== undefined);
  const bound = [tool, input, files ?? '', place, requester.sender, transcript, toolUseId, ...of];
  return questionCode(JSON.stringify(bound));
}
