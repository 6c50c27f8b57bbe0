import type { Sql, SqlCall, Steps } from './sql.ts';

/** What an account is found by. */
export type KeptAccountKey = Readonly<{
  sender: string;
  capability: string;
  /** A keyed hash of the provider's name for the account. */
  name: string;
}>;

/** An account that a person linked (C6). The bot encrypts all details in `sealed`. */
export type KeptAccount = KeptAccountKey &
  Readonly<{
    sealed: string;
    linkedAt: number;
  }>;

/**
 * States of a sign-in. `pending`: the person has to act. `submitted`: they gave a code. `linked`: they have to confirm
 * the account. `ended`: it was used, refused or stopped.
 */
const flowStates = ['pending', 'submitted', 'linked', 'ended'] as const;
type FlowState = (typeof flowStates)[number];

/** A sign-in that a person began (C6). */
export type KeptFlow = Readonly<{
  id: string;
  sender: string;
  capability: string;
  conversation: string;
  state: FlowState;
  sealed: string;
  /** When the bot has to act next; undefined while only the person has to. */
  dueAt?: number;
  expiresAt: number;
}>;

export type FlowChange = Readonly<{ state: FlowState; sealed: string; dueAt?: number }>;

type KeyCheck = Readonly<{
  /** Stores this check value of the key if there is none, and returns the one in force. */
  claimKey(check: string): Promise<string>;
  /** The stored check value; undefined if no key was ever used. */
  keyCheck(): Promise<string | undefined>;
}>;

type Accounts = Readonly<{
  /** Linked accounts, oldest first: of one person or one capability if they are named. */
  accounts(of: Readonly<{ sender?: string; capability?: string }>): Promise<readonly KeptAccount[]>;
  removeAccount(account: KeptAccountKey): Promise<boolean>;
  /** Stores other encrypted details. False if they are no longer `from`, so that only one of two changes counts. */
  changeAccount(account: KeptAccount, from: string): Promise<boolean>;
}>;

type Flows = Readonly<{
  /** Adds a flow. If the person has an open one for this capability, that is returned instead. */
  begin(flow: Omit<KeptFlow, 'state'>, now: number): Promise<KeptFlow>;
  flow(id: string): Promise<KeptFlow | undefined>;
  /** All flows of a person, newest first, including ended ones. */
  flows(sender: string): Promise<readonly KeptFlow[]>;
  /** Flows of everybody that had not expired at `since`. */
  flowsSince(since: number): Promise<readonly KeptFlow[]>;
  /** Changes a flow. False if it is not in the state `from`. */
  change(id: string, from: FlowState, to: FlowChange): Promise<boolean>;
  /**
   * Ends a `linked` flow and stores its account, in one transaction. False if it is not linked. `left` stays of the flow,
   * which is due again then; by default nothing does.
   */
  link(
    id: string,
    account: KeptAccount,
    left?: Readonly<{ sealed: string; dueAt: number }>,
  ): Promise<boolean>;
  endFlows(of: Readonly<{ sender: string; conversation?: string }>): Promise<number>;
}>;

/** Flows in which the bot has to act, taken by one process at a time. */
type DueFlows = Readonly<{
  /** Takes a flow that is due. It is due again at `againAt`, because its taker may die. */
  takeDue(now: number, againAt: number): Promise<KeptFlow | undefined>;
  /** Moves the due time of a taken flow. False if it was changed or taken meanwhile. */
  holdOn(id: string, from: number, to: number): Promise<boolean>;
  nextDue(): Promise<number | undefined>;
}>;

type Outcomes = Readonly<{
  outcome(key: string): Promise<string | undefined>;
  /** Stores an outcome. If there is one already, that stays and is returned. */
  keepOutcome(
    outcome: Readonly<{ key: string; sender: string; sealed: string; at: number }>,
  ): Promise<string>;
}>;

/**
 * Linked accounts, sign-ins and outcomes of calls. Changes are durable when a call resolves, except which process holds
 * a flow (C6, C8).
 */
export type CapabilityRecords = KeyCheck &
  Accounts &
  Flows &
  DueFlows &
  Outcomes &
  Readonly<{ forget(sender: string): Promise<number> }>;

type FlowRow = Omit<KeptFlow, 'state' | 'dueAt'> & Readonly<{ state: string; dueAt: number | null }>;

const flowColumns =
  'id, sender, capability, conversation, state, sealed, due_at AS "dueAt", expires_at AS "expiresAt"';

