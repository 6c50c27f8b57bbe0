import type { CapabilityCode } from '../core/codes.ts';
import type { Clock } from '../lib/clock.ts';
import type { CapabilityRecords, FlowChange } from '../store/capability-records.ts';
import type { BridgeResults, LinkedAccount } from './bridge-contract.ts';
import { failure, type CapabilityFailure, type Outcome } from './call-bridge.ts';
import type { CapabilityKey } from './capability-key.ts';
import { namespaceOf, type ConfiguredProviders } from './configured-providers.ts';
import { findCredential } from './credential-like.ts';
import { pollMs, sealFlow, type FlowContent, type OpenFlow } from './flow-content.ts';
import type { SignedCalls } from './signed-call.ts';

/**
 * Takes a sign-in one step on: the code to the provider, a device flow asked for, the identity shown to the person. Who made
 * the step tells the person; a failure of the provider that passes leaves the flow as it was.
 */
export type AdvanceFlow = (flow: OpenFlow, signal: AbortSignal) => Promise<Outcome<'waiting' | 'linked'>>;

/** What can't become better by trying again: the flow is over. */
const final: ReadonlySet<CapabilityCode> = new Set([
  'capability_auth_flow_invalid',
  'capability_auth_flow_expired',
  'capability_auth_flow_denied',
  'capability_not_found',
  'capability_access_denied',
]);

export function createAdvanceFlow(options: {
  providers: () => ConfiguredProviders;
  records: Pick<CapabilityRecords, 'change'>;
  key: () => Promise<CapabilityKey>;
  calls: Pick<SignedCalls, 'call'>;
  /** Shows the linked identity to the person, who has to say that it is theirs; once for a flow. */
  askToConfirm(flow: OpenFlow, account: LinkedAccount): Promise<void>;
  /** Tells the person that it came to nothing, or that they have to try again. */
  tellFailure(flow: OpenFlow, why: CapabilityFailure, over: boolean): Promise<void>;
  clock: Pick<Clock, 'now'>;
}): AdvanceFlow {
  const { providers, records, key, calls, askToConfirm, tellFailure, clock } = options;

  async function change(
    flow: OpenFlow,
    content: FlowContent,
    to: Omit<FlowChange, 'sealed'>,
  ): Promise<boolean> {
    return records.change(flow.id, flow.state, { ...to, sealed: sealFlow(await key(), flow.id, content) });
  }

  async function ask(
    { id: _, capability, state, content }: OpenFlow,
    signal: AbortSignal,
  ): Promise<Outcome<BridgeResults['auth_poll']>> {
    const provider = providers().get(namespaceOf(capability));
    if (provider === undefined)
      return failure('capability_not_found', `no provider of ${capability} is set up any more`);
    const { answer, begun, requester, skill, run } = content;
    const subject = { requester, skill, run };
    const params = { capability_id: capability, flow_state: begun.flow_state };
    if (state !== 'submitted' || answer === undefined)
      return calls.call(provider, 'auth_poll', params, subject, signal);
    const given = { authorization_code: answer.code, raw_callback_url: answer.url, state: answer.state };
    return calls.call(provider, 'auth_complete', { ...params, ...given }, subject, signal);
  }

  return async (flow, signal) => {
    const { content } = flow;
    const now = clock.now();
    if (flow.state === 'linked') {
      if (content.account !== undefined) await askToConfirm(flow, content.account);
      await change(flow, content, { state: 'linked' });
      return { ok: true, value: 'linked' };
    }
    const { answer: _, ...unanswered } = content;
    if (flow.expiresAt <= now) {
      const over = failure('capability_auth_flow_expired', 'the sign-in ran out');
      if (await change(flow, unanswered, { state: 'ended' })) await tellFailure(flow, over, true);
      return over;
    }
    const outcome = checkLinked(await ask(flow, signal));
    const isDevice = content.begun.flow_type === 'device_code';
    const intervalMs = pollMs(content.begun);
    if (!outcome.ok) {
      const over = final.has(outcome.code);
      const to = over ? 'ended' : 'pending';
      const again = over || !isDevice ? {} : { dueAt: now + Math.max(intervalMs, 30_000) };
      const changed = await change(flow, unanswered, { state: to, ...again });
      // A device flow is asked for again without a word.
      if (changed && (over || !isDevice)) await tellFailure(flow, outcome, over);
      return outcome;
    }
    const { value } = outcome;
    if ('status' in value) {
      const dueAt = now + Math.max(intervalMs, value.retry_after_seconds * 1_000);
      await change(flow, content, { state: 'pending', dueAt });
      return { ok: true, value: 'waiting' };
    }
    const linked: FlowContent = { ...unanswered, account: value };
    // Due at once: where the process ends here, the identity is shown by whoever looks next.
    if (await change(flow, linked, { state: 'linked', dueAt: now })) {
      const shown = { ...flow, state: 'linked', content: linked } as const;
      await askToConfirm(shown, value);
      await change(shown, linked, { state: 'linked' });
    }
    return { ok: true, value: 'linked' };
  };
}

/** References, never a secret (C3). */
function checkLinked(outcome: Outcome<BridgeResults['auth_poll']>): Outcome<BridgeResults['auth_poll']> {
  if (!outcome.ok || 'status' in outcome.value) return outcome;
  const credential = findCredential(outcome.value);
  return credential === undefined
    ? outcome
    : failure(
        'capability_invalid_output',
        `the linked account holds what looks like a credential, at ${credential}`,
      );
}
