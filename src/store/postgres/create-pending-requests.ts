import { conversationKey } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import {
  unshown,
  readAsk,
  type PendingRequest,
  type PendingRequests,
  type PendingRequestRow,
} from '../pending-requests.ts';
import { createBatch } from './create-batch.ts';
import type { Database, Query } from './open-database.ts';

const columns = 'id, kind, requester, state, expires_at, ask';
/** Conversations looked for in one statement. */
const most = 200;

/** Asks on PostgreSQL. A damaged one counts as missing and is reported (Q11): nothing is done on it. */
export function createAsks({ query, transaction }: Database, log: Log): PendingRequests {
  // Every turn looks whether somebody waits for what it brings.
  const openIn = createBatch<string, readonly PendingRequestRow[]>(async (conversations) => {
    const { rows } = await query<PendingRequestRow & Readonly<{ conversation: string }>>(
      `SELECT ${columns}, conversation FROM skillet.asks WHERE state = 'open' AND conversation = ANY($1) ORDER BY seq`,
      [conversations],
    );
    const byConversation = Map.groupBy(rows, ({ conversation }) => conversation);
    return conversations.map((conversation) => byConversation.get(conversation) ?? []);
  }, most);

  async function answer(within: Query, id: string, given: NonNullable<PendingRequest['answer']>) {
    // Two answers at once, in two processes perhaps: the second waits here and is late.
    const { rows } = await within<PendingRequestRow>(
      `SELECT ${columns} FROM skillet.asks WHERE id = $1 FOR UPDATE`,
      [id],
    );
    const ask = readAsk(rows[0], log);
    if (ask === undefined) return 'unknown';
    if (ask.state !== 'open' || given.at >= ask.expiresAt) return 'late';
    const { conversation, transcript, toolUseId, payload, askedAt } = ask;
    const kept = { conversation, transcript, toolUseId, payload, askedAt, answer: given };
    await within(`UPDATE skillet.asks SET state = 'answered', ask = $2, settled_at = $3 WHERE id = $1`, [
      id,
      JSON.stringify(kept),
      given.at,
    ]);
    return 'answered';
  }

  return {
    async find(id) {
      const { rows } = await query<PendingRequestRow>(`SELECT ${columns} FROM skillet.asks WHERE id = $1`, [
        id,
      ]);
      return readAsk(rows[0], log);
    },
    async open(conversation) {
      const rows = await openIn(conversationKey(conversation));
      return rows.flatMap((row) => readAsk(row, log) ?? []);
    },
    async add({ id, kind, requester, expiresAt, ...rest }) {
      const lane = conversationKey(rest.conversation);
      await transaction({ outlives: 'disk' }, (within) =>
        within(
          `INSERT INTO skillet.asks (id, kind, conversation, requester, state, expires_at, ask)
           VALUES ($1, $2, $3, $4, 'open', $5, $6) ON CONFLICT (id) DO NOTHING`,
          [id, kind, lane, requester, expiresAt, JSON.stringify(rest)],
        ),
      );
    },
    answer: (id, given) => transaction({ outlives: 'disk' }, (within) => answer(within, id, given)),
    async expire(now) {
      const { rows } = await query<Readonly<{ id: string }>>(
        `UPDATE skillet.asks SET state = 'expired', settled_at = $1
         WHERE state = 'open' AND expires_at <= $1 RETURNING id`,
        [now],
      );
      return rows.map(({ id }) => id);
    },
    async takeUnshown(now) {
      // Where two processes ask at once, the second sees the lease of the first.
      const { rows } = await query<Readonly<{ id: string }>>(
        `UPDATE skillet.asks SET settled_at = $1::bigint + ${unshown.leaseMs}
         WHERE settled_at <= $1::bigint - ${unshown.afterMs} AND expires_at > $1::bigint - ${unshown.longestMs}
           AND kind = 'approval'
           AND NOT EXISTS (SELECT 1 FROM skillet.outbox WHERE key = ${unshown.part}) RETURNING id`,
        [now],
      );
      return rows.map(({ id }) => id);
    },
  };
}
