import {
  readFlow,
  type CapabilityRecords,
  type FlowRow,
  type KeptAccount,
  type KeptFlow,
} from '../capability-records.ts';
import type { Answer, Database } from './open-database.ts';

const flowColumns =
  'id, sender, capability, conversation, state, sealed, due_at AS "dueAt", expires_at AS "expiresAt"';

/** Accounts, sign-ins and outcomes of capabilities on PostgreSQL. */
export function createCapabilityRecords({ query, transaction }: Database): CapabilityRecords {
  const write = <Row = never>(sql: string, values: readonly unknown[]): Promise<Answer<Row>> =>
    transaction({ outlives: 'disk' }, (within) => within<Row>(sql, values));

  return {
    claimKey: (check) =>
      transaction({ outlives: 'disk' }, async (within) => {
        await within(
          'INSERT INTO skillet.capability_key (one, check_value) VALUES (true, $1) ON CONFLICT (one) DO NOTHING',
          [check],
        );
        const { rows } = await within<Readonly<{ check: string }>>(
          'SELECT check_value AS check FROM skillet.capability_key',
        );
        return rows[0]?.check ?? '';
      }),
    async keyCheck() {
      const { rows } = await query<Readonly<{ check: string }>>(
        'SELECT check_value AS check FROM skillet.capability_key',
      );
      return rows[0]?.check;
    },
    async accounts({ sender, capability }) {
      const { rows } = await query<KeptAccount>(
        `SELECT sender, capability, name, sealed, linked_at AS "linkedAt" FROM skillet.capability_accounts
         WHERE ($1::text IS NULL OR sender = $1) AND ($2::text IS NULL OR capability = $2) ORDER BY linked_at, name`,
        [sender ?? null, capability ?? null],
      );
      return rows;
    },
    async removeAccount({ sender, capability, name }) {
      const { changed } = await write(
        'DELETE FROM skillet.capability_accounts WHERE sender = $1 AND capability = $2 AND name = $3',
        [sender, capability, name],
      );
      return changed > 0;
    },
    begin: ({ id, sender, capability, conversation, sealed, dueAt, expiresAt }, now) =>
      transaction({ outlives: 'disk' }, async (within): Promise<KeptFlow> => {
        await within(
          `UPDATE skillet.capability_flows SET state = 'ended', due_at = NULL
           WHERE sender = $1 AND capability = $2 AND state <> 'ended' AND expires_at <= $3`,
          [sender, capability, now],
        );
        await within(
          `INSERT INTO skillet.capability_flows (id, sender, capability, conversation, state, sealed, due_at, expires_at)
           VALUES ($1, $2, $3, $4, 'pending', $5, $6, $7) ON CONFLICT DO NOTHING`,
          [id, sender, capability, conversation, sealed, dueAt ?? null, expiresAt],
        );
        const { rows } = await within<FlowRow>(
          `SELECT ${flowColumns} FROM skillet.capability_flows
           WHERE sender = $1 AND capability = $2 AND state IN ('pending', 'submitted')`,
          [sender, capability],
        );
        const begun = readFlow(rows[0]);
        if (begun === undefined) throw new Error('a flow of this id exists already');
        return begun;
      }),
    async flow(id) {
      const { rows } = await query<FlowRow>(
        `SELECT ${flowColumns} FROM skillet.capability_flows WHERE id = $1`,
        [id],
      );
      return readFlow(rows[0]);
    },
    async flows(sender) {
      const { rows } = await query<FlowRow>(
        `SELECT ${flowColumns} FROM skillet.capability_flows WHERE sender = $1 ORDER BY seq DESC`,
        [sender],
      );
      return rows.flatMap((row) => readFlow(row) ?? []);
    },
    async flowsSince(since) {
      const { rows } = await query<FlowRow>(
        `SELECT ${flowColumns} FROM skillet.capability_flows WHERE expires_at > $1`,
        [since],
      );
      return rows.flatMap((row) => readFlow(row) ?? []);
    },
    async change(id, from, { state, sealed, dueAt }) {
      const { changed } = await write(
        'UPDATE skillet.capability_flows SET state = $1, sealed = $2, due_at = $3 WHERE id = $4 AND state = $5',
        [state, sealed, dueAt ?? null, id, from],
      );
      return changed > 0;
    },
    link: (id, { sender, capability, name, sealed, linkedAt }) =>
      transaction({ outlives: 'disk' }, async (within) => {
        const { changed } = await within(
          `UPDATE skillet.capability_flows SET state = 'ended', sealed = '', due_at = NULL
           WHERE id = $1 AND state = 'linked'`,
          [id],
        );
        if (changed === 0) return false;
        await within(
          `INSERT INTO skillet.capability_accounts (sender, capability, name, sealed, linked_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (sender, capability, name) DO UPDATE SET sealed = excluded.sealed`,
          [sender, capability, name, sealed, linkedAt],
        );
        return true;
      }),
    async endFlows({ sender, conversation }) {
      const { changed } = await write(
        `UPDATE skillet.capability_flows SET state = 'ended', due_at = NULL
         WHERE sender = $1 AND state <> 'ended' AND ($2::text IS NULL OR conversation = $2)`,
        [sender, conversation ?? null],
      );
      return changed;
    },
    async takeDue(now, againAt) {
      const { rows } = await write<FlowRow>(
        `UPDATE skillet.capability_flows SET due_at = $2 WHERE id = (
           SELECT id FROM skillet.capability_flows WHERE due_at <= $1 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
         ) RETURNING ${flowColumns}`,
        [now, againAt],
      );
      return readFlow(rows[0]);
    },
    async holdOn(id, from, to) {
      const { changed } = await query(
        'UPDATE skillet.capability_flows SET due_at = $1 WHERE id = $2 AND due_at = $3',
        [to, id, from],
      );
      return changed > 0;
    },
    async nextDue() {
      const { rows } = await query<Readonly<{ at: number | null }>>(
        'SELECT min(due_at) AS at FROM skillet.capability_flows WHERE due_at IS NOT NULL',
      );
      return rows[0]?.at ?? undefined;
    },
    async outcome(key) {
      const { rows } = await query<Readonly<{ sealed: string }>>(
        'SELECT sealed FROM skillet.capability_outcomes WHERE key = $1',
        [key],
      );
      return rows[0]?.sealed;
    },
    keepOutcome: ({ key, sender, sealed, at }) =>
      transaction({ outlives: 'disk' }, async (within) => {
        await within(
          `INSERT INTO skillet.capability_outcomes (key, sender, sealed, kept_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (key) DO NOTHING`,
          [key, sender, sealed, at],
        );
        const { rows } = await within<Readonly<{ sealed: string }>>(
          'SELECT sealed FROM skillet.capability_outcomes WHERE key = $1',
          [key],
        );
        return rows[0]?.sealed ?? sealed;
      }),
    forget: (sender) =>
      transaction({ outlives: 'disk' }, async (within) => {
        await within('DELETE FROM skillet.capability_flows WHERE sender = $1', [sender]);
        await within('DELETE FROM skillet.capability_outcomes WHERE sender = $1', [sender]);
        const { changed } = await within('DELETE FROM skillet.capability_accounts WHERE sender = $1', [
          sender,
        ]);
        return changed;
      }),
  };
}
