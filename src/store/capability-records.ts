/** An account that a person linked to a capability (C6). What it is called, and all else of it, is sealed by the host. */
export type KeptAccount = Readonly<{
  sender: string;
  capability: string;
  /** A keyed hash of what the provider calls it. */
  name: string;
  sealed: string;
  linkedAt: number;
}>;

/**
 * `pending`: the person has to act. `submitted`: they gave a code. `linked`: the provider knows the account, the person has
 * to say that it is theirs. `ended`: used, refused or stopped.
 */
const flowStates = ['pending', 'submitted', 'linked', 'ended'] as const;
export type FlowState = (typeof flowStates)[number];

/** A sign-in on its way (C6). */
export type KeptFlow = Readonly<{
  id: string;
  sender: string;
  capability: string;
  /** Key of the conversation it was started in. */
  conversation: string;
  state: FlowState;
  sealed: string;
  /** When the host has something to do about it; absent while only the person has. */
  dueAt?: number;
  expiresAt: number;
}>;

/** What a change makes of a flow; without `dueAt` the host has nothing to do. */
export type FlowChange = Readonly<{ state: FlowState; sealed: string; dueAt?: number }>;

/** Accounts, sign-ins and outcomes of capabilities (C6, C8). Everything but who holds a flow is on the disk when a call resolves. */
export type CapabilityRecords = Readonly<{
  /** Makes this the check of the key that everything here is sealed with, where there is none yet; gives the one in force. */
  claimKey(check: string): Promise<string>;
  /** That check; undefined if no key was ever used. */
  keyCheck(): Promise<string | undefined>;
  /** Oldest first; of one person, of one capability, where they are named. */
  accounts(of: Readonly<{ sender?: string; capability?: string }>): Promise<readonly KeptAccount[]>;
  /** False where there was none. */
  removeAccount(account: Pick<KeptAccount, 'sender' | 'capability' | 'name'>): Promise<boolean>;
  /** Adds a flow, unless one of this person and capability is pending or submitted and not over: then gives that one. */
  begin(flow: Omit<KeptFlow, 'state'>, now: number): Promise<KeptFlow>;
  flow(id: string): Promise<KeptFlow | undefined>;
  /** All that are kept of a person, ended ones included, newest first. */
  flows(sender: string): Promise<readonly KeptFlow[]>;
  /** Those of everybody that are kept and were not over at `since`. */
  flowsSince(since: number): Promise<readonly KeptFlow[]>;
  /** Changes a flow that is in `from`. False where it is not: somebody else was first. */
  change(id: string, from: FlowState, to: FlowChange): Promise<boolean>;
  /** Ends a flow that is `linked` and keeps its account, in one step. False where it is not. */
  link(id: string, account: KeptAccount): Promise<boolean>;
  /** Ends what is not ended of a person's flows, of one conversation where one is named. Gives how many. */
  endFlows(of: Readonly<{ sender: string; conversation?: string }>): Promise<number>;
  /** A flow that is due, which is due again at `againAt` for anyone who looks then: its taker may die. */
  takeDue(now: number, againAt: number): Promise<KeptFlow | undefined>;
  /** A flow that was taken and is due again at `from` is due at `to` instead. False where it was changed or taken meanwhile. */
  holdOn(id: string, from: number, to: number): Promise<boolean>;
  /** When the next flow is due. */
  nextDue(): Promise<number | undefined>;
  /** The sealed outcome of a mutating call (C8). */
  outcome(key: string): Promise<string | undefined>;
  /** Keeps an outcome; the first one stays. Gives the one that is kept. */
  keepOutcome(
    outcome: Readonly<{ key: string; sender: string; sealed: string; at: number }>,
  ): Promise<string>;
  /** Removes all of a person's. Gives how many accounts there were. */
  forget(sender: string): Promise<number>;
}>;

/** A flow's columns, as both stores give them. */
export type FlowRow = Readonly<{
  id: string;
  sender: string;
  capability: string;
  conversation: string;
  state: string;
  sealed: string;
  dueAt: number | null;
  expiresAt: number;
}>;

/** Reads a row; a state of another version counts as ended. */
export function readFlow(row: FlowRow | undefined): KeptFlow | undefined {
  if (row === undefined) return undefined;
  const { dueAt, state, ...rest } = row;
  const known = flowStates.find((one) => one === state) ?? 'ended';
  return { ...rest, state: known, dueAt: dueAt === null ? undefined : dueAt };
}
