import { z } from 'zod';
import { listsId, type ChatMigrations } from '../../access/chat-migrations.ts';
import type { AccessContext, ChatUser } from '../../access/decide-skill.ts';
import type { Users } from '../../access/users.ts';
import type { AuditWriter } from '../../audit/create-audit.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import { chatIdOf } from '../../core/conversation.ts';
import type { Holder, Memory, MemoryUse } from '../../core/memory.ts';
import type { Message } from '../../core/message.ts';
import { fixed } from '../../core/texts/say.ts';
import type { SettingValues } from '../../core/tool-settings.ts';
import { readOnly, defineTool, type Tool } from '../../core/tool.ts';
import { succeed } from '../../core/envelope.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../store/store.ts';
import { memoryToolRows } from './memory-tools.ts';
import { decideMemory } from './decide-memory.ts';
import type { NamedTool } from '../../tools/settings/chat-settings.ts';

export type MemoryDeps = Readonly<{
  runtime: () => RuntimeConfig;
  store: Store;
  migrations: ChatMigrations;
  accessOf: AccessContext;
  users: Users;
  settings: Readonly<{
    forCall(conversation: Message['conversation']): (tool: NamedTool) => Promise<SettingValues>;
  }>;
  audit: AuditWriter;
  clock: Clock;
}>;

/** The person who uses memory, and the chat in which they do. */
export type Asker = ChatUser & Readonly<{ ephemeral?: true }>;

/** The notes that one person may use in one chat. */
export type OpenMemory = Readonly<{
  use: MemoryUse;
  /** The first id that the chat had (A6). */
  chat: string;
  /** Whose notes can be read here. */
  holders: readonly [Holder, Holder?];
  /** Notes that may be shown here, the newest and most used first. */
  visible(limit: number): Promise<readonly Memory[]>;
  /** The note of this id. Undefined unless this person may remove it here. */
  removable(id: string): Promise<Memory | undefined>;
}>;

/** The switch that `/settings` shows. If it is off in a chat, nothing is noted, shown or searched there (K3). */
export const memorySwitch: Tool = defineTool({
  name: 'remember',
  row: memoryToolRows.remember,
  description: 'Memory in this chat.',
  input: z.object({}),
  traits: readOnly,
  settings: z.object({
    on: z
      .boolean()
      .default(true)
      .meta({ title: fixed`Memory`, description: fixed`Whether I keep and read notes in this chat.` }),
  }),
  run: async () => succeed('It is a setting.'),
});

/** Opens the notes for a person in a chat. Undefined where memory is off, and in chats of unknown kind. */
export async function openMemory(asker: Asker, deps: MemoryDeps): Promise<OpenMemory | undefined> {
  const { runtime, store, accessOf, migrations, settings } = deps;
  const { conversation, chatType, external, sender } = asker;
  if (runtime().config.memory.enabled !== true) return undefined;
  const [values, original, { chatIds }] = await Promise.all([
    settings.forCall(conversation)(memorySwitch),
    migrations.original(conversation),
    accessOf(asker),
  ]);
  const set = memorySwitch.settings?.resolve(values);
  if (set?.ok !== true || set.values['on'] !== true) return undefined;
  const chat = chatIdOf(original);
  const use: MemoryUse = {
    what: 'show',
    isOn: true,
    chatType,
    chatIds,
    external,
    ephemeral: asker.ephemeral === true,
    sender: sender.id,
    manages: false,
  };
  const own = holderIn(use, chat);
  if (own === undefined) return undefined;
  const holders = external === false ? ([own, 'team'] as const) : ([own] as const);
  return {
    use,
    chat,
    holders,
    async visible(limit) {
      const found = await store.memories.of(holders, limit);
      return found.filter((memory) => decideMemory(memory, use).allowed);
    },
    async removable(id) {
      const memory = await store.memories.find(id);
      if (memory === undefined) return undefined;
      const manages = await managesMemory(sender.id, deps);
      return decideMemory(memory, { ...use, what: 'forget', manages }).allowed ? memory : undefined;
    },
  };
}

/**
 * Whose notes a chat has: a person's in direct messages, otherwise the chat's. What is said is kept and found only
 * under this. Undefined: the kind of chat is unknown.
 */
export function holderIn(
  { chatType, sender }: Pick<MemoryUse, 'chatType' | 'sender'>,
  chat: string,
): Holder | undefined {
  if (chatType === 'private') return sender === '' ? undefined : `person ${sender}`;
  return chatType === 'group' || chatType === 'channel' ? `chat ${chat}` : undefined;
}

/** Whether this person may manage everybody's notes: owners and approvers may. */
export async function managesMemory(sender: string, { runtime, users }: MemoryDeps): Promise<boolean> {
  return listsId(runtime().config.policy.approvers, sender) || (await users.isOwner(sender));
}

/** Everything that a person had noted, in every chat, for operators (K6). */
export async function memoriesOf(
  person: string,
  { memories }: MemoryDeps['store'],
): Promise<readonly Memory[]> {
  const use: MemoryUse = {
    what: 'list',
    isOn: true,
    chatType: 'unknown',
    chatIds: [],
    external: true,
    ephemeral: false,
    sender: person,
    manages: false,
  };
  return (await memories.by(person)).filter((memory) => decideMemory(memory, use).allowed);
}
