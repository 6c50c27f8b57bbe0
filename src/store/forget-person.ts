import { filesOf } from '../core/channel.ts';
import { conversationKey } from '../core/conversation.ts';
import { firstWordsKey } from '../core/first-words.ts';
import {
  createForgetEntries,
  answeredBy,
  judgeItem,
  judgeGroupContext,
  names,
  idOnLabel,
  type Findings,
} from './forget-entries.ts';
import type { Forgotten } from './store.ts';
import { readStored } from './stored-json.ts';
import { storedPart } from './stored-message.ts';

/** Rows changed in one transaction, which takes a few milliseconds. */
const batch = 500;
const personKeys = [
  'commands',
  'deaths',
  'early-thumbs',
  'feedback-asked',
  'first-words',
  'pairing',
  'settings',
  'shown',
  'shown-words',
  'threads',
  'waiting-parts',
] as const;

/**
 * Removes a person (Q12): their direct messages, their turns and runs in groups, quotes of them, and values under their
 * id. It works in small steps, so the bot continues meanwhile. Repeat it if it was interrupted.
 */
export async function forgetPerson(
  rows: ForgetRows,
  sender: string,
  told: readonly string[] = [],
): Promise<Forgotten> {
  const found = await forgetTurns(rows, sender);
  const items = found.items.add(firstWordsKey(sender));
  const direct = directRooms(found.rooms, [...told, ownRoom(sender)]);
  let { entries } = found;
  const isDirect = (place: string): boolean => isWithin(place, direct);

  const messages =
    (await forgetRows(rows, 'inbox', judgeInbox)) +
    (await forgetRows(rows, 'group_context', ({ text }) => {
      const { theirs, rest } = judgeGroupContext(text, sender);
      return theirs ? undefined : rest;
    }));
  for (const room of direct) {
    for (const transcript of await rows.transcriptsOf(room))
      entries += await removeTranscript(rows, transcript);
    await rows.dropConversation(room);
  }
  const files: string[] = [];
  const outbox = await forgetRows(rows, 'outbox', (row) => {
    const rest = judgeOutbox(row);
    if (rest === undefined) files.push(...fileIn(row.text));
    return rest;
  });
  const asks = await forgetRows(rows, 'pending_requests', ({ place, requester, ended, text }) =>
    requester === sender || isDirect(place) || (ended && answeredBy(text, sender)) ? undefined : text,
  );
  const isTheirs = (key: string): boolean => names(key, sender) || isDirect(key) || items.has(itemOfKey(key));
  for (const of of personKeys) await forgetKeys(rows, of, isTheirs);
  const routines = await rows.removeRoutines(sender);
  const feedback = await rows.removeFeedback(sender);
  await rows.removeSaid(sender, batch);
  const memories = await rows.removeMemories(sender, (text) => names(text, sender), batch);
  const usage = await rows.removeUsage(sender);
  return {
    ...{ messages, entries, outbox, asks, routines, feedback, usage, memories },
    places: [...direct],
    files,
  };

  function judgeInbox({ key, place, text }: PersonRow): string | undefined {
    if (text === '') return items.has(key) || isDirect(place) ? undefined : text;
    const { theirs, direct: inDirect, rest } = judgeItem(text, sender);
    if (inDirect) direct.add(queueRoom(place));
    if (theirs) items.add(key);
    return theirs || isDirect(place) ? undefined : rest;
  }

  function judgeOutbox({ key, place, text, ended }: PersonRow): string | undefined {
    return items.has(itemOfKey(key)) || isDirect(place) || (ended && names(text, sender)) ? undefined : text;
  }
}

