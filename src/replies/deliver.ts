import {
  filesOf,
  type Channel,
  type OutgoingFile,
  type OutgoingPart,
  type Part,
  type Receipt,
} from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import { SendError } from '../core/errors.ts';
import { fixed, sayIn, type Words } from '../core/texts/say.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { OutgoingFiles } from './artifacts.ts';
import type { Outbox, OutboxRow } from '../store/outbox.ts';
import type { Serving } from '../store/store.ts';

/**
 * Over about a minute, as the answer waits behind the file. While nothing at all gets through, the file comes first.
 */
const mostFileTries = 6;

/** Another process may have the bytes. */
const mostSearches = 6;

export type Delivery = Readonly<{
  start(): void;
  /** Resolves when nothing is being sent or due. */
  idle(): Promise<void>;
  /** Starts no more sends; resolves when those under way end, after `graceMs` at most. */
  stop(graceMs: number): Promise<void>;
}>;

type NewRow = Omit<OutboxRow, 'shown'>;

/** About a day, with the longest wait. */
const mostTries = 300;
const longestWaitMs = 5 * 60_000;
/** The platform's pace is the true limit. */
const concurrency = 256;

/**
 * Empties the outbox: in order within a conversation, conversations side by side (Q6, H8). A part whose words are shown
 * already becomes an edit of that, which may be made again and again; a line that only showed work goes, and the part is
 * sent (U13). A send whose outcome is unknown is
 * looked up where the platform allows, twice, else repeated and counted. A file that can't be sent gives way to a sentence that
 * says so; its bytes are let go when it was sent or given up.
 */
export function createDelivery(options: {
  outbox: Outbox;
  channels: ReadonlyMap<string, Channel>;
  /** Its chat may have moved (A6). */
  currentPlace(conversation: Conversation): Promise<Conversation>;
  onMoved(from: Conversation, toChat: string): Promise<void>;
  outgoing: Pick<OutgoingFiles, 'find' | 'remove'>;
  clock: Clock;
  log: Log;
}): Delivery {
  const { outbox, channels, currentPlace, onMoved, outgoing, clock, log } = options;
  const stopping = new AbortController();
  let serving: Serving | undefined;

  /** After a fault of the store, a part without an outcome stays `sending`. */
  async function deliver(lane: string, lost: AbortSignal): Promise<void> {
    const next = await outbox.next(lane, clock.now());
    const channel = next && channels.get(next.conversation.channel);
    if (next === undefined || channel === undefined) return;
    const { shown, ...row } = next;
    const place = await currentPlace(row.conversation);
    if (shown !== undefined && (await takeOver(channel, row, shown, place, lost))) return;
    if (isNothing(row)) return outbox.dead(row.key, 'what was shown is out of reach');
    if (row.status === 'sending') {
      const found = await lookUp(channel, place, row.key, lost);
      if (found !== undefined) return sent(row, found);
      await outbox.repeated(row.key);
      log.warn({ outbox: row.key }, 'a send was cut off and its outcome is unknown: sent again');
    } else if (row.repeats > 0) {
      // A busy platform may show it only after the first look.
      const found = await lookUp(channel, place, row.key, lost);
      if (found !== undefined) return sent(row, found);
    }
    const part = await readyPart(row.part, row.tries, outgoing);
    if (part === 'later') {
      const wait = 1_000 * 2 ** row.tries;
      return outbox.retry(row.key, 'the bytes of the file are not here', clock.now() + wait);
    }
    await send(channel, row, place, part, lost);
  }

  async function send(
    channel: Channel,
    row: NewRow,
    place: Conversation,
    part: OutgoingPart,
    lost: AbortSignal,
  ): Promise<void> {
    const refusals: unknown[] = [];
    const begin = async (): Promise<void> => {
      await outbox.sending(row.key).catch((error: unknown) => {
        refusals.push(error);
        throw error;
      });
    };
    const outcome = await channel.send(place, part, row.key, begin).then(
      (receipt) => ({ receipt }),
      (error: unknown) => ({ error }),
    );
    // The queue was lost, or the store is away: nothing was sent.
    if (refusals.length > 0) throw refusals[0];
    if ('receipt' in outcome) return sent(row, outcome.receipt);
    const why = whyNotSent(part, outcome.error, row.tries);
    if (why === undefined) return settle(channel, row, outcome.error, 'send', lost);
    log.warn({ err: outcome.error, outbox: row.key }, 'a file could not be sent: the person is told');
    await send(channel, row, place, withoutFile(part, why), lost);
  }

  async function sent({ key, part }: NewRow, receipt: Receipt): Promise<void> {
    await outbox.sent(key, receipt);
    for (const { id } of filesOf(part)) await outgoing.remove(id);
  }

  /** Takes the place of what is shown; false if that can't be. */
  async function takeOver(
    channel: Channel,
    row: NewRow,
    shown: Receipt,
    place: Conversation,
    lost: AbortSignal,
  ): Promise<boolean> {
    // Old ids mean nothing in a moved chat.
    const isHere = place.chat === row.conversation.chat;
    const outcome = isHere ? await replace(channel, row, shown, lost) : 'send';
    if (outcome === 'done') await outbox.sent(row.key, shown);
    if (outcome === 'later') return true;
    await outbox.show(row.key, undefined);
    return outcome === 'done';
  }

  async function replace(
    channel: Channel,
    row: NewRow,
    shown: Receipt,
    lost: AbortSignal,
  ): Promise<'done' | 'later' | 'send'> {
    const { conversation, part } = row;
    // A line only showed work: the answer is a message that rings (U13).
    const goes = isNothing(row) || shown.silent === true;
    try {
      if (goes) await channel.remove(conversation, shown);
      else await channel.edit(conversation, shown, part);
      return goes && !isNothing(row) ? 'send' : 'done';
    } catch (error) {
      const isFinal =
        error instanceof SendError && error.outcome === 'refused' && error.movedTo === undefined;
      if (!isFinal) {
        await settle(channel, row, error, 'edit', lost);
        return 'later';
      }
      log.warn({ err: error, outbox: row.key }, 'what was shown could not become the answer');
      // Else it would stay beside the answer.
      if (!goes)
        await channel.remove(conversation, shown).catch((reason: unknown) => {
          log.debug({ err: reason, outbox: row.key }, 'what was shown could not be removed');
        });
      return 'send';
    }
  }

  /** Whether the platform has the part. Repeated while the look itself fails. */
  async function lookUp(
    channel: Channel,
    place: Conversation,
    key: string,
    lost: AbortSignal,
  ): Promise<Receipt | undefined> {
    for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, longestWaitMs)) {
      try {
        return await channel.find(place, key);
      } catch (error) {
        if (!(error instanceof SendError)) throw error;
        log.warn({ err: error, outbox: key }, 'whether a part was sent could not be looked up');
        if (error.outcome === 'refused') return undefined;
        await clock.sleep(error.retryAfterMs ?? pauseMs, AbortSignal.any([lost, stopping.signal]));
      }
    }
  }

  async function settle(
    channel: Channel,
    row: NewRow,
    error: unknown,
    what: 'send' | 'edit',
    lost: AbortSignal,
  ): Promise<void> {
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
      await outbox.dead(row.key, reason);
      for (const { id } of filesOf(row.part)) await outgoing.remove(id);
      return;
    }
    // A repeated edit changes nothing.
    if (error instanceof SendError && error.outcome === 'unknown' && what === 'send') {
      const found = await lookUp(channel, row.conversation, row.key, lost);
      if (found !== undefined) return sent(row, found);
      await outbox.repeated(row.key);
    }
    const wait =
      (error instanceof SendError ? error.retryAfterMs : undefined) ??
      Math.min(1_000 * 2 ** row.tries, longestWaitMs);
    log.warn({ err: error, outbox: row.key, waitMs: wait }, 'a part was not delivered yet');
    await outbox.retry(row.key, reason, clock.now() + wait);
  }

  return {
    start() {
      serving = outbox.serve({ channels: [...channels.keys()], concurrency, run: deliver });
    },
    idle: async () => serving?.idle(),
    async stop(graceMs) {
      stopping.abort();
      await Promise.race([serving?.stop(), clock.sleep(graceMs)]);
    },
  };
}

