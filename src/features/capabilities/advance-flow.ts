import type { BridgeResults, LinkedAccount } from './bridge-contract.ts';
import { failure, type CapabilityFailure, type CapabilityOutcome } from './call-bridge.ts';
import type { CapabilityKey } from './capability-key.ts';
import { namespaceOf, type ConfiguredProviders } from './configured-providers.ts';
import { findCredential } from './capability-checks.ts';
import { pollMs, sealFlow, openFlow, type FlowContent, type OpenFlow } from './auth-flows.ts';
import type { SignedCalls } from './signed-call.ts';
import type { CapabilityCode } from '../../core/codes.ts';
import { waitUntil } from '../../lib/async/wait-until.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { CapabilityRecords, FlowChange, KeptFlow } from '../../store/capability-records.ts';

/** A process renews its lease while it works. A lease that ran out means that the process is dead. */
const leaseMs = 10_000;

const holdEveryMs = 2_000;

/** How often, in milliseconds, to look for sign-ins that another process began or left. */
const lookEveryMs = 15_000;

/** How many sign-ins are worked on at once, so that a provider that hangs delays no others. */
const most = 8;

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

type SignInWorker = Readonly<{
  wake(): void;
  /** Works until `signal` aborts. Resolves once running work has ended. */
  run(signal: AbortSignal): Promise<void>;
}>;

type SignInWorkerDeps = Readonly<{
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  advance: AdvanceFlow;
  clock: Clock;
  log: Log;
}>;

/**
 * Works on sign-ins: sends codes, polls device flows, shows identities (C6). Work of a process that crashed is due
 * after 10 seconds; that of one that stopped is due at once.
 */
export function createSignInWorker(deps: SignInWorkerDeps): SignInWorker {
  const { records, clock, log } = deps;
  const workOn = createWorkOn(deps);
  const worker: { wake?: () => void } = {};
  const wake = (): void => worker.wake?.();

  async function giveBack({ id, state, sealed }: KeptFlow): Promise<void> {
    await records.change(id, state, { state, sealed, dueAt: clock.now() });
  }

  /** Starts work on what is due. Returns when to look again (Unix ms). */
  async function look(underway: Set<Promise<void>>, signal: AbortSignal): Promise<number> {
    while (underway.size < most && !signal.aborted) {
      const now = clock.now();
      const until = now + leaseMs;
      const kept = await records.takeDue(now, until);
      if (kept === undefined) return (await records.nextDue()) ?? Infinity;
      const work = workOn(kept, until, signal)
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
          return giveBack(kept);
        })
        .catch((error: unknown) =>
          log.error({ err: error }, 'could not start work on a sign-in: trying again'),
        )
        .finally(() => {
          underway.delete(work);
          wake();
        });
      underway.add(work);
    }
    return Infinity;
  }

  return {
    wake,
    async run(signal) {
      const underway = new Set<Promise<void>>();
      const lookAgain = async (): Promise<number> => {
        const next = await look(underway, signal).catch((error: unknown) => {
          if (!signal.aborted) log.error({ err: error }, 'could not look for sign-ins: trying again');
          return Infinity;
        });
        return Math.max(1, Math.min(lookEveryMs, next - clock.now()));
      };
      const subscribe = (wake: () => void) => {
        worker.wake = wake;
        return () => undefined;
      };
      await waitUntil(lookAgain, { signal, clock, subscribe }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      await Promise.all(underway);
    },
  };
}

/** Makes the function that does the next step of a sign-in and meanwhile renews its lease, which ends at `until`. */
function createWorkOn({ records, key, advance, clock, log }: SignInWorkerDeps) {
  return async (kept: KeptFlow, until: number, signal: AbortSignal): Promise<void> => {
    const ended = new AbortController();
    const lost = new AbortController();
    void hold(kept.id, until, ended.signal, lost);
    try {
      const flow = openFlow(await key(), kept);
      if (flow !== undefined) await advance(flow, AbortSignal.any([signal, lost.signal]));
    } finally {
      ended.abort();
    }
  };

  /** Renews the lease until `ended` aborts. Aborts `lost` if another process has the work or it is done. */
  async function hold(id: string, until: number, ended: AbortSignal, lost: AbortController): Promise<void> {
    for (let held = until; ;) {
      await clock.sleep(holdEveryMs, ended).catch(() => undefined);
      if (ended.aborted) return;
      const next = clock.now() + leaseMs;
      try {
        if (!(await records.holdOn(id, held, next))) return lost.abort(new Error('it is not held any more'));
        held = next;
      } catch (error) {
        // The store is away, so nobody else can take it either.
        if (!ended.aborted) log.warn({ err: error }, 'could not keep the lease of a sign-in: trying again');
      }
    }
  }
}
