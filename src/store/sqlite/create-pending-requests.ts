import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import { unshown, readAsk, type PendingRequests, type PendingRequestRow } from '../pending-requests.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Connection } from './open-connection.ts';

type OwnAsks = PendingRequests &
  Readonly<{
    /** Ends those that are open, within a transaction. Gives their ids. */
    cancel(conversation: Conversation, requester?: string): readonly string[];
  }>;

/** Asks on the embedded store. A damaged one counts as missing and is reported (Q11): nothing is done on it. */
export function createAsks(connection: Connection, clock: Clock, log: Log): OwnAsks {
  const columns = 'id, kind, requester, state, expires_at, ask';
  const insert = connection.prepare(
    `INSERT INTO asks (id, kind, conversation, requester, state, expires_at, ask) VALUES (?, ?, ?, ?, 'open', ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  );
  const one = connection.prepare<PendingRequestRow>(`SELECT ${columns} FROM asks WHERE id = ?`);
  const open = connection.prepare<PendingRequestRow>(
    `SELECT ${columns} FROM asks WHERE state = 'open' AND conversation = ? ORDER BY seq`,
  );
  const settle = connection.prepare(
    `UPDATE asks SET state = 'answered', ask = ?, settled_at = ? WHERE state = 'open' AND id = ?`,
  );
  const cancel = connection.prepare<Readonly<{ id: string }>>(
    `UPDATE asks SET state = 'cancelled', settled_at = ?1
     WHERE state = 'open' AND conversation = ?2 AND (?3 IS NULL OR requester = ?3) RETURNING id`,
  );
  const expire = connection.prepare<Readonly<{ id: string }>>(
    `UPDATE asks SET state = 'expired', settled_at = ?1 WHERE state = 'open' AND expires_at <= ?1 RETURNING id`,
  );
  const take = connection.prepare<Readonly<{ id: string }>>(
    `UPDATE asks SET settled_at = ?1 + ${unshown.leaseMs}
     WHERE settled_at <= ?1 - ${unshown.afterMs} AND expires_at > ?1 - ${unshown.longestMs} AND kind = 'approval'
       AND NOT EXISTS (SELECT 1 FROM outbox WHERE key = ${unshown.part}) RETURNING id`,
  );

  return {
    find: async (id) => readAsk(one.get(id), log),
    open: async (conversation) =>
      open.all(conversationKey(conversation)).flatMap((row) => readAsk(row, log) ?? []),
    async add({ id, kind, requester, expiresAt, ...rest }) {
      const lane = conversationKey(rest.conversation);
      connection.write('process', () =>
        insert.run(id, kind, lane, requester, expiresAt, JSON.stringify(rest)),
      );
    },
    answer: async (id, answer) =>
      connection.write('power', () => {
        const ask = readAsk(one.get(id), log);
        if (ask === undefined) return 'unknown';
        if (ask.state !== 'open' || answer.at >= ask.expiresAt) return 'late';
        const { conversation, transcript, toolUseId, payload, askedAt } = ask;
        const kept = { conversation, transcript, toolUseId, payload, askedAt, answer };
        settle.run(JSON.stringify(kept), answer.at, id);
        return 'answered';
      }),
    cancel: (conversation, requester) =>
      cancel.all(clock.now(), conversationKey(conversation), requester ?? null).map(({ id }) => id),
    expire: async (now) => connection.write('process', () => expire.all(now).map(({ id }) => id)),
    takeUnshown: async (now) => connection.write('process', () => take.all(now).map(({ id }) => id)),
  };
}
