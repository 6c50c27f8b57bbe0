import type { Channel } from '../core/channel.ts';
import type { Clock } from '../core/clock.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import { SendError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Outbox, OutboxRow, Serving } from '../stores/store.ts';

export type Delivery = Readonly<{
  /** Begins to send. */
  start(): void;
  /** Resolves when nothing of this conversation waits to be sent by this process now. */
  settled(conversation: Conversation): Promise<void>;
  /** Resolves when nothing is being sent and nothing is due. */
  idle(): Promise<void>;
  /** Begins no more sends; resolves when those under way have ended, after `graceMs` at most: what is unsent is durable. */
  stop(graceMs: number): Promise<void>;
}>;

/** A row is given up after so many tries: with the longest wait that is about a day. */
const mostTries = 300;
const longestWaitMs = 5 * 60_000;
/** Conversations that are sent to side by side; the platform's pace is the true limit. */
const concurrency = 256;

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
  let serving: Serving | undefined;

  function run(lane: string): Promise<void> {
    const ended = deliver(lane).finally(() => active.delete(lane));
    active.set(lane, ended);
    return ended;
  }

  /** A fault of the store ends it where it is: a part whose outcome is not noted stays `sending`, and is looked up or counted. */
  async function deliver(lane: string): Promise<void> {
    const row = await outbox.next(lane, clock.now());
    const channel = row && channels.get(row.conversation.channel);
    if (row === undefined || channel === undefined) return;
    const place = await currentPlace(row.conversation);
    if (row.status === 'sending') {
      const found = await channel.find(place, row.key);
      if (found !== undefined) return outbox.sent(row.key, found);
      await outbox.repeated(row.key);
      log.warn({ outbox: row.key }, 'a send was cut off and its outcome is unknown: sent again');
    }
    await outbox.sending(row.key);
    const outcome = await channel.send(place, row.part, row.key).then(
      (receipt) => ({ receipt }),
      (error: unknown) => ({ error }),
    );
    if ('receipt' in outcome) await outbox.sent(row.key, outcome.receipt);
    else await settle(channel, row, outcome.error);
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
    while ((await outbox.pending(conversation)) > 0) {
      const under = active.get(key);
      if (under === undefined) return;
      await under.catch(() => undefined);
    }
  }

  return {
    start() {
      serving = outbox.serve({ channels: [...channels.keys()], concurrency, run });
    },
    settled,
    idle: async () => serving?.idle(),
    async stop(graceMs) {
      await Promise.race([serving?.stop(), clock.sleep(graceMs)]);
    },
  };
}
