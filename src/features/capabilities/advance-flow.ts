import type { BridgeResults, LinkedAccount } from './bridge-contract.ts';
import { failure, type CapabilityFailure, type CapabilityOutcome } from './call-bridge.ts';
import type { CapabilityKey } from '../../accounts/capability-key.ts';
import { namespaceOf, type ConfiguredProviders } from './configured-providers.ts';
import { findCredential } from './capability-checks.ts';
import { pollMs, sealFlow, type FlowContent, type OpenFlow } from './auth-flows.ts';
import type { SignedCalls } from './signed-call.ts';
import type { CapabilityCode } from '../../core/codes.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CapabilityRecords, FlowChange } from '../../store/capability-records.ts';

/**
 * Does the next step of a sign-in: sends its code, polls a device flow, or shows the linked identity. If the provider
 * fails for a time, the sign-in stays as it is.
 */
export type AdvanceFlow = (
  flow: OpenFlow,
  signal: AbortSignal,
) => Promise<CapabilityOutcome<'waiting' | 'linked'>>;

/** After one of these failures the sign-in is over. */
const final: ReadonlySet<CapabilityCode> = new Set([
  'capability_auth_flow_invalid',
  'capability_auth_flow_expired',
  'capability_auth_flow_denied',
  'capability_not_found',
  'capability_access_denied',
]);

type AdvanceDeps = Readonly<{
  providers: () => ConfiguredProviders;
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  calls: SignedCalls;
  /** Asks the person whether the linked identity is theirs, once for each flow. */
  askToConfirm(flow: OpenFlow, account: LinkedAccount): Promise<void>;
  tellFailure(flow: OpenFlow, why: CapabilityFailure, over: boolean): Promise<void>;
  clock: Clock;
}>;

export function createAdvanceFlow(deps: AdvanceDeps): AdvanceFlow {
  const { providers, records, key, calls, askToConfirm, tellFailure, clock } = deps;

  async function change(
    flow: OpenFlow,
    content: FlowContent,
    to: Omit<FlowChange, 'sealed'>,
  ): Promise<boolean> {
    return records.change(flow.id, flow.state, { ...to, sealed: sealFlow(await key(), flow.id, content) });
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
    const outcome = checkLinked(await askProvider(flow, { providers, calls, signal }));
    const isDevice = content.begun.flow_type === 'device_code';
    const intervalMs = pollMs(content.begun);
    if (!outcome.ok) {
      const over = final.has(outcome.code);
      const to = over ? 'ended' : 'pending';
      const again = over || !isDevice ? {} : { dueAt: now + Math.max(intervalMs, 30_000) };
      const changed = await change(flow, unanswered, { state: to, ...again });
      // A device flow is polled again without telling the person.
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
    // It is due at once, so that another process can show it if this one ends now.
    if (await change(flow, linked, { state: 'linked', dueAt: now })) {
      const shown = { ...flow, state: 'linked', content: linked } as const;
      await askToConfirm(shown, value);
      await change(shown, linked, { state: 'linked' });
    }
    return { ok: true, value: 'linked' };
  };
}

/** Sends the provider the code that a person gave, or asks it how the sign-in is. */
async function askProvider(
  { capability, state, content }: OpenFlow,
  { providers, calls, signal }: Pick<AdvanceDeps, 'providers' | 'calls'> & Readonly<{ signal: AbortSignal }>,
): Promise<CapabilityOutcome<BridgeResults['auth_poll']>> {
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

/** Checks that a linked account has references in it, never a secret (C3). */
function checkLinked(
  outcome: CapabilityOutcome<BridgeResults['auth_poll']>,
): CapabilityOutcome<BridgeResults['auth_poll']> {
  if (!outcome.ok || 'status' in outcome.value) return outcome;
  const credential = findCredential(outcome.value);
  return credential === undefined
    ? outcome
    : failure(
        'capability_invalid_output',
        `the linked account holds what looks like a credential, at ${credential}`,
      );
}
