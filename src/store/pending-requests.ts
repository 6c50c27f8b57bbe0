import { z } from 'zod';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Log } from '../lib/log.ts';
import type { Sql, Steps } from './sql.ts';
import { readStored } from './stored-json.ts';
import type { StopOrder } from './store.ts';
import { storedConversation } from './stored-message.ts';

const answer = z.object({
  by: z.string(),
  name: z.string().optional(),
  value: z.string(),
  at: z.number(),
  call: z.string().optional(),
});

export const storedRequest = z.object({
  conversation: storedConversation,
  transcript: z.string(),
  toolUseId: z.string(),
  payload: z.record(z.string(), z.json()),
  askedAt: z.number(),
  answer: answer.optional(),
});

/** A question that waits for a person's answer, across restarts. */
export type PendingRequest = Readonly<{
  id: string;
  /** `approval` is about a tool call (T8). `question` comes from a run (U14), or is about money (G6). */
  kind: 'approval' | 'question';
  conversation: Conversation;
  /** Qualified id of the person whose message began the turn. */
  requester: string;
  /** Name of the transcript that waits for the answer. */
  transcript: string;
  toolUseId: string;
  payload: JsonObject;
  askedAt: number;
  expiresAt: number;
  state: 'open' | 'answered' | 'expired' | 'cancelled';
  /**
   * `name` is that of the person at that time. `call` is the run that brought the answer, so that only one takes it.
   */
  answer?: Readonly<{ by: string; name?: string; value: string; at: number; call?: string }>;
}>;

export type JsonObject = Readonly<{ [key: string]: JsonValue | undefined }>;
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** Open questions and approvals. Only one answer counts. */
export type PendingRequests = Readonly<{
  find(id: string): Promise<PendingRequest | undefined>;
  open(conversation: Conversation): Promise<readonly PendingRequest[]>;
  /** All open ones of every conversation, oldest first. */
  waiting(): Promise<readonly PendingRequest[]>;
  /** Adds a question. A known id stays as it is. */
  add(request: Omit<PendingRequest, 'state' | 'answer'>): Promise<void>;
  /** Stores an answer. Only the first one in time counts. */
  answer(id: string, answer: NonNullable<PendingRequest['answer']>): Promise<'answered' | 'late' | 'unknown'>;
  expire(now: number): Promise<readonly string[]>;
  /**
   * Approvals that ended between 10 s and a day ago without a notice, because the process died. Each is returned once,
   * and again every 5 minutes while the outbox row `outcomeKey` is missing.
   */
  takeUnshown(now: number): Promise<readonly string[]>;
}>;

/** Whether work stands still until somebody says yes: to a call (T8), or to more money (G6). */
export function waitsForYes({ kind, payload }: PendingRequest): boolean {
  return kind === 'approval' || payload['byApprover'] === true;
}

export function outcomeKey(id: string): string {
  return `ask:${id}!outcome`;
}

const unshownMs = 10_000;
/** The caller of `takeUnshown` may die, so it has this long. */
const unshownLeaseMs = 5 * 60_000;
const longestUnshownMs = 24 * 60 * 60_000;
const columns = 'id, kind, requester, state, expires_at, request';
const most = 200;

type Row = Pick<PendingRequest, 'id' | 'kind' | 'requester' | 'state'> &
  Readonly<{ expires_at: number; request: string }>;
type Answer = NonNullable<PendingRequest['answer']>;

