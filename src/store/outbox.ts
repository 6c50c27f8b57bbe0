import type { Part, Receipt } from '../core/channel.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { readShared } from './newer-row.ts';
import { hasChanged, type ByOperator, type Sql } from './sql.ts';
import type { WorkerOptions, QueueWorker } from './store.ts';
import { readStored, type ReadJson } from './stored-json.ts';
import { storedConversation, storedPart, storedReceipt } from './stored-message.ts';

export type OutboxRow = Readonly<{
  /** The key `ITEM#0`, derived from message and part, so that writing twice stores one row. */
  key: string;
  conversation: Conversation;
  part: Part;
  /** `sending` means that the outcome is unknown. */
  status: 'waiting' | 'sending' | 'sent' | 'dead';
  tries: number;
  /** How often a send was repeated after an unknown outcome. */
  repeats: number;
  /** The message that the platform already shows. The part is delivered by editing it. */
  shown?: Receipt;
}>;

type DeadPart = Readonly<{
  key: string;
  queue: string;
  error: string;
  at: number;
}>;

type DeadParts = Readonly<{
  /** Parts that were given up and are still stored, oldest first. */
  givenUp(): Promise<readonly DeadPart[]>;
  /** Resets the tries of a part that was given up. False if there is no such part. */
  revive(key: string): Promise<boolean>;
}>;

type Receipts = Readonly<{
  /** Remembers a placeholder across restarts (Q6), or forgets it if there is no receipt. */
  show(key: string, receipt: Receipt | undefined): Promise<void>;
  shown(key: string): Promise<Receipt | undefined>;
  receipt(key: string): Promise<Receipt | undefined>;
  /** The part that everybody in this chat, or in a thread of it, sees as the message with this id. */
  sentAs(chat: Conversation, message: string): Promise<OutboxRow | undefined>;
}>;

/** Marks a part before and after it is sent. */
export type SendMarks = Readonly<{
  sending(key: string): Promise<void>;
  sent(key: string, receipt: Receipt): Promise<void>;
}>;

/** What each kind of store does in its own way, for speed. */
export type OwnOutbox = SendMarks & Readonly<{ startWorker(options: WorkerOptions): QueueWorker }>;

export type Outbox = DeadParts &
  Receipts &
  OwnOutbox &
  Readonly<{
    /**
     * The first unsent row of a conversation, if it is due. `sending` is left from a process that died. Unreadable rows
     * are given up and skipped (Q11). Throws NewerRow for one of a newer version.
     */
    next(queue: string, now: number): Promise<OutboxRow | undefined>;
    retry(key: string, error: string, at: number): Promise<void>;
    /** Gives up a part, so that later rows of the conversation continue. */
    dead(key: string, error: string): Promise<void>;
    /** Counts a send that is repeated after an unknown outcome (Q6). */
    repeated(key: string): Promise<void>;
    /** How many rows of a conversation are neither sent nor given up. */
    pending(conversation: Conversation): Promise<number>;
  }>;

type TableRow = Pick<OutboxRow, 'key' | 'status' | 'tries' | 'repeats'> &
  Readonly<{ conversation: string; part: string; due_at: number; receipt: string | null }>;