/**
 * What accounts are linked to: capabilities of programs, or MCP servers, whose `capability` is `mcp:` and their name in
 * the config (X8). Each kind sees its own accounts and sign-ins only.
 */
const kinds = { capabilities: "capability NOT LIKE 'mcp:%'", servers: "capability LIKE 'mcp:%'" } as const;

export function createCapabilityRecords(sql: Sql, kind: keyof typeof kinds): CapabilityRecords {
  const which = kinds[kind];
  const { addAccount, ...accounts } = createAccounts(sql, which);
  const removeOf = (table: string, of: string) =>
    sql.statement(`DELETE FROM ${table} WHERE sender = ?1 AND ${of}`);
  const removeFlows = removeOf('capability_flows', which);
  const removeOutcomes = removeOf('capability_outcomes', kind === 'capabilities' ? 'TRUE' : 'FALSE');
  const removeAccounts = removeOf('capability_accounts', which);

  function* forget(sender: string): Steps<number> {
    yield* removeFlows(sender);
    yield* removeOutcomes(sender);
    return (yield* removeAccounts(sender)).changed;
  }

  return {
    ...createKeyCheck(sql),
    ...accounts,
    ...createFlows(sql, addAccount, which),
    ...createDueFlows(sql, which),
    ...createOutcomes(sql),
    forget: (sender) => sql.write('power', forget(sender)),
  };
}

function createKeyCheck({ statement, read, write }: Sql): KeyCheck {
  const claim = statement(
    'INSERT INTO capability_key (one, check_value) VALUES (TRUE, ?1) ON CONFLICT (one) DO NOTHING',
  );
  const claimed = statement<Readonly<{ check: string }>>(
    'SELECT check_value AS "check" FROM capability_key WHERE one = TRUE',
  );

  function* claimKey(check: string): Steps<string> {
    yield* claim(check);
    return (yield* claimed()).rows[0]?.check ?? '';
  }

  return {
    claimKey: (check) => write('power', claimKey(check)),
    keyCheck: async () => (await read(claimed()))[0]?.check,
  };
}

type AddAccount = (account: KeptAccount) => SqlCall;

function createAccounts(
  { statement, read, write }: Sql,
  which: string,
): Accounts & Readonly<{ addAccount: AddAccount }> {
  const accountsOf = (whose: string) =>
    statement<KeptAccount>(
      `SELECT sender, capability, name, sealed, linked_at AS "linkedAt" FROM capability_accounts
       WHERE ${whose} AND ${which} AND (CAST(?2 AS TEXT) IS NULL OR capability = ?2) ORDER BY linked_at, name`,
    );
  const theirs = accountsOf('sender = ?1');
  const everybodys = accountsOf('sender > ?1');
  const remove = statement(
    'DELETE FROM capability_accounts WHERE sender = ?1 AND capability = ?2 AND name = ?3',
  );
  const change = statement(
    'UPDATE capability_accounts SET sealed = ?4 WHERE sender = ?1 AND capability = ?2 AND name = ?3 AND sealed = ?5',
  );
  const add = statement(
    `INSERT INTO capability_accounts (sender, capability, name, sealed, linked_at) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (sender, capability, name) DO UPDATE SET sealed = excluded.sealed`,
  );

  return {
    addAccount: ({ sender, capability, name, sealed, linkedAt }) =>
      add(sender, capability, name, sealed, linkedAt),
    async accounts({ sender, capability }) {
      const accounts = sender === undefined ? everybodys : theirs;
      return (await read(accounts(sender ?? '', capability ?? null))).map((row) => ({ ...row }));
    },
    removeAccount: async ({ sender, capability, name }) =>
      (await write('power', remove(sender, capability, name))).changed > 0,
    changeAccount: async ({ sender, capability, name, sealed }, from) =>
      (await write('power', change(sender, capability, name, sealed, from))).changed > 0,
  };
}

