import { z } from 'zod';
import { listsId, type ChatMigrations } from '../access/chat-migrations.ts';
import type { AccessContext } from '../access/decide-skill.ts';
import type { Users } from '../access/users.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { Holder, Memory, MemoryUse } from '../core/memory.ts';
import type { Message } from '../core/message.ts';
import { fixed } from '../core/texts/say.ts';
import type { SettingValues } from '../core/tool-settings.ts';
import { readOnly, defineTool, type Tool } from '../core/tool.ts';
import { succeed } from '../core/envelope.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import { decideMemory } from './decide-memory.ts';

export type MemoryDeps = Readonly<{
  runtime: () => Pick<RuntimeConfig, 'config'>;
  store: Pick<Store, 'memories' | 'transcripts'>;
  migrations: Pick<ChatMigrations, 'original'>;
  accessOf: AccessContext;
  users: Pick<Users, 'isOwner'>;
  settings: Readonly<{
    forCall(
      conversation: Message['conversation'],
    ): (tool: Pick<Tool, 'name' | 'settings'>) => Promise<SettingValues>;
  }>;
  audit: Pick<Audit, 'record'>;
  clock: Pick<Clock, 'now'>;
}>;

/** Who asks, and where. */
export type Asker = Pick<Message, 'conversation' | 'chatType' | 'external' | 'ephemeral'> &
  Readonly<{ sender: Readonly<{ id: string }> }>;

/** Of one person in one chat. */
export type OpenMemory = Readonly<{
  use: MemoryUse;
  /** The chat's first id (A6). */
  chat: string;
  /** Whose notes can be read here. */
  holders: readonly [Holder, Holder?];
  /** Newest and most used first. */
  visible(limit: number): Promise<readonly Memory[]>;
  /** Undefined unless this person may remove it here. */
  removable(id: string): Promise<Memory | undefined>;
}>;

/** `/settings` shows it: off in a chat, nothing is noted, shown or searched there (K3). */
export const memorySwitch: Tool = defineTool({
  name: 'remember',
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

/** Undefined where memory is off, and in chats of unknown kind. */
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

/** A person's direct messages, or a chat: what was said is kept and found under this alone. */
export function holderIn(
  { chatType, sender }: Pick<MemoryUse, 'chatType' | 'sender'>,
  chat: string,
): Holder | undefined {
  if (chatType === 'private') return sender === '' ? undefined : `person ${sender}`;
  return chatType === 'group' || chatType === 'channel' ? `chat ${chat}` : undefined;
}

/** Owners and approvers. */
export async function managesMemory(
  sender: string,
  { runtime, users }: Pick<MemoryDeps, 'runtime' | 'users'>,
): Promise<boolean> {
  return listsId(runtime().config.policy.approvers, sender) || (await users.isOwner(sender));
}

/** For operators: what a person had noted, in every chat (K6). */
export async function memoriesOf(
  person: string,
  { memories }: Pick<MemoryDeps['store'], 'memories'>,
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
