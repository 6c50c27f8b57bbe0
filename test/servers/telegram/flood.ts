import type { Clock } from '../../../src/lib/clock.ts';
import { tooManyRequests } from './bot-api-error.ts';

/** Messages reach the server a little closer together than they left: that much is forgiven. */
const toleranceMs = 250;

/**
 * Counts sends and edits and refuses those over the platform's limits: in a chat five at once and then one a second,
 * in a group twenty a minute, overall thirty a second. A refused call is not counted.
 */
export function createFlood(clock: Clock): (chat: number) => void {
  const all: number[] = [];
  const groups = new Map<number, number[]>();
  const chats = new Map<number, number[]>();
  return (chat) => {
    const now = clock.now();
    const inGroup = groups.get(chat) ?? [];
    const inChat = chats.get(chat) ?? [];
    const windows = [
      { times: all, count: 30, ms: 1000 },
      ...(chat < 0 ? [{ times: inGroup, count: 20, ms: 60_000 }] : []),
    ];
    for (const { times, count, ms } of windows) {
      const before = times.at(-count);
      if (before !== undefined && now - before < ms - toleranceMs) {
        throw tooManyRequests((before + ms - now) / 1000);
      }
    }
    // Each message occupies one of five places, freed one a second.
    const freeAt = Math.max(now, inChat.at(-1) ?? 0) + 1000;
    const over = freeAt - now - 5000;
    if (over > toleranceMs) throw tooManyRequests(over / 1000);
    chats.set(chat, [freeAt]);
    groups.set(chat, [...inGroup.slice(-20), now]);
    all.push(now);
    all.splice(0, all.length - 40);
  };
}
