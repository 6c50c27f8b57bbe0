import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import { bounds } from '../store/bounds.ts';
import type { Store } from '../store/store.ts';
import { lastSaidAt } from './user-entry.ts';

/** What people said in a chat without speaking to the bot. */
export type Heard = Readonly<{
  /** What was overheard since the last turn; before the first turn also what the platform tells (H10, M10). */
  before(message: Message, entries: readonly Entry[], transcript: string): Promise<readonly Message[]>;
  /** What was overheard since the last turn. */
  since(message: Message, entries: readonly Entry[]): Promise<readonly Message[]>;
}>;

export function createHeard(deps: {
  store: Pick<Store, 'overheard'>;
  readEarlier(message: Message): Promise<readonly Message[]>;
  most(): number;
  clock: Pick<Clock, 'now'>;
}): Heard {
  const { store, readEarlier, most, clock } = deps;

  async function since(message: Message, entries: readonly Entry[]): Promise<readonly Message[]> {
    if (message.chatType === 'private') return [];
    const at = Math.max(clock.now() - bounds.overheardKeptMs, lastSaidAt(entries) ?? 0);
    return store.overheard.recent(conversationKey(message.conversation), most(), at);
  }

  return {
    since,
    async before(message, entries, transcript) {
      const heard = await since(message, entries);
      // What `/new` archived is not read again.
      const isFirst = entries.length === 0 && transcript === conversationKey(message.conversation);
      if (!isFirst || most() === 0 || message.chatType === 'private') return heard;
      const read = await readEarlier(message);
      const known = new Set(read.map(({ id }) => id));
      return [...read, ...heard.filter(({ id }) => !known.has(id))].sort((a, b) => a.sentAt - b.sentAt);
    },
  };
}