export function createPendingRequests(
  sql: Sql,
  log: Log,
): PendingRequests & Readonly<{ cancel: CancelRequests }> {
  const { read, write } = sql;
  const insert = sql.statement(
    `INSERT INTO pending_requests (id, kind, conversation, requester, state, expires_at, request)
     VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6) ON CONFLICT (id) DO NOTHING`,
  );
  const one = sql.statement<Row>(`SELECT ${columns} FROM pending_requests WHERE id = ?1`);
  const openIn = sql.lookup<Row>(
    `SELECT seq, ${columns} FROM pending_requests WHERE state = 'open' AND conversation = ?1`,
    { most, order: 'seq' },
  );
  // Reads by the index of open ones, which is ordered by their expiry.
  const allOpen = sql.statement<Row>(
    `SELECT ${columns} FROM pending_requests WHERE state = 'open' AND expires_at > 0 ORDER BY +seq`,
  );
  const cancel = sql.statement<Readonly<{ id: string }>>(
    `UPDATE pending_requests SET state = 'cancelled', settled_at = ?1
     WHERE state = 'open' AND conversation = ?2 AND (CAST(?3 AS TEXT) IS NULL OR requester = ?3)
       AND (CAST(?4 AS TEXT) IS NULL OR id = ?4) RETURNING id`,
  );
  const expire = sql.statement<Readonly<{ id: string }>>(
    `UPDATE pending_requests SET state = 'expired', settled_at = ?1 WHERE state = 'open' AND expires_at <= ?1 RETURNING id`,
  );

  return {
    find: async (id) => readRequests(await read(one(id)), log)[0],
    open: async (conversation) => readRequests(await openIn(conversationKey(conversation)), log),
    waiting: async () => readRequests(await read(allOpen()), log),
    async add({ id, kind, requester, expiresAt, ...rest }) {
      const conversation = conversationKey(rest.conversation);
      await write('server', insert(id, kind, conversation, requester, expiresAt, JSON.stringify(rest)));
    },
    answer: createAnswerRequest(sql, log),
    expire: async (now) => idsOf((await write('process', expire(now))).rows),
    takeUnshown: createTakeUnshown(sql),
    *cancel(asked, now) {
      const cancelled: string[] = [];
      for (const { conversation, requester, ids = [null] } of asked)
        for (const id of ids) {
          const { rows } = yield* cancel(now, conversationKey(conversation), requester ?? null, id);
          cancelled.push(...idsOf(rows));
        }
      return cancelled;
    },
  };
}

function createAnswerRequest(sql: Sql, log: Log): PendingRequests['answer'] {
  // A second answer at the same time waits here and is late.
  const held = sql.statement<Row>(
    `SELECT ${columns} FROM pending_requests WHERE id = ?1 ${sql.dialect.forUpdate}`,
  );
  const settle = sql.statement(
    `UPDATE pending_requests SET state = 'answered', request = ?1, settled_at = ?2 WHERE state = 'open' AND id = ?3`,
  );

  function* answer(id: string, given: Answer): Steps<'answered' | 'late' | 'unknown'> {
    const [request] = readRequests((yield* held(id)).rows, log);
    if (request === undefined) return 'unknown';
    if (request.state !== 'open' || given.at >= request.expiresAt) return 'late';
    const { conversation, transcript, toolUseId, payload, askedAt } = request;
    const kept = { conversation, transcript, toolUseId, payload, askedAt, answer: given };
    yield* settle(JSON.stringify(kept), given.at, id);
    return 'answered';
  }

  return (id, given) => sql.write('power', answer(id, given));
}

function createTakeUnshown({ statement, write }: Sql): PendingRequests['takeUnshown'] {
  // A second process finds the lease of the first.
  const take = statement<Readonly<{ id: string }>>(
    `UPDATE pending_requests SET settled_at = ?1 WHERE settled_at <= ?2 AND expires_at > ?3 AND kind = 'approval'
       AND NOT EXISTS (SELECT 1 FROM outbox WHERE key = '${outcomeKey("' || id || '")}#0') RETURNING id`,
  );
  return async (now) => {
    const times = [now + unshownLeaseMs, now - unshownMs, now - longestUnshownMs] as const;
    return idsOf((await write('process', take(...times))).rows);
  };
}

/** Cancels open questions within a transaction, and returns their ids. */
export type CancelRequests = (
  asked: NonNullable<StopOrder['pendingRequests']>,
  now: number,
) => Steps<readonly string[]>;

function idsOf(rows: readonly Readonly<{ id: string }>[]): readonly string[] {
  return rows.map(({ id }) => id);
}

/** Reads questions. A damaged one is logged and counts as missing (Q11). */
function readRequests(rows: readonly Row[], log: Log): readonly PendingRequest[] {
  return rows.flatMap(({ id, kind, requester, state, expires_at: expiresAt, request }) => {
    const stored = readStored(storedRequest, request);
    if (stored.ok) return [{ answer: undefined, ...stored.value, id, kind, requester, state, expiresAt }];
    log.error({ request: id, reason: stored.reason }, 'a stored question is damaged and counts as missing');
    return [];
  });
}
