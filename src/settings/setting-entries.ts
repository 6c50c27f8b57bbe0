import type Keyv from 'keyv';
import { z } from 'zod';
import type { Clock } from '../lib/clock.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Signals } from '../store/signals.ts';

/** The next message until `until` is the value. */
type SettingEntry = Readonly<{ tool: string; key: string; secret: boolean; until: number }>;

type From = Readonly<{ conversation: Message['conversation']; sender: string }>;

/** These messages never reach a model. */
export type SettingEntries = Readonly<{
  begin(from: From, of: Pick<SettingEntry, 'tool' | 'key' | 'secret'>): Promise<void>;
  /**
   * Which setting a message sets; `again` if taken before. Judged by the message's time, so a redelivery changes
   * nothing.
   */
  meant(message: Message): Promise<SettingEntry | 'again' | undefined>;
  /** `over`: no further value is expected. */
  took(message: Message, over: boolean): Promise<void>;
  end(from: From): Promise<void>;
  /** Before messages arrive. */
  load(): Promise<void>;
}>;

export const settingEntries = 'setting-entries';

export const entryMs = 10 * 60_000;
/** Longer than a message that was sent in time takes to arrive. */
const keptMs = 24 * 3_600_000;

/** Keys are in memory: most messages cost no read. */
export function createSettingEntries(options: {
  stored: Keyv;
  signals: Pick<Signals, 'send' | 'on'>;
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
      // In groups only when addressed; secrets always.
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

/** Signal: a key is open. */
const entrySign = 'entry ';

/** Ids, in case of redelivery. */
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

/** Without the thread: the answer may come elsewhere. */
function keyOf({ conversation: { channel, chat }, sender }: From): string {
  return `${conversationKey({ channel, chat })} ${sender}`;
}
