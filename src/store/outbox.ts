import type { Part, Receipt } from '../core/channel.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { hasChanged, type ByHand, type Sql } from './sql.ts';
import type { ServeOptions, Serving } from './store.ts';
import { readStored, type ReadJson } from './stored-json.ts';
import { storedConversation, storedPart, storedReceipt } from './stored-message.ts';

export type OutboxRow = Readonly<{
  /** Derived from message and part, so that writing it twice is writing it once: `ITEM#0`. */
  key: string;
  conversation: Conversation;
  part: Part;
  /** `sending`: handed to the platform, outcome not known (yet). */
  status: 'waiting' | 'sending' | 'sent' | 'dead';
  tries: number;
  /** Sends whose outcome was unknown and that were made again. */
  repeats: number;
  /** What the platform shows in its place already: the row is delivered as an edit of it. */
  shown?: Receipt;
}>;

/** A part that was given up, as the operator sees it. */
export type DeadPart = Readonly<{
  key: string;
  /** Key of its conversation. */
  lane: string;
  error: string;
  at: number;
}>;

/** Parts to be sent, in order within a conversation (Q6). */
export type Outbox = Readonly<{
  /** Gives out conversations with a row to send until it is stopped. */
  serve(options: ServeOptions): Serving;
  /**
   * The first unsent row of a conversation (its key is the lane), if it is due. A row in `sending` is left over from a
   * process that ended. One that can't be read any more is given up with the reason and the next one is given (Q11).
   */
  next(lane: string, now: number): Promise<OutboxRow | undefined>;
  sending(key: string): Promise<void>;
  sent(key: string, receipt: Receipt): Promise<void>;
  retry(key: string, error: string, at: number): Promise<void>;
  /** Given up, with the reason; later rows of the conversation go on. */
  dead(key: string, error: string): Promise<void>;
  /** Counted sends whose outcome was unknown and that were repeated (Q6). */
  repeated(key: string): Promise<void>;
  /** Parts that were given up and are still kept, oldest first. */
  givenUp(): Promise<readonly DeadPart[]>;
  /** Sends a given-up part after all, with no tries counted. False when there is none. */
  revive(key: string): Promise<boolean>;
  /** Rows not sent or dead of a conversation. */
  pending(conversation: Conversation): Promise<number>;
  /** Remembers what the platform shows in place of a row that is still to be written (a status line, a preview), so that a restart finds it (Q6); without a receipt forgets it. */
  show(key: string, receipt: Receipt | undefined): Promise<void>;
  shown(key: string): Promise<Receipt | undefined>;
  /** What the platform calls a part that was sent; nothing for any other. */
  receipt(key: string): Promise<Receipt | undefined>;
}>;

type TableRow = Pick<OutboxRow, 'key' | 'status' | 'tries' | 'repeats'> &
  Readonly<{ conversation: string; part: string; due_at: number; receipt: string | null }>;

/** The outbox, but for what each store does in its own way: giving out lanes, and marking parts, which happens with every message. */
export function createOutbox(
  sql: Sql,
  own: Pick<Outbox, 'serve' | 'sending' | 'sent'> & Readonly<{ byHand: ByHand }>,
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): Outbox {
  const { read, write, dialect } = sql;
  const head = sql.lookup<TableRow>(
    `SELECT o.key, o.conversation, o.part, o.status, o.tries, o.repeats, o.due_at, s.receipt
     FROM outbox o LEFT JOIN shown s ON s.key = o.key WHERE o.finished_at IS NULL AND o.lane = ?1 ORDER BY o.seq LIMIT 1`,
    { most: 200 },
  );
  const unsent = sql.statement<Readonly<{ unsent: number }>>(
    'SELECT COUNT(*) AS unsent FROM outbox WHERE finished_at IS NULL AND lane = ?1',
  );
  /** A change that only who holds the conversation may make. */
  const change = (set: string) =>
    sql.guarded(`UPDATE outbox SET ${set} WHERE ${dialect.held} AND finished_at IS NULL AND key = ?1`);
  const retry = change(`status = 'waiting', tries = tries + 1, error = ?2, due_at = ?3`);
  const dead = change(`status = 'dead', error = ?2, finished_at = ?3`);
  const repeated = change('repeats = repeats + 1');
  const givenUp = sql.statement<DeadPart>(
    `SELECT key, lane, COALESCE(error, '') AS error, finished_at AS at FROM outbox WHERE status = 'dead' ORDER BY seq`,
  );
  const revive = sql.statement(
    `UPDATE outbox SET status = 'waiting', tries = 0, error = NULL, due_at = 0, finished_at = NULL
     WHERE status = 'dead' AND key = ?1`,
  );
  const show = sql.statement(
    `INSERT INTO shown (key, receipt, shown_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (key) DO UPDATE SET receipt = excluded.receipt, shown_at = excluded.shown_at`,
  );
  const hide = sql.statement('DELETE FROM shown WHERE key = ?1');
  const receiptIn = (table: 'outbox' | 'shown') =>
    sql.statement<Readonly<{ receipt: string | null }>>(`SELECT receipt FROM ${table} WHERE key = ?1`);
  const receipt = receiptIn('outbox');
  const shown = receiptIn('shown');

  async function giveUp(key: string, error: string): Promise<void> {
    await dead(key, error, clock.now());
  }

  return {
    serve: own.serve,
    sending: own.sending,
    sent: own.sent,
    async next(lane, now) {
      for (;;) {
        const [row] = await head(lane);
        if (row === undefined || (row.status !== 'sending' && row.due_at > now)) return undefined;
        const part = readPart(row);
        if (part.ok) return part.value;
        log.error(
          { outbox: row.key, lane, reason: part.reason },
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
    givenUp: async () => (await read(givenUp())).map((row) => ({ ...row })),
    revive: async (key) => (await own.byHand([key], 'power', revive(key), hasChanged)).changed > 0,
    pending: async (conversation) => (await read(unsent(conversationKey(conversation))))[0]?.unsent ?? 0,
    async show(key, given) {
      const call = given === undefined ? hide(key) : show(key, JSON.stringify(given), clock.now());
      await write('process', call);
    },
    shown: async (key) => readReceipt((await read(shown(key)))[0]?.receipt),
    receipt: async (key) => readReceipt((await read(receipt(key)))[0]?.receipt),
  };
}

/** The part that a row holds; one that can't be read gives the reason. */
function readPart(row: TableRow): ReadJson<OutboxRow> {
  const place = readStored(storedConversation, row.conversation);
  if (!place.ok) return place;
  const part = readStored(storedPart, row.part);
  if (!part.ok) return part;
  const { key, status, tries, repeats } = row;
  const shown = readReceipt(row.receipt);
  const known = { key, conversation: place.value, part: part.value, status, tries, repeats };
  return { ok: true, value: shown === undefined ? known : { ...known, shown } };
}

/** A damaged receipt counts as missing: the part is sent again. */
function readReceipt(text: string | null | undefined): Receipt | undefined {
  const read = text == null ? undefined : readStored(storedReceipt, text);
  return read?.ok === true ? read.value : undefined;
}
