import {
  readFlow,
  type CapabilityRecords,
  type FlowRow,
  type KeptAccount,
  type KeptFlow,
} from '../capability-records.ts';
import type { Connection } from './open-connection.ts';

const flowColumns =
  'id, sender, capability, conversation, state, sealed, due_at AS dueAt, expires_at AS expiresAt';

/** Accounts, sign-ins and outcomes of capabilities on the embedded store. */
export function createCapabilityRecords(connection: Connection): CapabilityRecords {
  const claim = connection.prepare(
    'INSERT INTO capability_key (one, check_value) VALUES (1, ?) ON CONFLICT (one) DO NOTHING',
  );
  const claimed = connection.prepare<Readonly<{ check_value: string }>>(
    'SELECT check_value FROM capability_key WHERE one = 1',
  );
  const accountsOf = (where: string) =>
    connection.prepare<KeptAccount>(
      `SELECT sender, capability, name, sealed, linked_at AS linkedAt FROM capability_accounts
       WHERE ${where} AND (?2 IS NULL OR capability = ?2) ORDER BY linked_at, name`,
    );
  const theirs = accountsOf('sender = ?1');
  const everybodys = accountsOf('sender > ?1');
  const removeAccount = connection.prepare(
    'DELETE FROM capability_accounts WHERE sender = ? AND capability = ? AND name = ?',
  );
  const addAccount = connection.prepare(
    `INSERT INTO capability_accounts (sender, capability, name, sealed, linked_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (sender, capability, name) DO UPDATE SET sealed = excluded.sealed`,
  );
  const endOver = connection.prepare(
    `UPDATE capability_flows SET state = 'ended', due_at = NULL
     WHERE sender = ? AND capability = ? AND state <> 'ended' AND expires_at <= ?`,
  );
  const addFlow = connection.prepare(
    `INSERT INTO capability_flows (id, sender, capability, conversation, state, sealed, due_at, expires_at)
     VALUES (?, ?, ?, ?, 'pending', ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const open = connection.prepare<FlowRow>(
    `SELECT ${flowColumns} FROM capability_flows
     WHERE sender = ? AND capability = ? AND state IN ('pending', 'submitted')`,
  );
  const one = connection.prepare<FlowRow>(`SELECT ${flowColumns} FROM capability_flows WHERE id = ?`);
  const flows = connection.prepare<FlowRow>(
    `SELECT ${flowColumns} FROM capability_flows WHERE sender = ? ORDER BY seq DESC`,
  );
  const flowsSince = connection.prepare<FlowRow>(
    `SELECT ${flowColumns} FROM capability_flows WHERE expires_at > ?`,
  );
  const change = connection.prepare(
    'UPDATE capability_flows SET state = ?, sealed = ?, due_at = ? WHERE id = ? AND state = ?',
  );
  const endLinked = connection.prepare(
    `UPDATE capability_flows SET state = 'ended', sealed = '', due_at = NULL WHERE id = ? AND state = 'linked'`,
  );
  const endFlows = connection.prepare(
    `UPDATE capability_flows SET state = 'ended', due_at = NULL
     WHERE sender = ?1 AND state <> 'ended' AND (?2 IS NULL OR conversation = ?2)`,
  );
  const takeDue = connection.prepare<FlowRow>(
    `UPDATE capability_flows SET due_at = ?2
     WHERE id = (SELECT id FROM capability_flows WHERE due_at <= ?1 ORDER BY due_at LIMIT 1) RETURNING ${flowColumns}`,
  );
  const holdOn = connection.prepare('UPDATE capability_flows SET due_at = ? WHERE id = ? AND due_at = ?');
  const nextDue = connection.prepare<Readonly<{ at: number | null }>>(
    'SELECT MIN(due_at) AS at FROM capability_flows WHERE due_at IS NOT NULL',
  );
  const outcome = connection.prepare<Readonly<{ sealed: string }>>(
    'SELECT sealed FROM capability_outcomes WHERE key = ?',
  );
  const keepOutcome = connection.prepare(
    'INSERT INTO capability_outcomes (key, sender, sealed, kept_at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING',
  );
  const forget = ['capability_flows', 'capability_outcomes', 'capability_accounts'].map((table) =>
    connection.prepare(`DELETE FROM ${table} WHERE sender = ?`),
  );

  return {
    claimKey: async (check) =>
      connection.write('power', () => {
        claim.run(check);
        return claimed.get()?.check_value ?? '';
      }),
    keyCheck: async () => claimed.get()?.check_value,
    accounts: async ({ sender, capability }) =>
      (sender === undefined ? everybodys : theirs)
        .all(sender ?? '', capability ?? null)
        .map((row) => ({ ...row })),
    removeAccount: async ({ sender, capability, name }) =>
      connection.write('power', () => removeAccount.run(sender, capability, name)) > 0,
    begin: async ({ id, sender, capability, conversation, sealed, dueAt, expiresAt }, now) =>
      connection.write('power', (): KeptFlow => {
        endOver.run(sender, capability, now);
        addFlow.run(id, sender, capability, conversation, sealed, dueAt ?? null, expiresAt);
        const begun = readFlow(open.get(sender, capability));
        if (begun === undefined) throw new Error('a flow of this id exists already');
        return begun;
      }),
    flow: async (id) => readFlow(one.get(id)),
    flows: async (sender) => flows.all(sender).flatMap((row) => readFlow(row) ?? []),
    flowsSince: async (since) => flowsSince.all(since).flatMap((row) => readFlow(row) ?? []),
    change: async (id, from, { state, sealed, dueAt }) =>
      connection.write('power', () => change.run(state, sealed, dueAt ?? null, id, from)) > 0,
    link: async (id, { sender, capability, name, sealed, linkedAt }) =>
      connection.write('power', () => {
        if (endLinked.run(id) === 0) return false;
        addAccount.run(sender, capability, name, sealed, linkedAt);
        return true;
      }),
    endFlows: async ({ sender, conversation }) =>
      connection.write('power', () => endFlows.run(sender, conversation ?? null)),
    takeDue: async (now, againAt) => readFlow(connection.write('process', () => takeDue.get(now, againAt))),
    holdOn: async (id, from, to) => connection.write('process', () => holdOn.run(to, id, from)) > 0,
    nextDue: async () => nextDue.get()?.at ?? undefined,
    outcome: async (key) => outcome.get(key)?.sealed,
    keepOutcome: async ({ key, sender, sealed, at }) =>
      connection.write('power', () => {
        keepOutcome.run(key, sender, sealed, at);
        return outcome.get(key)?.sealed ?? sealed;
      }),
    forget: async (sender) =>
      connection.write('power', () => forget.map((remove) => remove.run(sender)).at(-1) ?? 0),
  };
}
