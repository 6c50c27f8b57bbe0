import { timingSafeEqual } from 'node:crypto';
import type { CapabilityCode } from '../core/codes.ts';
import type { Clock } from '../lib/clock.ts';
import type { Message } from '../core/message.ts';
import type { CapabilityRecords } from '../store/capability-records.ts';
import type { CapabilityKey } from './capability-key.ts';
import { openFlow, sealFlow, type OpenFlow } from './flow-content.ts';
import { readAuthAnswer, type AuthAnswer } from './read-auth-answer.ts';

/** What a message was found to be. Any but `none` goes no further: no inbox, transcript, model or log sees it (C6). */
export type TakenAnswer = Readonly<
  | { kind: 'none' }
  /** The host completes the flow. */
  | { kind: 'submitted'; flow: string; capability: string }
  /** `capability`: of the flow it was for, where that is known. */
  | { kind: 'refused'; code: CapabilityCode; capability?: string }
  /** It was said where others read along. */
  | { kind: 'public' }
>;

type Said = Pick<Message, 'text' | 'chatType' | 'external' | 'sender' | 'conversation'>;

/** For so long after its end the answer of a sign-in is known as one, whoever brings it. */
const knownMs = 3_600_000;

/**
 * Takes what a person pasted from a sign-in page. A bare code counts only while a sign-in of theirs waits for one. An address
 * of somebody who began no sign-in within the last day counts where its `state` is that of somebody else's: it is refused.
 */
export function createTakeAuthAnswer(options: {
  records: Pick<CapabilityRecords, 'flows' | 'flowsSince' | 'change'>;
  key: () => Promise<CapabilityKey>;
  /** A flow is to be completed. */
  poke(): void;
  clock: Pick<Clock, 'now'>;
}): (message: Said) => Promise<TakenAnswer> {
  const { records, key, poke, clock } = options;

  async function submit(flow: OpenFlow, answer: Extract<AuthAnswer, { kind: 'code' }>): Promise<TakenAnswer> {
    const { code, url, state } = answer;
    const content = { ...flow.content, answer: { code, url, state } };
    const sealed = sealFlow(await key(), flow.id, content);
    const { capability } = flow;
    if (!(await records.change(flow.id, 'pending', { state: 'submitted', sealed, dueAt: clock.now() })))
      return { kind: 'refused', code: 'capability_auth_flow_invalid', capability };
    poke();
    return { kind: 'submitted', flow: flow.id, capability };
  }

  /** Whether it is the answer to a sign-in that anybody began. */
  async function isSomebodys({ state }: Exclude<AuthAnswer, { kind: 'none' }>): Promise<boolean> {
    if (state === null) return false;
    const kept = await records.flowsSince(clock.now() - knownMs);
    if (kept.length === 0) return false;
    const opened = await key();
    return kept.some((flow) => isSame(openFlow(opened, flow)?.content.begun.expected_callback_state, state));
  }

  /** The flow that an answer is for, or why it is for none. */
  function flowFor(
    answer: Exclude<AuthAnswer, { kind: 'none' }>,
    flows: readonly OpenFlow[],
  ): OpenFlow | CapabilityCode {
    const { state } = answer;
    const isOpen = (flow: OpenFlow): boolean => flow.state === 'pending' && flow.expiresAt > clock.now();
    const meant =
      state === null
        ? undefined
        : flows.find(({ content }) => isSame(content.begun.expected_callback_state, state));
    if (meant !== undefined) {
      if (isOpen(meant)) return meant;
      return meant.expiresAt <= clock.now() ? 'capability_auth_flow_expired' : 'capability_auth_flow_invalid';
    }
    const open = flows.filter(isOpen);
    const [only, ...others] = open;
    if (only === undefined) return 'capability_auth_flow_expired';
    const carriesState = answer.kind !== 'code' || answer.url !== null;
    if (state !== null || (carriesState && answer.kind === 'code')) return 'capability_auth_state_mismatch';
    return others.length > 0 ? 'capability_auth_flow_ambiguous' : only;
  }

  return async ({ text, chatType, external, sender }) => {
    const answer = readAuthAnswer(text);
    if (answer.kind === 'none') return answer;
    const kept = await records.flows(sender.id);
    const isPublic = chatType !== 'private' || external;
    if (kept.length === 0) {
      if (!(await isSomebodys(answer))) return { kind: 'none' };
      return isPublic ? { kind: 'public' } : { kind: 'refused', code: 'capability_auth_state_mismatch' };
    }
    const opened = await key();
    const flows = kept
      .flatMap((flow) => openFlow(opened, flow) ?? [])
      .filter(({ content }) => content.begun.flow_type === 'authorization_code');
    const isBare = answer.kind === 'code' && answer.url === null;
    const waits = kept.some(({ state, expiresAt }) => state === 'pending' && expiresAt > clock.now());
    if (isBare && !waits) return { kind: 'none' };
    if (isPublic) return { kind: 'public' };
    const flow = flowFor(answer, flows);
    if (typeof flow === 'string') return { kind: 'refused', code: flow };
    const { capability } = flow;
    switch (answer.kind) {
      case 'code':
        return submit(flow, answer);
      case 'unusable':
        return { kind: 'refused', code: answer.problem, capability };
      case 'refused':
        await records.change(flow.id, 'pending', {
          state: 'ended',
          sealed: sealFlow(opened, flow.id, flow.content),
        });
        return { kind: 'refused', code: 'capability_auth_flow_denied', capability };
    }
  };
}

function isSame(expected: string | undefined, given: string): boolean {
  if (expected === undefined) return false;
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
