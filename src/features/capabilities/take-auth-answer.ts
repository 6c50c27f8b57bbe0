import type { CapabilityKey } from '../../accounts/capability-key.ts';
import { readAuthAnswer, isSecret, type AuthAnswer } from '../../accounts/read-auth-answer.ts';
import type { TakenAnswer } from '../../accounts/guard-sign-ins.ts';
import { openFlow, sealFlow, type OpenFlow } from './auth-flows.ts';
import type { CapabilityCode } from '../../core/codes.ts';
import type { Actor } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CapabilityRecords } from '../../store/capability-records.ts';

type TakeDeps = Readonly<{
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  wake(): void;
  clock: Clock;
}>;

type Said = Actor & Readonly<{ text: string }>;

/** Milliseconds during which the answer to an ended sign-in is still recognised, from any sender. */
const knownMs = 3_600_000;

/**
 * Takes answers of sign-in pages out of messages. A bare code counts only while a sign-in of its sender waits. A
 * `state` of another person is refused.
 */
export function createTakeAuthAnswer({
  records,
  key,
  wake,
  clock,
}: TakeDeps): (message: Said) => Promise<TakenAnswer> {
  async function submit(flow: OpenFlow, answer: Extract<AuthAnswer, { kind: 'code' }>): Promise<TakenAnswer> {
    const { code, url, state } = answer;
    const content = { ...flow.content, answer: { code, url, state } };
    const sealed = sealFlow(await key(), flow.id, content);
    const { capability } = flow;
    if (!(await records.change(flow.id, 'pending', { state: 'submitted', sealed, dueAt: clock.now() })))
      return { kind: 'refused', code: 'capability_auth_flow_invalid', capability };
    wake();
    return { kind: 'submitted', flow: flow.id, capability };
  }

  async function isSomebodys({ state }: Exclude<AuthAnswer, { kind: 'none' }>): Promise<boolean> {
    if (state === null) return false;
    const kept = await records.flowsSince(clock.now() - knownMs);
    if (kept.length === 0) return false;
    const opened = await key();
    return kept.some((one) => isSecret(openFlow(opened, one)?.content.begun.expected_callback_state, state));
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
    const flow = flowFor(answer, flows, clock.now());
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

/** The open sign-in that an answer is for, or why there is none. */
function flowFor(
  answer: Exclude<AuthAnswer, { kind: 'none' }>,
  flows: readonly OpenFlow[],
  now: number,
): OpenFlow | CapabilityCode {
  const { state } = answer;
  const isOpen = (flow: OpenFlow): boolean => flow.state === 'pending' && flow.expiresAt > now;
  const named =
    state === null
      ? undefined
      : flows.find(({ content }) => isSecret(content.begun.expected_callback_state, state));
  if (named !== undefined) {
    if (isOpen(named)) return named;
    return named.expiresAt <= now ? 'capability_auth_flow_expired' : 'capability_auth_flow_invalid';
  }
  const [only, ...others] = flows.filter(isOpen);
  if (only === undefined) return 'capability_auth_flow_expired';
  const carriesState = answer.kind !== 'code' || answer.url !== null;
  if (state !== null || (carriesState && answer.kind === 'code')) return 'capability_auth_state_mismatch';
  return others.length > 0 ? 'capability_auth_flow_ambiguous' : only;
}
