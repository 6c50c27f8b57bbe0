import { joinMessages } from './join-messages.ts';
import { readStored, type ReadJson } from './stored-json.ts';
import { storedItem } from './stored-message.ts';
import type { InboxItem, ListedItem } from './inbox.ts';

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
  stopped_at: number | null;
}>;

export const inboxColumns = 'seq, key, lane, parts, status, tries, error, accepted_at, taken_at, stopped_at';

/** The item that a row holds; a row whose message can't be read gives the reason. */
export function readItem(row: InboxRow): ReadJson<InboxItem> {
  const parts = readStored(storedItem, row.parts);
  if (!parts.ok) return parts;
  const { takenAt, ...item } = listedItem(row);
  return {
    ok: true,
    value: {
      ...item,
      ...(takenAt === undefined ? {} : { interruptedAt: takenAt }),
      message: joinMessages(parts.value),
    },
  };
}

/** The item of a row that was taken a moment ago, beside the one of its lane (H11). What can't be read is left for its own turn. */
export function alongOf(row: InboxRow): InboxItem | undefined {
  const read = readItem({ ...row, taken_at: null });
  return read.ok ? read.value : undefined;
}

/** A row as others see it, with its message where that can be read. */
export function toListed(row: InboxRow): ListedItem {
  const parts = readStored(storedItem, row.parts);
  return parts.ok ? { ...listedItem(row), message: joinMessages(parts.value) } : listedItem(row);
}

/** What can be said of a row without its message. */
function listedItem(row: InboxRow): Omit<ListedItem, 'message'> {
  return {
    key: row.key,
    seq: row.seq,
    lane: row.lane,
    status: row.status,
    tries: row.tries,
    ...(row.error === null ? {} : { error: row.error }),
    acceptedAt: row.accepted_at,
    ...(row.taken_at === null ? {} : { takenAt: row.taken_at }),
    ...(row.stopped_at === null ? {} : { stopped: true }),
  };
}
