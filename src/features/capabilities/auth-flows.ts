import { randomInt } from 'node:crypto';
import type { AdvanceFlow } from './advance-flow.ts';
import type { BridgeResults, LinkedAccount } from './bridge-contract.ts';
import { failure, type CapabilityOutcome } from './call-bridge.ts';
import type { CapabilityKey } from '../../accounts/capability-key.ts';
import type { CapabilityCaller } from './capability-checks.ts';
import type { InvokeCapability } from './invoke-capability.ts';
import type { SignedCalls } from './signed-call.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Requester } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CapabilityRecords, KeptFlow } from '../../store/capability-records.ts';

/** A sign-in as the model sees it, without address, code or state. */
type FlowView = Readonly<{
  flow: string;
  capability: string;
  status: 'pending' | 'completing' | 'waiting for confirmation';
  kind: 'authorization_code' | 'device_code';
  retryAfterSeconds?: number;
}>;

export type AuthFlows = Readonly<{
  /** Begins a sign-in, only in a direct message. A pending one is used again (C6). */
  begin(
    caller: CapabilityCaller,
    of: Readonly<{ capability: string; hint?: string | undefined; call: string }>,
    signal: AbortSignal,
  ): Promise<CapabilityOutcome<FlowView>>;
  /** Open sign-ins of the person for capabilities that the skill declares. */
  list(caller: CapabilityCaller): Promise<readonly FlowView[]>;
  /** Polls a device flow. For another sign-in it says that `complete` is needed. */
  look(
    caller: CapabilityCaller,
    of: Readonly<{ flow?: string | undefined; capability?: string | undefined; as: 'poll' | 'complete' }>,
    signal: AbortSignal,
  ): Promise<CapabilityOutcome<FlowView>>;
}>;

const flowMs = 30 * 60_000;
const codeAlphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

export function createAuthFlows(options: {
  find: InvokeCapability['find'];
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  calls: SignedCalls;
  advance: AdvanceFlow;
  /** Sends the link to the person, once for each `key`. */
  sendLink(flow: OpenFlow, key: string): Promise<void>;
  wake(): void;
  clock: Clock;
}): AuthFlows {
  const { find, records, key, calls, advance, sendLink, wake, clock } = options;

  async function open(caller: CapabilityCaller): Promise<readonly OpenFlow[]> {
    const flows = await records.flows(caller.requester.sender);
    const theirs = flows.filter(
      ({ state, capability }) => state !== 'ended' && caller.declared.includes(capability),
    );
    if (theirs.length === 0) return [];
    const opened = await key();
    return theirs.flatMap((flow) => openFlow(opened, flow) ?? []);
  }

  const isOver = ({ expiresAt }: KeptFlow): boolean => expiresAt <= clock.now();

  return {
    async begin(caller, { capability, hint, call }, signal) {
      const found = await find(caller, capability, signal);
      if (!found.ok) return found;
      const { requester, skill, run } = caller;
      if (requester.chatType !== 'private')
        return failure(
          'capability_access_denied',
          'an account is linked in a direct message only: ask the person to write there',
        );
      const pending = (await open(caller)).find(
        (flow) => flow.capability === capability && flow.state !== 'linked' && !isOver(flow),
      );
      if (pending !== undefined) {
        await sendLink(pending, `flow:${pending.id}:${call}`);
        return { ok: true, value: view(pending, clock.now()) };
      }
      const params = { capability_id: capability, account_hint: hint ?? null };
      const answer = await calls.call(found.value.provider, 'auth_begin', params, caller, signal);
      if (!answer.ok) return answer;
      const checked = checkBegun(answer.value);
      if (!checked.ok) return checked;
      const begun = checked.value;
      const now = clock.now();
      const ends = begun.expires_at === undefined ? Infinity : Date.parse(begun.expires_at);
      if (ends <= now) return failure('capability_auth_flow_expired', 'the sign-in was over before it began');
      const id = Array.from({ length: 8 }, () => codeAlphabet[randomInt(codeAlphabet.length)]).join('');
      const opened = await key();
      const kept = await records.begin(
        {
          id,
          sender: requester.sender,
          capability,
          conversation: conversationKey(requester.conversation),
          sealed: sealFlow(opened, id, { requester, skill, run, begun }),
          expiresAt: Math.min(now + flowMs, ends),
          dueAt: begun.flow_type === 'device_code' ? now + pollMs(begun) : undefined,
        },
        now,
      );
      const flow = openFlow(opened, kept);
      if (flow === undefined) return failure('capability_auth_flow_invalid', 'the sign-in has ended');
      await sendLink(flow, `flow:${flow.id}:${call}`);
      wake();
      return { ok: true, value: view(flow, now) };
    },
    async list(caller) {
      return (await open(caller)).filter((flow) => !isOver(flow)).map((flow) => view(flow, clock.now()));
    },
    async look(caller, { flow: named, capability, as }, signal) {
      const known = (await open(caller)).filter(
        (flow) =>
          (named === undefined || flow.id === named) &&
          (capability === undefined || flow.capability === capability),
      );
      const current = known.filter((flow) => !isOver(flow));
      const [flow, ...others] = current;
      if (flow === undefined) {
        return known.length > 0
          ? failure('capability_auth_flow_expired', 'the sign-in ran out: begin again')
          : failure('capability_auth_flow_invalid', 'there is no such sign-in of this person: begin one');
      }
      if (others.length > 0)
        return failure(
          'capability_auth_flow_ambiguous',
          `name the flow: ${current.map(({ id, capability: of }) => `${id} (${of})`).join(', ')}`,
        );
      const isDevice = flow.content.begun.flow_type === 'device_code';
      if (flow.state === 'pending' && !isDevice) {
        return as === 'complete'
          ? failure(
              'capability_auth_code_missing',
              'the person has not sent the code yet: it is for them to do, in the direct message; the host takes it there',
            )
          : failure(
              'capability_invalid_input',
              'only a device flow is polled: this one waits for the person',
            );
      }
      const due = flow.state === 'pending' && (flow.dueAt ?? 0) <= clock.now();
      if (!due) return { ok: true, value: view(flow, clock.now()) };
      const advanced = await advance(flow, signal);
      if (!advanced.ok) return advanced;
      const after = (await open(caller)).find(({ id }) => id === flow.id) ?? flow;
      return { ok: true, value: view(after, clock.now()) };
    },
  };
}

