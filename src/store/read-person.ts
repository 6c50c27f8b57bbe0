import type { Entry } from '../core/entry.ts';
import { parseJson } from '../lib/json/json-values.ts';
import { idOnLabel, names, quotingLess, withoutQuotes, type Quoted } from './forget-entries.ts';
import { forgetPerson, type ForgetRows, type PersonRow, type RowChange } from './forget-person.ts';
import { createForgetRows } from './forget-rows.ts';
import type { Sql } from './sql.ts';
import type { PersonRecord, Store } from './store.ts';
import { storedEntry } from './stored-entry.ts';
import { readStored } from './stored-json.ts';
import { storedItem, storedMessage } from './stored-message.ts';

type Columns = Readonly<Record<string, string | number | null>>;

/** Tables whose rows have a column with the person's id. Sealed columns stay out. */
const ownRows = [
  ['memories', 'memory, seen_at', 'author = ?1'],
  ['routines', 'id, state, due_at, definition, last, created_at, changed_at', 'creator = ?1'],
  ['feedback', 'id, thumb, at, reason, about', 'sender = ?1'],
  [
    'usage',
    'day, conversation, skill, model, requests, input, output, cache_read, cache_write',
    'sender = ?1',
  ],
  ['runs', 'id, day, conversation, skill, model, steps, failed, at', 'sender = ?1'],
  ['capability_accounts', 'capability, linked_at', 'sender = ?1'],
  ['capability_flows', 'id, capability, conversation, state, expires_at', 'sender = ?1'],
  ['capability_outcomes', 'kept_at', 'sender = ?1'],
] as const;

/**
 * Reads what is stored of a person, without changing it. It is what `forget` would remove, found by the same code, so
 * neither can know of more than the other. Words of others that it quotes are left out (L18).
 */
export function createReadPerson(sql: Sql): Store['person'] {
  const rows = createForgetRows(sql);
  const own = ownRows.map(
    ([table, columns, whose]) =>
      [table, sql.statement<Columns>(`SELECT ${columns} FROM ${table} WHERE ${whose}`)] as const,
  );
  const uses = sql.statement<Readonly<{ key: string; used_at: number }>>(
    `SELECT key, used_at FROM uses WHERE ${sql.dialect.contains('key', '?1')} ORDER BY key, used_at`,
  );

  return async (sender, rooms) => {
    const { rows: reading, found } = readInstead(rows, sender);
    const { places, files } = await forgetPerson(reading, sender, rooms);
    const records = [...found.values()];
    for (const [from, of] of own)
      for (const row of await sql.read(of(sender))) records.push({ from, data: readColumns(row) });
    for (const use of await sql.read(uses(sender)))
      if (names(use.key, sender)) records.push({ from: 'uses', data: { ...use } });
    return { records, places, files };
  };
}

/** Rows that are noted in `found` where they would be removed, and stay. */
function readInstead(
  rows: ForgetRows,
  sender: string,
): Readonly<{ rows: ForgetRows; found: ReadonlyMap<string, PersonRecord> }> {
  const found = new Map<string, PersonRecord>();
  const seen = new Map<string, PersonRow>();
  let transcript = '';

  function note(table: string, { seq, was, text }: RowChange): void {
    // A row that would only be rewritten belongs to somebody else.
    if (text !== undefined) return;
    const id = `${table} ${seq}`;
    const { key, place = transcript, requester = null } = seen.get(id) ?? {};
    if (requester !== null && requester !== sender) return;
    // The words of a message that was answered are in its conversation, and only its key is left here.
    const data = was === '' ? { key } : ownPart(table, was, sender);
    found.set(id, { from: table, place, data });
  }

  const reading: ForgetRows = {
    ...rows,
    entries(of, after, limit) {
      transcript = of;
      return rows.entries(of, after, limit);
    },
    async rows(table, after, limit) {
      const page = await rows.rows(table, after, limit);
      for (const row of page) seen.set(`${table} ${row.seq}`, row);
      return page;
    },
    async change(table, changes) {
      for (const change of changes) note(table, change);
    },
    dropConversation: async () => undefined,
    keys: async () => [],
    removeKeys: async () => undefined,
    removeMemories: async () => 0,
    removeSaid: async () => undefined,
    removeUsage: async () => 0,
    removeRoutines: async () => 0,
    removeFeedback: async () => 0,
  };
  return { rows: reading, found };
}

/** The columns of a row, with JSON read. */
function readColumns(row: Columns): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && value.startsWith('{') ? (parseJson(value) ?? value) : value,
    ]),
  );
}

/** What of a stored text is the person's: their words and the answers to them. What cannot be read stays out. */
function ownPart(table: string, text: string, sender: string): unknown {
  const mark = idOnLabel(sender);
  // A file that says nothing about who sent it came with their own message.
  const isOthers = ({ label, id }: Quoted): boolean => id !== mark && !(label === 'file' && id === undefined);
  const ofMessage = (message: Parameters<typeof quotingLess>[0]) =>
    quotingLess(message, (quote) => quote.sender !== sender, isOthers);
  switch (table) {
    case 'entries': {
      const read = readStored(storedEntry, text);
      return read.ok ? ownEntry(read.value, sender, isOthers) : unreadable;
    }
    case 'inbox': {
      const read = readStored(storedItem, text);
      return read.ok ? read.value.map((part) => ({ ...part, message: ofMessage(part.message) })) : unreadable;
    }
    case 'group_context': {
      const read = readStored(storedMessage, text);
      return read.ok ? ofMessage(read.value) : unreadable;
    }
    default:
      return parseJson(text) ?? unreadable;
  }
}

const unreadable = 'it is damaged and can not be read';

function ownEntry(entry: Entry, sender: string, isOthers: (quoted: Quoted) => boolean): Entry {
  if (entry.kind === 'tool_result') return { ...entry, content: withoutQuotes(entry.content, isOthers) };
  if (entry.kind !== 'user') return entry;
  const { content, context, files } = entry;
  return {
    ...entry,
    content:
      typeof content === 'string'
        ? withoutQuotes(content, isOthers)
        : content.map((block) =>
            block.type === 'text' ? { ...block, text: withoutQuotes(block.text, isOthers) } : block,
          ),
    context: context && withoutQuotes(context, isOthers),
    files: files?.filter((file) => file.sender === sender),
  };
}