function createFlows({ statement, read, write }: Sql, addAccount: AddAccount, which: string): Flows {
  const endOver = statement(
    `UPDATE capability_flows SET state = 'ended', due_at = NULL
     WHERE sender = ?1 AND capability = ?2 AND state <> 'ended' AND expires_at <= ?3`,
  );
  const addFlow = statement(
    `INSERT INTO capability_flows (id, sender, capability, conversation, state, sealed, due_at, expires_at)
     VALUES (?1, ?2, ?3, ?4, 'pending', ?5, ?6, ?7) ON CONFLICT DO NOTHING`,
  );
  const flowsWhere = (these: string) =>
    statement<FlowRow>(`SELECT ${flowColumns} FROM capability_flows WHERE ${which} AND ${these}`);
  const open = flowsWhere(`sender = ?1 AND capability = ?2 AND state IN ('pending', 'submitted')`);
  const one = flowsWhere('id = ?1');
  const ofSender = flowsWhere('sender = ?1 ORDER BY seq DESC');
  const since = flowsWhere('expires_at > ?1');
  const change = statement(
    'UPDATE capability_flows SET state = ?1, sealed = ?2, due_at = ?3 WHERE id = ?4 AND state = ?5',
  );
  const endLinked = statement(
    `UPDATE capability_flows SET state = 'ended', sealed = ?2, due_at = ?3 WHERE id = ?1 AND state = 'linked'`,
  );
  const endFlows = statement(
    `UPDATE capability_flows SET state = 'ended', due_at = NULL
     WHERE sender = ?1 AND ${which} AND state <> 'ended' AND (CAST(?2 AS TEXT) IS NULL OR conversation = ?2)`,
  );

  function* begin(flow: Omit<KeptFlow, 'state'>, now: number): Steps<KeptFlow> {
    const { id, sender, capability, conversation, sealed, dueAt, expiresAt } = flow;
    yield* endOver(sender, capability, now);
    yield* addFlow(id, sender, capability, conversation, sealed, dueAt ?? null, expiresAt);
    const [begun] = readFlows((yield* open(sender, capability)).rows);
    if (begun === undefined) throw new Error('a flow of this id exists already');
    return begun;
  }

  function* link(...[id, account, left]: Parameters<Flows['link']>): Steps<boolean> {
    if ((yield* endLinked(id, left?.sealed ?? '', left?.dueAt ?? null)).changed === 0) return false;
    yield* addAccount(account);
    return true;
  }

  return {
    begin: (flow, now) => write('power', begin(flow, now)),
    flow: async (id) => readFlows(await read(one(id)))[0],
    flows: async (sender) => readFlows(await read(ofSender(sender))),
    flowsSince: async (at) => readFlows(await read(since(at))),
    change: async (id, from, { state, sealed, dueAt }) =>
      (await write('power', change(state, sealed, dueAt ?? null, id, from))).changed > 0,
    link: (...of) => write('power', link(...of)),
    endFlows: async ({ sender, conversation }) =>
      (await write('power', endFlows(sender, conversation ?? null))).changed,
  };
}

function createDueFlows({ statement, read, write, dialect }: Sql, which: string): DueFlows {
  const takeDue = statement<FlowRow>(
    `UPDATE capability_flows SET due_at = ?2 WHERE id = (
       SELECT id FROM capability_flows WHERE due_at <= ?1 AND ${which} ORDER BY due_at LIMIT 1 ${dialect.skipLocked}
     ) RETURNING ${flowColumns}`,
  );
  const holdOn = statement('UPDATE capability_flows SET due_at = ?1 WHERE id = ?2 AND due_at = ?3');
  const nextDue = statement<Readonly<{ at: number | null }>>(
    `SELECT MIN(due_at) AS at FROM capability_flows WHERE due_at IS NOT NULL AND ${which}`,
  );
  return {
    takeDue: async (now, againAt) => readFlows((await write('server', takeDue(now, againAt))).rows)[0],
    holdOn: async (id, from, to) => (await write('process', holdOn(to, id, from))).changed > 0,
    nextDue: async () => (await read(nextDue()))[0]?.at ?? undefined,
  };
}

function createOutcomes({ statement, read, write }: Sql): Outcomes {
  const outcome = statement<Readonly<{ sealed: string }>>(
    'SELECT sealed FROM capability_outcomes WHERE key = ?1',
  );
  const add = statement(
    'INSERT INTO capability_outcomes (key, sender, sealed, kept_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO NOTHING',
  );

  function* keep({
    key,
    sender,
    sealed,
    at,
  }: Parameters<CapabilityRecords['keepOutcome']>[0]): Steps<string> {
    yield* add(key, sender, sealed, at);
    return (yield* outcome(key)).rows[0]?.sealed ?? sealed;
  }

  return {
    outcome: async (key) => (await read(outcome(key)))[0]?.sealed,
    keepOutcome: (kept) => write('power', keep(kept)),
  };
}

/** Reads flows; an unknown state counts as ended. */
function readFlows(rows: readonly FlowRow[]): readonly KeptFlow[] {
  return rows.map(({ dueAt, state, ...rest }) => ({
    ...rest,
    state: flowStates.find((one) => one === state) ?? 'ended',
    dueAt: dueAt ?? undefined,
  }));
}
