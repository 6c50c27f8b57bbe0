import type { Part, Receipt } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
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

/** The columns of an outbox row that make a part to be sent, and what is shown in its place. */
export type OutboxTableRow = Readonly<{
  key: string;
  conversation: string;
  part: string;
  status: OutboxRow['status'];
  tries: number;
  repeats: number;
  receipt: string | null;
}>;

/** The part that a row holds; one that can't be read gives the reason. */
export function readPart(row: OutboxTableRow): ReadJson<OutboxRow> {
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
export function readReceipt(text: string | null | undefined): Receipt | undefined {
  const read = text == null ? undefined : readStored(storedReceipt, text);
  return read?.ok === true ? read.value : undefined;
}
