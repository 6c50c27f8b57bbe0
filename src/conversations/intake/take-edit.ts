import { createHash } from 'node:crypto';
import type { ChatMigrations } from '../../access/chat-migrations.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';
import type { Commands } from '../commands.ts';

const mostHeard = 200;

export type EditDeps = Readonly<{
  store: Store;
  migrations: ChatMigrations;
  clock: Clock;
  resolve: Commands['resolve'];
  taken(message: Message): Promise<void>;
}>;

/** Replaces a message that still waits. If its turn is running, the edit reaches that turn as a message (H3, H11). */
export async function takeEdit(edited: Message, at: string | undefined, deps: EditDeps): Promise<void> {
  const outcome = await deps.store.inbox.replace(edited);
  if (outcome === 'unknown') await takeHeard(edited, deps);
  if (outcome === 'too_late') await sayToTurn(edited, at ?? '', deps);
}

async function takeHeard(edited: Message, { store, taken }: EditDeps): Promise<void> {
  const heard = await store.groupContext.recent(conversationKey(edited.conversation), mostHeard, 0);
  if (!heard.some(({ id }) => id === edited.id)) return;
  await taken(edited);
  await store.groupContext.remove(edited.id);
}

async function sayToTurn(edited: Message, at: string, deps: EditDeps): Promise<void> {
  const { store, clock, resolve } = deps;
  const waiting = await store.inbox.waitingIn(conversationKey(edited.conversation));
  const asked = waiting.find(({ key }) => key === edited.id)?.message;
  // Commands already ran as they were written.
  if (asked === undefined || (await isCommand(asked, resolve)) || (await isCommand(edited, resolve))) return;
  const last = waiting.findLast(({ message }) => message?.edits === edited.id)?.message;
  if (last?.text === edited.text) return;
  if (last === undefined && asked.text === edited.text && !(await hasJoined(edited, deps))) return;
  const words = createHash('sha256').update(`${at}\n${edited.text}`).digest('hex').slice(0, 16);
  const message = { ...edited, id: `${editKey(edited.id)}${words}`, edits: edited.id, attachments: [] };
  await store.inbox.accept(message, { now: clock.now() });
}

/** After a mention any word may look like a command, so only a known one counts (I1). */
async function isCommand(message: Message, resolve: EditDeps['resolve']): Promise<boolean> {
  if (message.command?.bare !== true) return message.command !== undefined;
  return (await resolve(message)) !== undefined;
}

async function hasJoined({ id, conversation }: Message, { store, migrations }: EditDeps): Promise<boolean> {
  const transcript = conversationKey(await migrations.original(conversation));
  const { entries } = await store.transcripts.read(await store.transcripts.current(transcript));
  return entries.some(
    ({ entry }) => entry.kind === 'user' && entry.item !== undefined && isEditOf(id, entry.item),
  );
}

function editKey(id: string): string {
  return `${id}!edit:`;
}

/** Whether the item `key` is an edit of the message `id`. */
export function isEditOf(id: string, key: string): boolean {
  return key.startsWith(editKey(id));
}
