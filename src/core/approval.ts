import type { Provenance } from './provenance.ts';
import type { DeliverArtifacts, Requester } from './tool.ts';

/** What "Always" approves (T8): this tool with these files, for this person in this chat. */
export type StandingRule = Readonly<{
  tool: string;
  /** Hash of the tool's definition, if others can change the tool (X7). */
  definitionHash?: string;
  /** Undefined: the main agent makes the calls. */
  skill?: string;
  /** Hash of the skill's files when the call was asked about. */
  files?: string;
  /** Qualified id of the chat. Its threads are included. */
  chat: string;
  sender: string;
  /** Whose words made the call that this rule was given for, and the taint there (S13). It does not limit the rule. */
  from?: Provenance;
}>;

/** Whether "Always" can be offered. Not for `bash`, because each command line is different. */
export function mayStand(tool: string): boolean {
  return tool !== 'bash';
}

/** A call that a person is asked about. */
export type ApprovalRequest = Readonly<{
  tool: string;
  /** Hash of the tool's definition, if others can change it; see `Tool`. */
  definitionHash?: string;
  input: unknown;
  /** Undefined: the main agent makes the call. */
  skill?: string;
  /** Hash of the skill's files when the call was asked about. */
  files?: string;
  /** Hash of the files that the call reads in its folders (S16). */
  reads?: string | undefined;
  /** The rule that "Always" would add. Undefined: "Always" is not offered. */
  standing?: StandingRule;
  /** Why a person is asked, if that is not obvious. */
  because?: string;
  /** True: only owners and approvers can answer. */
  byApprover?: boolean | undefined;
  /** Who else can approve the call if the requester can't (`four_eyes`). */
  others?: readonly string[];
  requester: Requester;
  transcript: string;
  toolUseId: string;
  run?: string;
}>;

/** What came of a person's answer to a question. `late`: the question had ended before. */
export type GivenAnswer = Readonly<
  { kind: 'taken' | 'late' | 'not_yours'; text: string } | { kind: 'unknown' }
>;

export type Approval =
  | Readonly<{ kind: 'approved'; by: string }>
  | Readonly<{ kind: 'denied' | 'expired' | 'stopped' }>
  /** Nobody has answered within `patienceMs`, and the question stays open. */
  | Readonly<{ kind: 'unanswered' }>
  /** Nobody can be asked here (T8). */
  | Readonly<{ kind: 'nobody' }>;

/** Asks people about calls. Without it, calls that a person would have to agree to are refused. */
export type AskPeople = Readonly<{
  /** Asks about a call in its conversation, once even if it is repeated, and waits for the answer. */
  request(
    call: ApprovalRequest,
    signal: AbortSignal,
    how?: Readonly<{ patienceMs?: number; deliverArtifacts?: DeliverArtifacts }>,
  ): Promise<Approval>;
  /** Whether a standing approval covers such calls, so that nobody is asked. */
  covers(rule: StandingRule): Promise<boolean>;
}>;
