import type { Channel } from '../core/channel.ts';
import type { Clock } from '../core/clock.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import { SendError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Outbox, OutboxRow } from '../stores/store.ts';
import { createLookout } from './lookout.ts';

export type Delivery = Readonly<{
  /** Looks for rows to send now. */
  wake(): void;
  /** Resolves when nothing of this conversation waits to be sent now (sent, given up, or put off to later). */
  settled(conversation: Conversation): Promise<void>;
  /** Resolves when nothing is being sent and nothing is due. */
  idle(): Promise<void>;
  /** Begins no more sends; resolves when those under way have ended, after `graceMs` at most: what is unsent is durable. */
  stop(graceMs: number): Promise<void>;
}>;

/** A row is given up after so many tries: with the longest wait that is about a day. */
const mostTries = 300;
const longestWaitMs = 5 * 60_000;

/**
 * Empties the outbox: in order within a conversation, conversations side by side (Q6, H8). A send whose outcome is
 * unknown is looked up where the platform allows, else repeated and counted.
 */
export function createDelivery(options: {
  outbox: Outbox;
  channels: ReadonlyMap<string, Channel>;
  /** Where a conversation is now, its chat having moved perhaps (A6). */
  currentPlace(conversation: Conversation): Promise<Conversation>;
  onMoved(from: Conversation, toChat: string): Promise<void>;
  clock: Clock;
  log: Log;
}): Delivery {
  const { outbox, channels, currentPlace, onMoved, clock, log } = options;
  const active = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const lookout = createLookout({ look, what: 'the outbox', clock, log });
  const { wake } = lookout;

  async function look(): Promise<number | undefined> {
    const { rows, nextAt } = await outbox.due(clock.now());
    for (const row of rows) {
      const key = conversationKey(row.conversation);
      if (stopping.signal.aborted || active.has(key) || !channels.has(row.conversation.channel)) continue;
      active.set(
        key,
        deliver(row).finally(() => {
          active.delete(key);
          wake();
        }),
      );
    }
    return nextAt;
  }

  async function deliver(row: OutboxRow): Promise<void> {
    const channel = channels.get(row.conversation.channel);
    if (channel === undefined) return;
    try {
      await send(channel, row, await currentPlace(row.conversation));
    } catch (error) {
      await settle(channel, row, error).catch(async (fault: unknown) => {
        log.error(
          { err: fault, outbox: row.key },
          'the outbox could not be written; the part is sent again later',
        );
        await clock.sleep(1_000, stopping.signal).catch(() => undefined);
      });
    }
  }

  async function send(channel: Channel, row: OutboxRow, place: Conversation): Promise<void> {
    if (row.status === 'sending') {
      const found = await channel.find(place, row.key);
      if (found !== undefined) return outbox.sent(row.key, found);
      await outbox.repeated(row.key);
      log.warn({ outbox: row.key }, 'a send was cut off and its outcome is unknown: sent again');
    }
    await outbox.sending(row.key);
    await outbox.sent(row.key, await channel.send(place, row.part, row.key));
  }

  async function settle(channel: Channel, row: OutboxRow, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof SendError && error.movedTo !== undefined) {
      await onMoved(row.conversation, error.movedTo);
      return outbox.retry(row.key, reason, clock.now());
    }
    const refused = error instanceof SendError && error.outcome === 'refused';
    if (refused || row.tries >= mostTries) {
      log.error(
        { err: error, outbox: row.key, channel: channel.name },
        'a part could not be delivered and was given up',
      );
      return outbox.dead(row.key, reason);
    }
    if (error instanceof SendError && error.outcome === 'unknown') {
      const found = await channel.find(row.conversation, row.key).catch(() => undefined);
      if (found !== undefined) return outbox.sent(row.key, found);
      await outbox.repeated(row.key);
    }
    const wait =
      (error instanceof SendError ? error.retryAfterMs : undefined) ??
      Math.min(1_000 * 2 ** row.tries, longestWaitMs);
    log.warn({ err: error, outbox: row.key, waitMs: wait }, 'a part was not delivered yet');
    await outbox.retry(row.key, reason, clock.now() + wait);
  }

  async function settled(conversation: Conversation): Promise<void> {
    const key = conversationKey(conversation);
    for (;;) {
      wake();
      await lookout.looked();
      const under = active.get(key);
      if (under === undefined) return;
      await under;
    }
  }

  async function idle(): Promise<void> {
    do {
      wake();
      await lookout.looked();
      await Promise.all(active.values());
      await lookout.looked();
    } while (active.size > 0);
  }

  return {
    wake,
    settled,
    idle,
    async stop(graceMs) {
      stopping.abort();
      lookout.stop();
      await lookout.looked();
      await Promise.race([Promise.allSettled([...active.values()]), clock.sleep(graceMs)]);
    },
  };
}
