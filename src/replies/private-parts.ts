import type { Button, Channel, Part } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { ReplyOptions } from '../core/feature.ts';
import { sayIn } from '../core/texts/say.ts';
import type { Log } from '../lib/log.ts';
import type { OutboxRow } from '../store/outbox.ts';
import type { Step, Store } from '../store/store.ts';

type Row = Pick<OutboxRow, 'key' | 'conversation' | 'part'>;
type Rows = NonNullable<Step['outbox']>;

/** How long a part waits for the person's first direct message: as long as outbox rows are kept. */
const waitMs = 7 * 24 * 3_600_000;

/** The direct message with this person. Platforms accept their id as the chat's. */
export function directMessage(person: string): Conversation {
  const end = person.indexOf(':');
  return { channel: person.slice(0, end), chat: person.slice(end + 1) };
}

/** The first word of a button in a direct message that acts for a group. */
export const forGroupWord = 'in';

/** Most bytes of an action on any platform. */
const longestAction = 64;

/** Buttons as they are in a direct message, where they act for the group that they were made for (U16). */
function forGroup(buttons: readonly Button[] | undefined): readonly Button[] | undefined {
  const kept = (buttons ?? []).flatMap((button): readonly Button[] => {
    if ('url' in button) return [button];
    const action = `${forGroupWord}:${button.action}`;
    return Buffer.byteLength(action) <= longestAction ? [{ ...button, action }] : [];
  });
  return kept.length === 0 ? undefined : kept;
}

/** Where an answer goes. One for a person who acts for a group from their direct message goes there (U16). */
export function whereTo(
  conversation: Conversation,
  more: ReplyOptions,
): Readonly<{ place: Conversation; options: ReplyOptions; from?: Part['from'] }> {
  const { onlyTo, privately } = more;
  const direct = onlyTo === undefined ? undefined : privately?.reply?.direct;
  if (privately === undefined || direct === undefined) return { place: conversation, options: more };
  const { reply: _, ...rest } = privately;
  const options = { ...more, replyTo: undefined, buttons: forGroup(more.buttons), privately: rest };
  return { place: direct.conversation, options, from: { key: direct.tell, conversation } };
}

/**
 * What is sent instead of a part for one person that the platform refused to show them where it belongs (U16). Nothing
 * of the part itself is ever for all: either it goes to their direct message, or a neutral line is said in its place.
 * Undefined if it was for a direct message already, or if everybody may see it.
 */
function insteadOf({ key, conversation, part }: Row, channel: Channel): Rows | undefined {
  const { onlyTo, privately, replyTo, ...rest } = part;
  if (onlyTo === undefined || part.from !== undefined) return undefined;
  const direct = directMessage(onlyTo);
  if (direct.channel !== conversation.channel || direct.chat === conversation.chat) return undefined;
  const base = key.replace(/#\d+$/, '');
  if (privately?.neutral !== undefined) {
    const { neutral, language } = privately;
    const instead = { markdown: neutral, replyTo, buttons: directButton(channel, language) };
    return [{ key: `${base}!neutral`, conversation, part: instead }];
  }
  const from = { key: base.replace(/!whole$/, ''), conversation };
  const buttons = forGroup(part.buttons);
  return [
    { key: `${key}!direct`, conversation: direct, part: { ...rest, buttons, onlyTo, privately, from } },
  ];
}

/**
 * Rows for the direct message with a person who is spoken of in a group, and must not read them there. The group gets a
 * neutral line, once they arrive or if they wait for that person's first direct message (U16).
 */
export function beyondGroup(
  rows: Rows,
  of: Readonly<{
    person: string;
    key: string;
    group: Conversation;
    at: number;
    language: string | undefined;
  }>,
): Rows {
  const { person, key, group, at, language } = of;
  const how = { onlyTo: person, privately: { at, language }, from: { key, conversation: group } };
  return rows.map((row) => ({ ...row, part: { ...row.part, ...how } }));
}

/** What is said in the group, in words that all may read, on where the part went or that it waits. */
function notesOn({ part }: Row, arrived: boolean, channel: Channel): Rows {
  const { from, privately } = part;
  if (from?.key === undefined || privately?.quiet === true) return [];
  const say = sayIn(privately?.language);
  const { conversation } = from;
  if (arrived) {
    const markdown = say`I answered you in a direct message.`;
    return [{ key: `${from.key}!note`, conversation, part: { markdown } }];
  }
  const buttons = directButton(channel, privately?.language);
  const markdown = say`I can say that only in a direct message. Write to me there, and you get it.`;
  return [{ key: `${from.key}!note`, conversation, part: { markdown, buttons } }];
}

type Sending = Readonly<{ row: Row; channel: Channel }>;

/** Tells in the group what became of an answer that was for one person there. */
export async function tellWhere({ row, channel }: Sending, arrived: boolean, store: Store): Promise<void> {
  const outbox = notesOn(row, arrived, channel);
  if (outbox.length > 0) await store.commit({ outbox });
}

type KeepDeps = Readonly<{
  store: Store;
  outbox: Store['outbox'];
  log: Log;
}>;

/**
 * Takes up a part for one person that the platform refused to show them. True if something else is sent instead, or if
 * the part waits for a direct message. It never goes where others read it (U16).
 */
export async function keepPrivate(
  sending: Sending,
  reason: string,
  { store, outbox, log }: KeepDeps,
): Promise<boolean> {
  const { row, channel } = sending;
  const { onlyTo, from } = row.part;
  if (onlyTo === undefined) return false;
  if (row.part.privately?.orNothing === true) {
    log.info({ outbox: row.key, reason }, 'a part for one person is not said');
    await outbox.sent(row.key, { id: 'nowhere', onlyTo });
    return true;
  }
  const instead = insteadOf(row, channel);
  if (instead !== undefined) {
    log.info({ outbox: row.key, reason }, 'a part for one person goes another way');
    await store.commit({ outbox: instead });
    await outbox.sent(row.key, { id: 'elsewhere', onlyTo });
    return true;
  }
  if (from === undefined) return false;
  await createWaitingParts(store).add(onlyTo, row.key);
  await tellWhere(sending, false, store);
  await outbox.dead(row.key, `it waits for a direct message: ${reason}`);
  return true;
}

/** A button that names no skill, because everybody reads its address. */
function directButton(channel: Channel, language: string | undefined): Part['buttons'] {
  const url = channel.directLink();
  return url === undefined ? undefined : [{ label: sayIn(language)`Open a direct message`, url }];
}

/** Parts that wait until their receiver opens a direct message with the bot, by person. */
export function createWaitingParts(store: Store): Readonly<{
  add(person: string, key: string): Promise<void>;
  /** The person wrote a direct message: what waits for them is sent. */
  release(person: string): Promise<void>;
}> {
  const waiting = store.keyed('waiting-parts');
  return {
    async add(person, key) {
      const known = (await waiting.get<readonly string[]>(person)) ?? [];
      await waiting.set(person, [...known.filter((one) => one !== key), key], waitMs);
    },
    async release(person) {
      const keys = await waiting.get<readonly string[]>(person);
      if (keys === undefined || keys === null) return;
      for (const key of keys) await store.outbox.revive(key);
      await waiting.delete(person);
    },
  };
}

/**
 * Whether the part may be shown by an edit of this message: private words never go into one that others see. A part that
 * came from a group is in a direct message, where every message is for that person alone.
 */
export function fitsInto(part: Part, shown: Readonly<{ onlyTo?: string }>): boolean {
  return part.onlyTo === shown.onlyTo || (part.from !== undefined && shown.onlyTo === undefined);
}
