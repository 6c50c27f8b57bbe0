import type Keyv from 'keyv';
import { z } from 'zod';
import type { AuditWriter } from '../audit/create-audit.ts';
import { placeOfKey } from '../core/conversation.ts';
import type { Clock } from '../lib/clock.ts';
import { marksOf } from '../store/forget-entries.ts';
import { holdNamespace, holdTextNamespace } from '../store/held-rows.ts';
import type { Store } from '../store/store.ts';

/** A legal hold: what is stored of a person, or in a chat, stays until it is removed (L18). */
export type Hold = Readonly<{
  /** Id of a person or a chat. */
  id: string;
  /** When it began, in milliseconds since 1970. */
  since: number;
  by: string;
  reason?: string | undefined;
  /** People who were to be forgotten meanwhile. */
  waiting: readonly string[];
}>;

/** Keeps legal holds. While there is one, retention and forgetting leave out what it covers (L18). */
export type Holds = Readonly<{
  list(): Promise<readonly Hold[]>;
  /** False if there is one already, which stays as it is. */
  add(hold: Omit<Hold, 'since' | 'waiting'>): Promise<boolean>;
  /** Ends a hold and returns it; undefined if there was none. */
  remove(id: string, by: string): Promise<Hold | undefined>;
  /** The holds on these people, or on these chats and their threads. */
  over(ids: readonly string[]): Promise<readonly Hold[]>;
  /** Notes that a person was to be forgotten, but waits for these holds. */
  wait(sender: string, holds: readonly Hold[]): Promise<void>;
}>;

const stored = z.object({
  since: z.number(),
  by: z.string(),
  reason: z.string().optional(),
  waiting: z.array(z.string()).readonly(),
});

export function createHolds({
  store,
  audit,
  clock,
}: Readonly<{ store: Store; audit: AuditWriter; clock: Clock }>): Holds {
  const kept: Keyv = store.keyed(holdNamespace);
  const texts: Keyv = store.keyed(holdTextNamespace);

  async function list(): Promise<readonly Hold[]> {
    const found: Hold[] = [];
    for await (const [id, value] of kept.iterator()) found.push({ id: String(id), ...stored.parse(value) });
    return found.sort((a, b) => a.since - b.since);
  }

  return {
    list,
    async add({ id, by, reason }) {
      if (await kept.has(id)) return false;
      // The texts come first, so that a hold that is listed covers everything.
      for (const text of textsOf(id)) await texts.set(text, true);
      await kept.set(id, { since: clock.now(), by, reason, waiting: [] } satisfies z.input<typeof stored>);
      await audit.record({ event: 'hold', verdict: 'added', conversation: id, by });
      return true;
    },
    async remove(id, by) {
      const hold = (await list()).find((one) => one.id === id);
      if (hold === undefined) return undefined;
      await audit.record({ event: 'hold', verdict: 'removed', conversation: id, by });
      await kept.delete(id);
      const needed = new Set((await list()).flatMap((one) => textsOf(one.id)));
      for (const text of textsOf(id)) if (!needed.has(text)) await texts.delete(text);
      return hold;
    },
    over: async (ids) =>
      (await list()).filter((hold) => ids.some((id) => id === hold.id || id.startsWith(`${hold.id}/`))),
    async wait(sender, holds) {
      for (const { id, waiting, ...rest } of holds) {
        await kept.set(id, { ...rest, waiting: [...new Set([...waiting, sender])] });
        await audit.record({ event: 'hold', verdict: 'waits', conversation: id, sender });
      }
    },
  };
}

/** What JSON has in it if it is about this person or chat. */
function textsOf(id: string): readonly string[] {
  return [...marksOf(id), `"chat":${JSON.stringify(placeOfKey(id).chat)}`];
}
