import type { ChatKind } from '../core/conversation.ts';
import type { Join } from '../core/join.ts';
import type { Message, MessageCommand } from '../core/message.ts';
import { bounds } from './bounds.ts';
import { readStored } from './stored-json.ts';
import { storedItem } from './stored-message.ts';

export function writeItem(message: Message): string {
  const parts: readonly ItemPart[] = [{ message, glue: '' }];
  return JSON.stringify(parts);
}

/** Fills in a missing chat type from a twin of the message; undefined if none is missing (Q2). */
export function completeItem(parts: string, twin: Message): string | undefined {
  const stored = readStored(storedItem, parts);
  if (!stored.ok || twin.chatType === 'unknown') return undefined;
  const gap = ({ message }: ItemPart) => message.id === twin.id && message.chatType === 'unknown';
  if (!stored.value.some(gap)) return undefined;
  return JSON.stringify(
    asStored(parts).map((part, n) => {
      const known = stored.value[n];
      if (known === undefined || !gap(known)) return part;
      return { ...part, message: { ...part.message, ...typeOf(twin, known.message) } };
    }),
  );
}

/** Adds a message to an item; undefined if the message needs an item of its own (H3). */
export function joinItem(parts: string, message: Message, join: Join): string | undefined {
  const stored = readStored(storedItem, parts);
  const glue = stored.ok ? glueTo(stored.value, message, join) : undefined;
  return glue === undefined ? undefined : JSON.stringify([...asStored(parts), { message, glue }]);
}

/** The whole message that this one is a part of, or would be; undefined if it stays alone (H3). */
export function wholeOf(parts: string, message: Message, join: Join): Message | undefined {
  const stored = readStored(storedItem, parts);
  if (!stored.ok) return undefined;
  const isPart = stored.value.some((part) => part.message.id === message.id);
  return isPart || glueTo(stored.value, message, join) !== undefined ? joinMessages(stored.value) : undefined;
}

function glueTo(parts: Parts, message: Message, join: Join): string | undefined {
  if (parts.length >= bounds.joinedMessages || parts[0].message.sender.id !== message.sender.id)
    return undefined;
  return join.glue((parts.at(-1) ?? parts[0]).message);
}

/** Replaces an edited message in an item; undefined if the item can't be read. */
export function editItem(parts: string, message: Message): string | undefined {
  const stored = readStored(storedItem, parts);
  if (!stored.ok) return undefined;
  return JSON.stringify(
    asStored(parts).map((part) => (part.message.id === message.id ? { ...part, message } : part)),
  );
}

/**
 * Type and sharing of a message and its twin. If either says that the chat is shared, it is, so a twin can only take
 * rights away.
 */
function typeOf(twin: Message, message: Message): ChatKind {
  return { chatType: twin.chatType, external: message.external || twin.external };
}

/** The parts with fields of newer versions, which are written back (Q15). Only for text that `readStored` accepts. */
function asStored(parts: string): readonly ItemPart[] {
  return JSON.parse(parts) as readonly ItemPart[];
}

/** One message of an item. `glue` is put between its text and the text before. */
export type ItemPart = Readonly<{ message: Message; glue: string }>;

/**
 * Joins the messages of an album, or of a text that the client split (H3). The first part decides id, sender and place.
 */
export function joinMessages(parts: Parts): Message {
  const [first, ...rest] = withCaptions(parts);
  return rest.reduce((joined, { message, glue }) => append(joined, message, glue), first.message);
}

type Parts = readonly [ItemPart, ...ItemPart[]];

/** A single caption is that of the whole album. If there are several, each belongs to its own file. */
function withCaptions(parts: Parts): Parts {
  const hasCaption = ({ message }: ItemPart) => message.text !== '' && message.attachments.length > 0;
  if (parts.filter(hasCaption).length < 2) return parts;
  const [first, ...rest] = parts;
  const bound = (part: ItemPart): ItemPart => {
    if (!hasCaption(part)) return part;
    const { text: caption, attachments } = part.message;
    return {
      ...part,
      message: { ...part.message, attachments: attachments.map((one) => ({ ...one, caption })) },
    };
  };
  return [bound(first), ...rest.map(bound)];
}

function append(joined: Message, next: Message, glue: string): Message {
  const command = joined.command === undefined ? next.command : continued(joined.command, next.text, glue);
  const replyTo = joined.replyTo ?? next.replyTo;
  const shared = both(joined.shared, next.shared);
  const hiddenLinks = both(joined.hiddenLinks, next.hiddenLinks);
  return {
    ...joined,
    external: joined.external || next.external,
    text: glued(joined.text, next.text, glue),
    addressed: joined.addressed || next.addressed,
    command,
    attachments: [...joined.attachments, ...next.attachments],
    replyTo,
    shared,
    hiddenLinks,
  };
}

function both<Item>(before: readonly Item[] = [], after: readonly Item[] = []): readonly Item[] | undefined {
  return before.length + after.length === 0 ? undefined : [...before, ...after];
}

/** Adds text that was split off a command to its arguments. */
function continued({ name, args }: MessageCommand, text: string, glue: string): MessageCommand {
  return { name, args: glued(args, text, glue) };
}

function glued(before: string, after: string, glue: string): string {
  return before === '' || after === '' ? before + after : before + glue + after;
}
