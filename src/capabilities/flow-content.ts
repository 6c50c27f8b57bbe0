import type { Requester } from '../core/tool.ts';
import type { KeptFlow } from '../store/capability-records.ts';
import type { BridgeResults, LinkedAccount } from './bridge-contract.ts';
import type { CapabilityKey } from './capability-key.ts';

/** What a person gave in answer to a sign-in page. */
export type GivenAnswer = Readonly<{ code: string; url: string | null; state: string | null }>;

/** What is sealed of a sign-in (C6). */
export type FlowContent = Readonly<{
  /** For whom and where: the private chat it was begun in. */
  requester: Requester;
  skill: string;
  run: string;
  begun: BridgeResults['auth_begin'];
  /** While it is `submitted`. */
  answer?: GivenAnswer;
  /** While it is `linked`. */
  account?: LinkedAccount;
}>;

/** A flow with what is sealed of it. */
export type OpenFlow = KeptFlow & Readonly<{ content: FlowContent }>;

export function sealFlow(key: CapabilityKey, id: string, content: FlowContent): string {
  return key.seal(content, `flow ${id}`);
}

/** Nothing for a flow that ended in an account: nothing of it is kept. */
export function openFlow(key: CapabilityKey, flow: KeptFlow): OpenFlow | undefined {
  if (flow.sealed === '') return undefined;
  return { ...flow, content: key.open(flow.sealed, `flow ${flow.id}`) as FlowContent };
}

/** How often a device flow is asked for. */
export function pollMs({ poll_interval_seconds: seconds = 5 }: FlowContent['begun']): number {
  return seconds * 1_000;
}
