import type Keyv from 'keyv';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { chatTypes, conversationKey, type Conversation, type SeenChatType } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Signals } from '../../store/signals.ts';
import { storedConversation } from '../../store/stored-message.ts';

/**
 * A value is awaited: this person's next message until `until` (Unix ms) is the value. `group` is where it holds if the
 * message came from a direct message instead (U16).
 */
type SettingEntry = Readonly<{
  tool: string;
  key: string;
  secret: boolean;
  until: number;
  group?: GroupChat | undefined;
}>;

export type GroupChat = Readonly<{ conversation: Conversation; chatType: SeenChatType }>;

/** `direct`: the direct message from which the person acts for the group. */
type From = GroupChat & Readonly<{ sender: string; direct?: Conversation | undefined }>;

/** Values that people were asked to type. These messages never reach a model. */
export type SettingEntries = Readonly<{
  begin(from: From, of: Pick<SettingEntry, 'tool' | 'key' | 'secret'>): Promise<void>;
  /**
   * Says which setting a message sets, or `again` if the message was taken before. The time of the message decides, so
   * that a redelivery changes nothing. `forGroup`: it replies in a direct message to what is asked about a group.
   * Undefined: the message is an ordinary one.
   */
  meant(message: Message, forGroup?: boolean): Promise<SettingEntry | 'again' | undefined>;
  /** Remembers that a message was taken. `over`: no further value is expected. */
  took(message: Message, over: boolean, forGroup?: boolean): Promise<void>;
  end(from: From): Promise<void>;
  /** Reads what is awaited. Call it before messages arrive. */
  load(): Promise<void>;
}>;

export const settingEntries = 'setting-entries';

export const entryMs = 10 * 60_000;
/** How long an entry is kept, in milliseconds: longer than a message that was sent in time may take to arrive. */
const keptMs = 24 * 3_600_000;

/** Keys of awaited values are kept in memory, so that most messages cost no read. */
export function createSettingEntries(options: {
  stored: Keyv;
  signals: Signals;
  clock: Clock;
}): SettingEntries {
  const { clock } = options;
  const { waited, read, keep, load } = createKeptEntries(options);

  async function add(key: string, entry: SettingEntry): Promise<void> {
    await keep(key, { ...entry, took: (await read(key))?.took ?? [] });
    await options.signals.send('set', `${entrySign}${key}`);
  }

  return {
    load,
    async begin(from, of) {
      const { conversation, chatType, sender, direct } = from;
      const entry = { ...of, until: clock.now() + entryMs };
      const inGroup = { ...entry, group: { conversation, chatType } };
      if (direct !== undefined) return add(keyOf({ conversation: direct, sender }), inGroup);
      await add(keyOf(from), entry);
      // What is asked in a group may be shown in the direct message, which is known only later.
      if (chatType !== 'private') await add(groupKeyOf(sender), inGroup);
    },
    async meant(message, forGroup = false) {
      const { sentAt, chatType, addressed } = message;
      const key = keyFor(message, forGroup);
      if (!waited.has(key) || message.command !== undefined || message.text.trim() === '') return undefined;
      const entry = await read(key);
      if (entry === undefined) return void waited.delete(key);
      if (entry.took.includes(message.id)) return 'again';
      if (sentAt > entry.until) return undefined;
      // In groups a value must be addressed to the bot. A secret always counts, so that it never reaches a model.
      return chatType === 'private' || addressed || entry.secret ? entry : undefined;
    },
    async took(message, over, forGroup = false) {
      const key = keyFor(message, forGroup);
      const entry = await read(key);
      if (entry === undefined) return;
      const took = [...entry.took, message.id].slice(-mostTaken);
      await keep(key, { ...entry, took, until: over ? 0 : entry.until });
    },
    async end(from) {
      for (const key of keysOf(from)) {
        const entry = waited.has(key) ? await read(key) : undefined;
        if (entry !== undefined) await keep(key, { ...entry, until: 0 });
      }
    },
  };
}

function createKeptEntries({ stored, signals }: Readonly<{ stored: Keyv; signals: Signals }>) {
  const waited = new Set<string>();
  signals.on('set', (what) => {
    if (what.startsWith(entrySign)) waited.add(what.slice(entrySign.length));
  });
  return {
    waited,
    async load(): Promise<void> {
      for await (const [key] of stored.iterator()) waited.add(String(key));
    },
    async read(key: string): Promise<Stored | undefined> {
      const found = storedEntry.safeParse(await stored.get(key));
      return found.success ? found.data : undefined;
    },
    async keep(key: string, entry: Stored): Promise<void> {
      await stored.set(key, entry, keptMs);
      waited.add(key);
    },
  };
}

/** The signal to other processes that a value is awaited. */
const entrySign = 'entry ';

/** How many ids of messages are remembered, in case they are delivered again. */
const mostTaken = 20;

const storedEntry = z.object({
  tool: z.string(),
  key: z.string(),
  secret: z.boolean(),
  until: z.number(),
  group: z
    .object({ conversation: storedConversation, chatType: z.enum([...chatTypes, 'unknown']) })
    .optional(),
  took: z.array(z.string()),
});
type Stored = z.output<typeof storedEntry>;

/** Whether a key of the namespace belongs to this person (Q12). */
export function isEntryOf(key: string, sender: string): boolean {
  return key.endsWith(` ${sender}`);
}

function keysOf(from: From): readonly string[] {
  const { chatType, sender, direct } = from;
  const asked = direct === undefined ? [] : [keyOf({ conversation: direct, sender })];
  return chatType === 'private' ? [keyOf(from)] : [keyOf(from), groupKeyOf(sender), ...asked];
}

function keyFor({ conversation, sender: { id: sender } }: Message, forGroup: boolean): string {
  return forGroup ? groupKeyOf(sender) : keyOf({ conversation, sender });
}

/** The key has no thread, because the answer may come in another one. */
function keyOf({ conversation: { channel, chat }, sender }: Omit<From, 'chatType'>): string {
  return `${conversationKey({ channel, chat })} ${sender}`;
}

/** The key of what is awaited from a person for a group, in whatever chat they have with the bot. */
function groupKeyOf(sender: string): string {
  return `group ${sender}`;
}
