import { filesOf } from '../core/channel.ts';
import { conversationKey } from '../core/conversation.ts';
import {
  createForgetEntries,
  answeredBy,
  judgeItem,
  judgeOverheard,
  names,
  idOnLabel,
  type Findings,
} from './forget-entries.ts';
import type { Forgotten } from './store.ts';
import { readStored } from './stored-json.ts';
import { storedPart } from './stored-message.ts';

/** Rows read and changed in one step: a few milliseconds. */
const batch = 500;
const personKeys: readonly PersonKeys[] = ['commands', 'pairing', 'settings', 'shown'];

/**
 * Removes a person from a store, the same way for every store (Q12): their direct messages whole, in other chats their
 * turns and the runs in their name, what others quoted of them, and what is kept under their id. Done in steps, so that
 * the bot continues; what was cut off is finished by doing it again.
 */
export async function forgetPerson(rows: ForgetRows, sender: string): Promise<Forgotten> {
  const items = new Set<string>();
  const rooms = new Map<string, Findings['room']>();
  let entries = 0;

  for (const transcript of await rows.transcriptsWith([inJson(sender), inJson(idOnLabel(sender))])) {
    const { changes, findings } = await judgeTranscript(transcript);
    await changeEntries(changes);
    for (const item of findings.items) items.add(item.replace(/#skill$/, ''));
    const room = roomOf(transcript);
    if (rooms.get(room) !== 'shared' && findings.room !== 'unknown') rooms.set(room, findings.room);
  }
  const direct = new Set([...rooms].flatMap(([room, whose]) => (whose === 'theirs' ? [room] : [])));
  const own = ownRoom(sender);
  if (rooms.get(own) !== 'shared') direct.add(own);
  const isDirect = (place: string): boolean => isWithin(place, direct);

  const messages =
    (await forgetRows('inbox', judgeInbox)) +
    (await forgetRows('overheard', ({ text }) => {
      const { theirs, rest } = judgeOverheard(text, sender);
      return theirs ? undefined : rest;
    }));
  for (const room of direct) {
    for (const transcript of await rows.transcriptsOf(room)) await removeWhole(transcript);
    await rows.dropConversation(room);
  }
  const files: string[] = [];
  const outbox = await forgetRows('outbox', (row) => {
    const rest = judgeOutbox(row);
    if (rest === undefined) files.push(...fileIn(row.text));
    return rest;
  });
  const asks = await forgetRows('asks', ({ place, requester, ended, text }) =>
    requester === sender || isDirect(place) || (ended && answeredBy(text, sender)) ? undefined : text,
  );
  for (const of of personKeys) await forgetKeys(of);
  const usage = await rows.removeUsage(sender);
  return { messages, entries, outbox, asks, usage, places: [...direct], files };

  async function judgeTranscript(
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

  /** What is rewritten first, and then the newest first: a summary and the entries it keeps go together. */
  async function changeEntries(changes: readonly RowChange[]): Promise<void> {
    const ordered = [
      ...changes.filter(({ text }) => text !== undefined),
      ...changes.filter(({ text }) => text === undefined).toReversed(),
    ];
    for (let at = 0; at < ordered.length; at += 4 * batch) {
      await rows.change('entries', ordered.slice(at, at + 4 * batch));
    }
    entries += changes.length;
  }

  async function removeWhole(transcript: string): Promise<void> {
    for (;;) {
      const page = await rows.entries(transcript, 0, batch);
      await rows.change(
        'entries',
        page.map(({ seq, text }) => ({ seq, was: text, text: undefined })),
      );
      entries += page.length;
      if (page.length < batch) return;
    }
  }

  /** `judge` gives what is left of a row's JSON; undefined if it is to go. Gives how many went. */
  async function forgetRows(
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

  function judgeInbox({ key, place, text }: PersonRow): string | undefined {
    if (text === '') return items.has(key) || isDirect(place) ? undefined : text;
    const { theirs, direct: inDirect, rest } = judgeItem(text, sender);
    if (inDirect) direct.add(laneRoom(place));
    if (theirs) items.add(key);
    return theirs || isDirect(place) ? undefined : rest;
  }

  function judgeOutbox({ key, place, text, ended }: PersonRow): string | undefined {
    const item = key.split(/[#!]/)[0] ?? key;
    return items.has(item) || isDirect(place) || (ended && names(text, sender)) ? undefined : text;
  }

  async function forgetKeys(of: PersonKeys): Promise<void> {
    for (let after = ''; ;) {
      const page = await rows.keys(of, after, batch);
      const theirs = page.filter((key) => names(key, sender) || items.has(key.split(/[#!]/)[0] ?? key));
      if (theirs.length > 0) await rows.removeKeys(of, theirs);
      if (page.length < batch) return;
      after = page.at(-1) ?? after;
    }
  }
}

/** The ids of the files that an outbox row was to send. */
function fileIn(part: string): readonly string[] {
  const read = readStored(storedPart, part);
  return read.ok ? filesOf(read.value).map(({ id }) => id) : [];
}

/** The conversation that a transcript or a run's journal belongs to: its key holds neither "@" nor "#". */
function roomOf(transcript: string): string {
  return transcript.split(/[@#]/)[0] ?? transcript;
}

/** A direct message has the person's own id where a chat has one (Telegram, the terminal). */
function ownRoom(sender: string): string {
  const colon = sender.indexOf(':');
  return conversationKey({ channel: sender.slice(0, colon), chat: sender.slice(colon + 1) });
}

/** The conversation of a lane: work beside it has "~" and a name behind its key. */
function laneRoom(lane: string): string {
  return lane.replace(/~[^/~]*$/, '');
}

/** Whether a lane is that of one of these conversations, a thread of it, or work beside it. */
function isWithin(place: string, rooms: ReadonlySet<string>): boolean {
  return rooms.values().some((room) => place.startsWith(room) && /^([/~]|$)/.test(place.slice(room.length)));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Tables whose rows may be of a person, beside the entries of transcripts. */
export type PersonTable = 'inbox' | 'overheard' | 'outbox' | 'asks';

/** A row as `forgetPerson` judges it. */
export type PersonRow = Readonly<{
  seq: number;
  /** Of an inbox item, an overheard message or an outbox row: its key. Of an ask: its id. */
  key: string;
  /** Lane, or key of the conversation. */
  place: string;
  /** The JSON it holds; empty where that was let go already. */
  text: string;
  /** Of an ask: who may answer it. */
  requester: string | null;
  /** Done, dead, sent, settled: nothing more will come of it. */
  ended: boolean;
}>;

/** One row to be removed, or rewritten from what it was; a row that holds something else by now is left as it is. */
export type RowChange = Readonly<{ seq: number; was: string; text: string | undefined }>;

/** Keys of values that name the person they are of. */
export type PersonKeys = 'commands' | 'pairing' | 'settings' | 'shown';

/** A store's own rows, as `forgetPerson` reads and changes them: in steps between which the store can be used. */
export type ForgetRows = Readonly<{
  /** Transcripts and run journals with an entry whose JSON holds one of these texts. */
  transcriptsWith(texts: readonly string[]): Promise<readonly string[]>;
  /** Transcripts of a conversation: in use, archived (`KEY@…`), and the journals of their runs (`…#run:…`). */
  transcriptsOf(conversation: string): Promise<readonly string[]>;
  /** `limit` entries of a transcript after `seq`, in order. */
  entries(
    transcript: string,
    after: number,
    limit: number,
  ): Promise<readonly Readonly<{ seq: number; text: string }>[]>;
  /** `limit` rows after `seq`, in order. */
  rows(table: PersonTable, after: number, limit: number): Promise<readonly PersonRow[]>;
  /** Makes all of these changes as one transaction. */
  change(table: PersonTable | 'entries', changes: readonly RowChange[]): Promise<void>;
  /** Forgets that a conversation was ever there: its archived transcripts' ids and when something was last said in them. */
  dropConversation(conversation: string): Promise<void>;
  /** `limit` keys after this one, in order. */
  keys(of: PersonKeys, after: string, limit: number): Promise<readonly string[]>;
  removeKeys(of: PersonKeys, keys: readonly string[]): Promise<void>;
  /** Gives how many rows that were. */
  removeUsage(sender: string): Promise<number>;
}>;
