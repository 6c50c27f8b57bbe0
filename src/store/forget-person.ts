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

/** Rows in one transaction: a few milliseconds. */
const batch = 500;
const personKeys: readonly PersonKeys[] = ['commands', 'pairing', 'settings', 'shown', 'threads'];

/**
 * Removes a person (Q12): their direct messages, in groups their turns and runs, quotes of them, and values under
 * their id. It works in steps, so the bot continues; if interrupted, repeat it.
 */
export async function forgetPerson(
  rows: ForgetRows,
  sender: string,
  told: readonly string[] = [],
): Promise<Forgotten> {
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
  const shared = [...rooms].flatMap(([room, whose]) => (whose === 'shared' ? [room] : []));
  for (const room of [...told, ownRoom(sender)])
    if (!shared.some((other) => isWithin(other, new Set([room])))) direct.add(room);
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
  const routines = await rows.removeRoutines(sender);
  await rows.removeSaid(sender, batch);
  const memories = await rows.removeMemories(sender, (text) => names(text, sender), batch);
  const usage = await rows.removeUsage(sender);
  return { messages, entries, outbox, asks, routines, usage, memories, places: [...direct], files };

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

  /** Rewrites first, then newest first: a summary belongs with the entries it keeps. */
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

  /** `judge` returns the remaining JSON, undefined to remove the row. Returns how many were removed. */
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
      const theirs = page.filter(
        (key) => names(key, sender) || isDirect(key) || items.has(key.split(/[#!]/)[0] ?? key),
      );
      if (theirs.length > 0) await rows.removeKeys(of, theirs);
      if (page.length < batch) return;
      after = page.at(-1) ?? after;
    }
  }
}

function fileIn(part: string): readonly string[] {
  const read = readStored(storedPart, part);
  return read.ok ? filesOf(read.value).map(({ id }) => id) : [];
}

/** The conversation of a transcript: keys hold neither "@" nor "#". */
export function roomOf(transcript: string): string {
  return transcript.split(/[@#]/)[0] ?? transcript;
}

/** Telegram and the terminal use the person's id as chat id. */
function ownRoom(sender: string): string {
  const colon = sender.indexOf(':');
  return conversationKey({ channel: sender.slice(0, colon), chat: sender.slice(colon + 1) });
}

/** Lanes beside it add "~" and a name. */
function laneRoom(lane: string): string {
  return lane.replace(/~[^/~]*$/, '');
}

/** Includes threads, and work beside the conversation. */
function isWithin(place: string, rooms: ReadonlySet<string>): boolean {
  return rooms.values().some((room) => place.startsWith(room) && /^([/~]|$)/.test(place.slice(room.length)));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export type PersonTable = 'inbox' | 'overheard' | 'outbox' | 'asks';

export type PersonRow = Readonly<{
  seq: number;
  key: string;
  /** Lane, or key of the conversation. */
  place: string;
  /** JSON; empty if already removed. */
  text: string;
  requester: string | null;
  ended: boolean;
}>;

/** `text` undefined removes the row. A row that no longer holds `was` stays. */
type RowChange = Readonly<{ seq: number; was: string; text: string | undefined }>;

type PersonKeys = 'commands' | 'pairing' | 'settings' | 'shown' | 'threads';

export type ForgetRows = Readonly<{
  /** Transcripts and run journals with an entry whose JSON holds one of these texts. */
  transcriptsWith(texts: readonly string[]): Promise<readonly string[]>;
  /** Current, archived (`KEY@…`), and journals of their runs (`…#run:…`). */
  transcriptsOf(conversation: string): Promise<readonly string[]>;
  entries(
    transcript: string,
    after: number,
    limit: number,
  ): Promise<readonly Readonly<{ seq: number; text: string }>[]>;
  rows(table: PersonTable, after: number, limit: number): Promise<readonly PersonRow[]>;
  change(table: PersonTable | 'entries', changes: readonly RowChange[]): Promise<void>;
  /** Removes ids of archived transcripts and times of last use, except where something was said meanwhile. */
  dropConversation(conversation: string): Promise<void>;
  keys(of: PersonKeys, after: string, limit: number): Promise<readonly string[]>;
  removeKeys(of: PersonKeys, keys: readonly string[]): Promise<void>;
  /** Theirs, and those whose JSON is about them. */
  removeMemories(sender: string, isAbout: (text: string) => boolean, limit: number): Promise<number>;
  /** What their turns added to the search index, answers included. */
  removeSaid(sender: string, limit: number): Promise<void>;
  removeUsage(sender: string): Promise<number>;
  removeRoutines(sender: string): Promise<number>;
}>;
