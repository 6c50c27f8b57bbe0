import type { Message } from '../core/message.ts';
import { bounds } from './bounds.ts';
import type { ItemPart } from './join-messages.ts';
import { readStored } from './stored-json.ts';
import { storedItem } from './stored-message.ts';

/** A new item's parts, as stores write them. */
export function writeItem(message: Message): string {
  const parts: readonly ItemPart[] = [{ message, glue: '' }];
  return JSON.stringify(parts);
}

/** The parts of an item once this twin filled in the chat type that one of them lacks; nothing where there is no such gap (Q2). */
export function completeItem(parts: string, twin: Message): string | undefined {
  const stored = readStored(storedItem, parts);
  if (!stored.ok || twin.chatType === 'unknown') return undefined;
  const gap = ({ message }: ItemPart) => message.id === twin.id && message.chatType === 'unknown';
  if (!stored.value.some(gap)) return undefined;
  return JSON.stringify(
    stored.value.map((part) => (gap(part) ? { ...part, message: withTypeOf(twin, part.message) } : part)),
  );
}

/** The parts of a waiting item once this message continues it; nothing where it has to be an item of its own (H3). */
export function joinItem(parts: string, message: Message, glue: string): string | undefined {
  const stored = readStored(storedItem, parts);
  if (!stored.ok || stored.value.length >= bounds.joinedMessages) return undefined;
  if (stored.value[0].message.sender.id !== message.sender.id) return undefined;
  return JSON.stringify([...stored.value, { message, glue }]);
}

/** The parts of an item once this message replaced itself in it (an edit); nothing where they can't be read. */
export function editItem(parts: string, message: Message): string | undefined {
  const stored = readStored(storedItem, parts);
  if (!stored.ok) return undefined;
  return JSON.stringify(
    stored.value.map((part) => (part.message.id === message.id ? { ...part, message } : part)),
  );
}

/** Only what decides is taken, and only towards refusing: a room that either twin calls shared is shared. */
function withTypeOf(twin: Message, message: Message): Message {
  return { ...message, chatType: twin.chatType, external: message.external || twin.external };
}
