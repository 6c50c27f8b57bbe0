import { joinMessages } from '../join-messages.ts';
import { readStored, type ReadJson } from '../stored-json.ts';
import { storedItem } from '../stored-message.ts';
import type { InboxItem, ListedItem } from '../store.ts';

/** The columns of an inbox row that make an item. */
export type InboxRow = Readonly<{
  seq: number;
  key: string;
  lane: string;
  parts: string;
  status: InboxItem['status'];
  tries: number;
  error: string | null;
  accepted_at: number;
  taken_at: number | null;
}>;

export const inboxColumns = 'seq, key, lane, parts, status, tries, error, accepted_at, taken_at';

/** The item that a row holds; a row whose message can't be read gives the reason. */
export function readItem(row: InboxRow): ReadJson<InboxItem> {
  const parts = readStored(storedItem, row.parts);
  return parts.ok ? { ok: true, value: { ...listedItem(row), message: joinMessages(parts.value) } } : parts;
}

/** What can be said of a row without its message. */
export function listedItem(row: InboxRow): Omit<ListedItem, 'message'> {
  return {
    key: row.key,
    seq: row.seq,
    lane: row.lane,
    status: row.status,
    tries: row.tries,
    ...(row.error === null ? {} : { error: row.error }),
    acceptedAt: row.accepted_at,
    ...(row.taken_at === null ? {} : { interruptedAt: row.taken_at }),
  };
}
