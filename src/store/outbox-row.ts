import type { Receipt } from '../core/channel.ts';
import type { OutboxRow } from './outbox.ts';
import { readStored, type ReadJson } from './stored-json.ts';
import { storedConversation, storedPart, storedReceipt } from './stored-message.ts';

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

/** A damaged receipt counts as missing: the part is sent anew. */
export function readReceipt(text: string | null | undefined): Receipt | undefined {
  const read = text == null ? undefined : readStored(storedReceipt, text);
  return read?.ok === true ? read.value : undefined;
}