/** Removes turns of the person, and what quotes them in the turns of others. `items` are the ids of their turns. */
async function forgetTurns(
  rows: ForgetRows,
  sender: string,
): Promise<Readonly<{ items: Set<string>; rooms: ReadonlyMap<string, Findings['room']>; entries: number }>> {
  const items = new Set<string>();
  const rooms = new Map<string, Findings['room']>();
  let entries = 0;
  for (const transcript of await rows.transcriptsWith([inJson(sender), inJson(idOnLabel(sender))])) {
    const { changes, findings } = await judgeTranscript(rows, sender, transcript);
    await changeEntries(rows, changes);
    entries += changes.length;
    for (const item of findings.items) items.add(item.replace(/#skill$/, ''));
    const room = transcriptRoom(transcript);
    if (rooms.get(room) !== 'shared' && findings.room !== 'unknown') rooms.set(room, findings.room);
  }
  return { items, rooms, entries };
}

/** Conversations with the person alone: by what was said there, and `named` ones in which nobody else was heard. */
function directRooms(rooms: ReadonlyMap<string, Findings['room']>, named: readonly string[]): Set<string> {
  const direct = new Set([...rooms].flatMap(([room, whose]) => (whose === 'theirs' ? [room] : [])));
  const shared = [...rooms].flatMap(([room, whose]) => (whose === 'shared' ? [room] : []));
  for (const room of named) if (!shared.some((other) => isWithin(other, new Set([room])))) direct.add(room);
  return direct;
}

async function judgeTranscript(
  rows: ForgetRows,
  sender: string,
  transcript: string,
): Promise<Readonly<{ changes: readonly RowChange[]; findings: Findings }>> {
  const { judge, findings } = createForgetEntries(sender);
  const changes: RowChange[] = [];
  for (let after = 0; ;) {
    const page = await rows.entries(transcript, after, batch);
    for (const { seq, text } of page) {
      const fate = judge(text);
      if (fate === 'removed') changes.push({ seq, was: text, text: undefined });
      else if (fate !== 'kept') changes.push({ seq, was: text, text: fate.rewritten });
      after = seq;
    }
    if (page.length < batch) return { changes, findings: findings() };
  }
}

/**
 * Applies rewrites first and removals from the newest to the oldest, because a summary belongs to the entries that it
 * keeps.
 */
async function changeEntries(rows: ForgetRows, changes: readonly RowChange[]): Promise<void> {
  const ordered = [
    ...changes.filter(({ text }) => text !== undefined),
    ...changes.filter(({ text }) => text === undefined).toReversed(),
  ];
  for (let at = 0; at < ordered.length; at += 4 * batch) {
    await rows.change('entries', ordered.slice(at, at + 4 * batch));
  }
}

/** Returns how many entries were removed. */
async function removeTranscript(rows: ForgetRows, transcript: string): Promise<number> {
  let removed = 0;
  for (let after = 0; ;) {
    const page = await rows.entries(transcript, after, batch);
    await rows.change(
      'entries',
      page.map(({ seq, text }) => ({ seq, was: text, text: undefined })),
    );
    removed += page.length;
    if (page.length < batch) return removed;
    after = page.at(-1)?.seq ?? after;
  }
}

/**
 * Goes through a table. `judge` returns the JSON that remains, or undefined to remove the row. Returns how many were
 * removed.
 */
async function forgetRows(
  rows: ForgetRows,
  table: PersonTable,
  judge: (row: PersonRow) => string | undefined,
): Promise<number> {
  let gone = 0;
  for (let after = 0; ;) {
    const page = await rows.rows(table, after, batch);
    const changes = page.flatMap((row): readonly RowChange[] => {
      const text = judge(row);
      return text === row.text ? [] : [{ seq: row.seq, was: row.text, text }];
    });
    if (changes.length > 0) await rows.change(table, changes);
    gone += changes.filter(({ text }) => text === undefined).length;
    const last = page.at(-1);
    if (last === undefined || page.length < batch) return gone;
    after = last.seq;
  }
}

async function forgetKeys(
  rows: ForgetRows,
  of: PersonKeys,
  isTheirs: (key: string) => boolean,
): Promise<void> {
  for (let after = ''; ;) {
    const page = await rows.keys(of, after, batch);
    const theirs = page.filter(isTheirs);
    if (theirs.length > 0) await rows.removeKeys(of, theirs);
    if (page.length < batch) return;
    after = page.at(-1) ?? after;
  }
}

/** The id of the item that a key of the outbox or of a placeholder begins with. */
function itemOfKey(key: string): string {
  return key.split(/[#!]/)[0] ?? key;
}

function fileIn(part: string): readonly string[] {
  const read = readStored(storedPart, part);
  return read.ok ? filesOf(read.value).map(({ id }) => id) : [];
}

/** The key of a transcript's conversation. Keys contain neither "@" nor "#". */
export function transcriptRoom(transcript: string): string {
  return transcript.split(/[@#]/)[0] ?? transcript;
}

/** The key of a person's direct messages. Telegram and the terminal use the person's id as the id of that chat. */
function ownRoom(sender: string): string {
  const colon = sender.indexOf(':');
  return conversationKey({ channel: sender.slice(0, colon), chat: sender.slice(colon + 1) });
}

/** The conversation of a queue. Queues beside a conversation add "~" and a name to its key. */
function queueRoom(queue: string): string {
  return queue.replace(/~[^/~]*$/, '');
}

/** Whether a place is within one of these conversations. Threads are, and work beside the conversation. */
function isWithin(place: string, rooms: ReadonlySet<string>): boolean {
  return rooms.values().some((room) => place.startsWith(room) && /^([/~]|$)/.test(place.slice(room.length)));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export type PersonTable = 'inbox' | 'group_context' | 'outbox' | 'pending_requests';

export type PersonRow = Readonly<{
  seq: number;
  key: string;
  /** Key of the queue or of the conversation. */
  place: string;
  /** The row's JSON; empty if its text was removed already. */
  text: string;
  requester: string | null;
  ended: boolean;
}>;

/** A change of one row. With `text` undefined the row is removed. A row whose text is not `was` any more stays. */
export type RowChange = Readonly<{ seq: number; was: string; text: string | undefined }>;

type PersonKeys = (typeof personKeys)[number];

export type ForgetRows = Readonly<{
  /** Names of transcripts and run journals that have an entry whose JSON contains one of these texts. */
  transcriptsWith(texts: readonly string[]): Promise<readonly string[]>;
  /** Names of the current transcript, of archived ones (`KEY@…`) and of the journals of their runs (`…#run:…`). */
  transcriptsOf(conversation: string): Promise<readonly string[]>;
  entries(
    transcript: string,
    after: number,
    limit: number,
  ): Promise<readonly Readonly<{ seq: number; text: string }>[]>;
  rows(table: PersonTable, after: number, limit: number): Promise<readonly PersonRow[]>;
  change(table: PersonTable | 'entries', changes: readonly RowChange[]): Promise<void>;
  /**
   * Removes the ids of archived transcripts and the times of last use of a conversation, except for transcripts in which
   * something was said meanwhile.
   */
  dropConversation(conversation: string): Promise<void>;
  keys(of: PersonKeys, after: string, limit: number): Promise<readonly string[]>;
  removeKeys(of: PersonKeys, keys: readonly string[]): Promise<void>;
  /** Removes the person's memories, and those whose JSON is about them. */
  removeMemories(sender: string, isAbout: (text: string) => boolean, limit: number): Promise<number>;
  /** Removes from the search index what their turns added, answers included. */
  removeSaid(sender: string, limit: number): Promise<void>;
  removeUsage(sender: string): Promise<number>;
  removeRoutines(sender: string): Promise<number>;
  removeFeedback(sender: string): Promise<number>;
}>;
