import type Keyv from 'keyv';
import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Signals } from '../../store/signals.ts';

/** A value is awaited: this person's next message until `until` (Unix ms) is the value. */
type SettingEntry = Readonly<{ tool: string; key: string; secret: boolean; until: number }>;

type From = Readonly<{ conversation: Message['conversation']; sender: string }>;

/** Values that people were asked to type. These messages never reach a model. */
export type SettingEntries = Readonly<{
  begin(from: From, of: Pick<SettingEntry, 'tool' | 'key' | 'secret'>): Promise<void>;
  /**
   * Says which setting a message sets, or `again` if the message was taken before. The time of the message decides, so
   * that a redelivery changes nothing. Undefined: the message is an ordinary one.
   */
  meant(message: Message): Promise<SettingEntry | 'again' | undefined>;
  /** Remembers that a message was taken. `over`: no further value is expected. */
  took(message: Message, over: boolean): Promise<void>;
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
  const { stored, signals, clock } = options;
  const waited = new Set<string>();
  signals.on('set', (what) => {
    if (what.startsWith(entrySign)) waited.add(what.slice(entrySign.length));
  });

  async function load(): Promise<void> {
    for await (const [key] of stored.iterator()) waited.add(String(key));
  }

  async function read(key: string): Promise<Stored | undefined> {
    const found = storedEntry.safeParse(await stored.get(key));
    return found.success ? found.data : undefined;
  }

  return {
    load,
    async begin(from, of) {
      const key = keyOf(from);
      const took = (await read(key))?.took ?? [];
      await stored.set(key, { ...of, until: clock.now() + entryMs, took }, keptMs);
      waited.add(key);
      await signals.send('set', `${entrySign}${key}`);
    },
    async meant(message) {
      const { conversation, sender, sentAt, chatType, addressed } = message;
      const key = keyOf({ conversation, sender: sender.id });
      if (!waited.has(key) || message.command !== undefined || message.text.trim() === '') return undefined;
      const entry = await read(key);
      if (entry === undefined) return void waited.delete(key);
      if (entry.took.includes(message.id)) return 'again';
      if (sentAt > entry.until) return undefined;
      // In groups a value must be addressed to the bot. A secret always counts, so that it never reaches a model.
      return chatType === 'private' || addressed || entry.secret ? entry : undefined;
    },
    async took({ conversation, sender, id }, over) {
      const key = keyOf({ conversation, sender: sender.id });
      const entry = await read(key);
      if (entry === undefined) return;
      const took = [...entry.took, id].slice(-mostTaken);
      await stored.set(key, { ...entry, took, until: over ? 0 : entry.until }, keptMs);
    },
    async end(from) {
      const key = keyOf(from);
      const entry = waited.has(key) ? await read(key) : undefined;
      if (entry !== undefined) await stored.set(key, { ...entry, until: 0 }, keptMs);
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
  took: z.array(z.string()),
});
type Stored = z.output<typeof storedEntry>;

/** Whether a key of the namespace belongs to this person (Q12). */
export function isEntryOf(key: string, sender: string): boolean {
  return key.endsWith(` ${sender}`);
}

/** The key has no thread, because the answer may come in another one. */
function keyOf({ conversation: { channel, chat }, sender }: From): string {
  return `${conversationKey({ channel, chat })} ${sender}`;
}