/** No answer comes: what is shown goes. */
function isNothing({ part }: NewRow): boolean {
  return part.markdown === '' && part.file === undefined;
}

/** `later` if the bytes are not here now; a text in their place if they never will be. */
async function readyPart(
  part: Part,
  tries: number,
  outgoing: Pick<OutgoingFiles, 'find'>,
): Promise<OutgoingPart | 'later'> {
  const { file: _file, more: _more, ...text } = part;
  const found: OutgoingFile[] = [];
  for (const file of filesOf(part)) {
    const path = await outgoing.find(file.id);
    if (path !== undefined) found.push({ ...file, path });
    else if (tries < mostSearches) return 'later';
  }
  const [file, ...more] = found;
  if (found.length < filesOf(part).length) return withoutFile(part, fixed`It is no longer stored.`);
  return file === undefined ? text : { ...text, file, more: more.length === 0 ? undefined : more };
}

/** Why a file will never arrive; undefined if it still may. */
function whyNotSent(part: OutgoingPart, error: unknown, tries: number): Words | undefined {
  if (part.file === undefined) return undefined;
  const refused = error instanceof SendError && error.outcome === 'refused' && error.movedTo === undefined;
  if (!refused && tries < mostFileTries) return undefined;
  return (error instanceof SendError ? error.sentence : undefined) ?? fixed`It was not accepted.`;
}

/** People are told of limits. */
export function withoutFile({ file, more = [], ...part }: Part, why: Words): OutgoingPart {
  if (file === undefined) return part;
  const say = sayIn(file.language);
  const said = [file, ...more].map((one) => {
    const name = `\`${one.name.replaceAll('`', "'")}\``;
    return say`I could not send the file ${name} (${say.bytes(one.size)}). ${say(why)}`;
  });
  const lines = said.join('\n');
  return { ...part, markdown: part.markdown === '' ? lines : `${part.markdown}\n\n${lines}` };
}