/** Checks what a provider began: state and PKCE are required, and plain HTTP only to this machine (C6). */
function checkBegun(begun: BridgeResults['auth_begin']): CapabilityOutcome<BridgeResults['auth_begin']> {
  const invalid = (why: string) => failure('capability_invalid_output', `the provider’s sign-in ${why}`);
  const url = new URL(begun.auth_url);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !isHere) return invalid('leads to a page without encryption');
  if (begun.flow_type === 'device_code')
    return begun.user_code === undefined ? invalid('has no user_code') : { ok: true, value: begun };
  const given = url.searchParams;
  const state = given.get('state');
  if (state === null || state === '') return invalid('carries no state');
  if (begun.expected_callback_state !== undefined && begun.expected_callback_state !== state)
    return invalid('expects another state than it sends');
  const isProven =
    (given.get('code_challenge') ?? '') !== '' && given.get('code_challenge_method') === 'S256';
  if (!isProven) return invalid('carries no PKCE challenge (S256)');
  return { ok: true, value: { ...begun, expected_callback_state: state } };
}

function view({ id, capability, state, dueAt, content }: OpenFlow, now: number): FlowView {
  const kind = content.begun.flow_type;
  const status =
    state === 'linked' ? 'waiting for confirmation' : state === 'submitted' ? 'completing' : 'pending';
  const retry = Math.max(1, Math.ceil(((dueAt ?? now) - now) / 1_000));
  return {
    flow: id,
    capability,
    status,
    kind,
    retryAfterSeconds: status === 'pending' && kind === 'device_code' ? retry : undefined,
  };
}

type GivenAnswer = Readonly<{ code: string; url: string | null; state: string | null }>;

/** The part of a sign-in that is stored encrypted (C6). */
export type FlowContent = Readonly<{
  /** Who began it, with the direct message in which they did. */
  requester: Requester;
  skill: string;
  run: string;
  begun: BridgeResults['auth_begin'];
  answer?: GivenAnswer;
  account?: LinkedAccount;
}>;

export type OpenFlow = KeptFlow & Readonly<{ content: FlowContent }>;

export function sealFlow(key: CapabilityKey, id: string, content: FlowContent): string {
  return key.seal(content, `flow ${id}`);
}

export function openFlow(key: CapabilityKey, flow: KeptFlow): OpenFlow | undefined {
  if (flow.sealed === '') return undefined;
  return { ...flow, content: key.open(flow.sealed, `flow ${flow.id}`) as FlowContent };
}

/** Milliseconds between two polls of a device flow. */
export function pollMs({ poll_interval_seconds: seconds = 5 }: FlowContent['begun']): number {
  return seconds * 1_000;
}