/** Makes the outbox around what the kind of store does itself. */
export function createOutbox(
  sql: Sql,
  own: OwnOutbox & Readonly<{ byOperator: ByOperator }>,
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): Outbox {
  const { read, dialect } = sql;
  const head = sql.lookup<TableRow>(
    `SELECT o.key, o.conversation, o.part, o.status, o.tries, o.repeats, o.due_at, s.receipt
     FROM outbox o LEFT JOIN shown s ON s.key = o.key WHERE o.finished_at IS NULL AND o.queue = ?1 ORDER BY o.seq LIMIT 1`,
    { most: 200 },
  );
  const unsent = sql.statement<Readonly<{ unsent: number }>>(
    'SELECT COUNT(*) AS unsent FROM outbox WHERE finished_at IS NULL AND queue = ?1',
  );
  /** A change that only the process with the conversation's queue can make. */
  const change = (set: string) =>
    sql.guarded(`UPDATE outbox SET ${set} WHERE ${dialect.held} AND finished_at IS NULL AND key = ?1`);
  const retry = change(`status = 'waiting', tries = tries + 1, error = ?2, due_at = ?3`);
  const dead = change(`status = 'dead', error = ?2, finished_at = ?3`);
  const repeated = change('repeats = repeats + 1');

  async function giveUp(key: string, error: string): Promise<void> {
    await dead(key, error, clock.now());
  }

  return {
    startWorker: own.startWorker,
    sending: own.sending,
    sent: own.sent,
    async next(queue, now) {
      for (;;) {
        const [row] = await head(queue);
        if (row === undefined || (row.status !== 'sending' && row.due_at > now)) return undefined;
        const part = await readPart(sql, row);
        if (part.ok) return part.value;
        log.error(
          { outbox: row.key, queue, reason: part.reason },
          'a stored part is damaged and was given up',
        );
        await giveUp(row.key, `The stored part ${part.reason}`);
      }
    },
    async retry(key, error, at) {
      await retry(key, error, at);
    },
    dead: giveUp,
    async repeated(key) {
      await repeated(key);
    },
    ...createGivenUp(sql, own.byOperator),
    pending: async (conversation) => (await read(unsent(conversationKey(conversation))))[0]?.unsent ?? 0,
    ...createReceipts(sql, clock),
  };
}

function createGivenUp(sql: Sql, byOperator: ByOperator): DeadParts {
  const givenUp = sql.statement<DeadPart>(
    `SELECT key, queue, COALESCE(error, '') AS error, finished_at AS at FROM outbox WHERE status = 'dead' ORDER BY seq`,
  );
  const revive = sql.statement(
    `UPDATE outbox SET status = 'waiting', tries = 0, error = NULL, due_at = 0, finished_at = NULL
     WHERE status = 'dead' AND key = ?1`,
  );
  return {
    givenUp: async () => (await sql.read(givenUp())).map((row) => ({ ...row })),
    revive: async (key) => (await byOperator([key], 'power', revive(key), hasChanged)).changed > 0,
  };
}

function createReceipts(sql: Sql, clock: Clock): Receipts {
  const { statement, read, write } = sql;
  const show = statement(
    `INSERT INTO shown (key, receipt, shown_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (key) DO UPDATE SET receipt = excluded.receipt, shown_at = excluded.shown_at`,
  );
  const hide = statement('DELETE FROM shown WHERE key = ?1');
  const receiptIn = (table: 'outbox' | 'shown') =>
    statement<Readonly<{ receipt: string | null }>>(`SELECT receipt FROM ${table} WHERE key = ?1`);
  const receipt = receiptIn('outbox');
  const shown = receiptIn('shown');
  const sentAs = statement<TableRow>(
    `SELECT key, conversation, part, status, tries, repeats, due_at, receipt FROM outbox
     WHERE receipt = ?1 AND (queue = ?2 OR queue > ?3 AND queue < ?4) LIMIT 1`,
  );
  return {
    async show(key, given) {
      const call = given === undefined ? hide(key) : show(key, JSON.stringify(given), clock.now());
      await write('process', call);
    },
    shown: async (key) => readReceipt((await read(shown(key)))[0]?.receipt),
    receipt: async (key) => readReceipt((await read(receipt(key)))[0]?.receipt),
    async sentAs({ channel, chat }, message) {
      const place = conversationKey({ channel, chat });
      // In text order, "0" comes right after "/".
      const rows = await read(sentAs(JSON.stringify({ id: message }), place, `${place}/`, `${place}0`));
      const part = rows[0] && (await readPart(sql, rows[0]));
      return part?.ok === true ? part.value : undefined;
    },
  };
}

async function readPart(sql: Sql, row: TableRow): Promise<ReadJson<OutboxRow>> {
  const place = readStored(storedConversation, row.conversation);
  if (!place.ok) return place;
  const part = await readShared(sql, storedPart, row.part);
  if (!part.ok) return part;
  const { key, status, tries, repeats } = row;
  const shown = readReceipt(row.receipt);
  const known = { key, conversation: place.value, part: part.value, status, tries, repeats };
  return { ok: true, value: shown === undefined ? known : { ...known, shown } };
}

/** Reads a receipt. A damaged one counts as missing, so the part is sent again. */
function readReceipt(text: string | null | undefined): Receipt | undefined {
  const read = text == null ? undefined : readStored(storedReceipt, text);
  return read?.ok === true ? read.value : undefined;
}
