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
import { toldFirst } from '../core/first-words.ts';
import { endedPlan } from '../core/plan.ts';
import { fixed, sayIn, type Words } from '../core/texts/say.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { OutgoingFiles } from './artifacts.ts';
import type { Outbox, OutboxRow } from '../store/outbox.ts';
import type { QueueWorker, Store } from '../store/store.ts';
import { fitsInto, keepPrivate, tellWhere } from './private-parts.ts';
import { createToldPeople } from './told-people.ts';

type Delivery = Readonly<{
  start(): void;
  idle(): Promise<void>;
  /** Starts no more sends. Resolves once those under way end, at most after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}>;

type DeliveryDeps = Readonly<{
  outbox: Outbox;
  channels: ReadonlyMap<string, Channel>;
  /** The conversation under its chat's current id, because the chat may have moved (A6). */
  currentPlace(conversation: Conversation): Promise<Conversation>;
  onMoved(from: Conversation, toChat: string): Promise<void>;
  outgoing: OutgoingFiles;
  store: Store;
  clock: Clock;
  log: Log;
}>;

/** Takes about a minute. The answer waits behind the file meanwhile. */
const mostFileTries = 6;
/** The bytes may be in another process and arrive later. */
const mostSearches = 6;
/** Takes about a day, with the longest wait between tries. */
const mostTries = 300;
const longestWaitMs = 5 * 60_000;
/** High, because the platforms' rate limits set the pace. */
const concurrency = 256;

/** Delivers the outbox: in order within a conversation, in parallel across them (Q6, H8). */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { outbox, channels, clock } = deps;
  const stopping = new AbortController();
  let worker: QueueWorker | undefined;
  return {
    start() {
      worker = outbox.startWorker({
        channels: [...channels.keys()],
        concurrency,
        run: (queue, lost) => deliverNext(queue, { lost, stopping: stopping.signal }, deps),
      });
    },
    idle: async () => worker?.idle(),
    async stop(graceMs) {
      stopping.abort();
      await Promise.race([worker?.stop(), clock.sleep(graceMs)]);
    },
  };
}

type NewRow = Omit<OutboxRow, 'shown'>;
type Sending = Readonly<{
  channel: Channel;
  row: NewRow;
  place: Conversation;
  /** Aborted once another process has the queue. */
  lost: AbortSignal;
  stopping: AbortSignal;
}>;

/**
 * Delivers the next part of a queue. If a placeholder is shown, it edits that. If the outcome of a send is unknown, it
 * looks for the message twice, then repeats the send and counts that. After a failure of the store the part stays
 * `sending`.
 */
export async function deliverNext(
  queue: string,
  signals: Pick<Sending, 'lost' | 'stopping'>,
  deps: DeliveryDeps,
): Promise<void> {
  const { outbox, channels, clock, log } = deps;
  const next = await outbox.next(queue, clock.now());
  const channel = next && channels.get(next.conversation.channel);
  if (next === undefined || channel === undefined) return;
  const { shown, ...row } = next;
  const sending = { channel, row, place: await deps.currentPlace(row.conversation), ...signals };
  if (shown !== undefined && (await takeOver(sending, shown, deps))) return;
  if (isNothing(row)) return outbox.dead(row.key, 'what was shown is out of reach');
  // A busy platform may show a message only after a while, so each further try looks for it first.
  if (row.status === 'sending' || row.repeats > 0) {
    const found = await lookUp(sending, deps);
    if (found !== undefined) return sent(row, found, deps);
  }
  if (row.status === 'sending') {
    await outbox.repeated(row.key);
    log.warn({ outbox: row.key }, 'a send was cut off and its outcome is unknown: sent again');
  }
  const part = await readyPart(row.part, row.tries, deps.outgoing);
  if (part !== 'later') return send(sending, part, deps);
  const wait = 1_000 * 2 ** row.tries;
  await outbox.retry(row.key, 'the bytes of the file are not here', clock.now() + wait);
}

/** Sends the part. If its file can't be sent, a sentence goes out instead. */
async function send(sending: Sending, part: OutgoingPart, deps: DeliveryDeps): Promise<void> {
  const { channel, row, place } = sending;
  const refusals: unknown[] = [];
  const begin = async (): Promise<void> => {
    await deps.outbox.sending(row.key).catch((error: unknown) => {
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
  if ('receipt' in outcome) {
    await tellWhere(sending, true, deps.store);
    return sent(row, outcome.receipt, deps);
  }
  const why = whyNotSent(part, outcome.error, row.tries);
  if (why === undefined) return settle(sending, outcome.error, 'send', deps);
  deps.log.warn({ err: outcome.error, outbox: row.key }, 'a file could not be sent: the person is told');
  await send(sending, withoutFile(part, why), deps);
}

async function sent(
  { key, part }: NewRow,
  receipt: Receipt,
  { outbox, outgoing, store }: DeliveryDeps,
): Promise<void> {
  // Before the row counts as sent: once it is gone, nothing else keeps the first words from being said again.
  const person = toldFirst(key);
  if (person !== undefined) await createToldPeople(store).add(person);
  await outbox.sent(key, receipt);
  for (const { id } of filesOf(part)) await outgoing.remove(id);
}

/**
 * Turns the shown placeholder into the answer. True if nothing is left to send now; false if the part has to be sent.
 */
async function takeOver(sending: Sending, shown: Receipt, deps: DeliveryDeps): Promise<boolean> {
  const { row, place } = sending;
  // In a chat that moved, messages have new ids, so the shown one is out of reach.
  const isHere = place.chat === row.conversation.chat;
  const outcome = isHere ? await replace(sending, shown, deps) : 'send';
  if (outcome === 'done') await deps.outbox.sent(row.key, shown);
  if (outcome === 'later') return true;
  await deps.outbox.show(row.key, undefined);
  return outcome === 'done';
}

async function replace(
  sending: Sending,
  shown: Receipt,
  deps: DeliveryDeps,
): Promise<'done' | 'later' | 'send'> {
  const { channel, row } = sending;
  const { conversation, part } = row;
  // If the placeholder notified nobody, the answer is a new message, which does (U13). So it is if others would read it.
  const goes = isNothing(row) || shown.silent === true || !fitsInto(part, shown);
  try {
    if (goes && shown.plan !== undefined && !isNothing(row))
      await channel.edit(conversation, shown, { markdown: '', plan: endedPlan(shown.plan) });
    else if (goes) await channel.remove(conversation, shown);
    else await channel.edit(conversation, shown, part);
    return goes && !isNothing(row) ? 'send' : 'done';
  } catch (error) {
    if (!isRefused(error) || error.movedTo !== undefined) {
      await settle(sending, error, 'edit', deps);
      return 'later';
    }
    // What one person sees can be out of reach at any time.
    const level = shown.onlyTo === undefined ? 'warn' : 'debug';
    deps.log[level]({ err: error, outbox: row.key }, 'what was shown could not become the answer');
    // The placeholder would stay beside the answer.
    if (!goes)
      await channel.remove(conversation, shown).catch((reason: unknown) => {
        deps.log.debug({ err: reason, outbox: row.key }, 'what was shown could not be removed');
      });
    return 'send';
  }
}

/** Looks whether the platform has the part. If the look itself fails, it looks again after a pause. */
async function lookUp(
  { channel, row: { key }, place, lost, stopping }: Sending,
  { clock, log }: DeliveryDeps,
): Promise<Receipt | undefined> {
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, longestWaitMs)) {
    try {
      return await channel.find(place, key);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      log.warn({ err: error, outbox: key }, 'whether a part was sent could not be looked up');
      if (error.outcome === 'refused') return undefined;
      await clock.sleep(error.retryAfterMs ?? pauseMs, AbortSignal.any([lost, stopping]));
    }
  }
}

async function settle(
  sending: Sending,
  error: unknown,
  what: 'send' | 'edit',
  deps: DeliveryDeps,
): Promise<void> {
  const { channel, row } = sending;
  const { outbox, clock, log } = deps;
  const known = error instanceof SendError ? error : undefined;
  const reason = error instanceof Error ? error.message : String(error);
  if (known?.movedTo !== undefined) {
    await deps.onMoved(row.conversation, known.movedTo);
    return outbox.retry(row.key, reason, clock.now());
  }
  if (isRefused(error) && (await keepPrivate(sending, reason, deps))) return;
  if (isRefused(error) || row.tries >= mostTries) {
    const told = { err: error, outbox: row.key, channel: channel.name };
    log.error(told, 'a part could not be delivered and was given up');
    await outbox.dead(row.key, reason);
    for (const { id } of filesOf(row.part)) await deps.outgoing.remove(id);
    return;
  }
  // Edits need no look, because repeating one does no harm.
  if (known?.outcome === 'unknown' && what === 'send') {
    const found = await lookUp({ ...sending, place: row.conversation }, deps);
    if (found !== undefined) return sent(row, found, deps);
    await outbox.repeated(row.key);
  }
  const waitMs = known?.retryAfterMs ?? Math.min(1_000 * 2 ** row.tries, longestWaitMs);
  log.warn({ err: error, outbox: row.key, waitMs }, 'a part was not delivered yet');
  await outbox.retry(row.key, reason, clock.now() + waitMs);
}

function isRefused(error: unknown): error is SendError {
  return error instanceof SendError && error.outcome === 'refused';
}

/** Whether the part is no answer and only removes what is shown. */
function isNothing({ part }: NewRow): boolean {
  return part.markdown === '' && part.file === undefined;
}

/**
 * The part with the paths of its files. `later` if their bytes are not here yet; after enough tries a sentence replaces
 * them.
 */
async function readyPart(
  part: Part,
  tries: number,
  outgoing: OutgoingFiles,
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

/** Why a file can't be sent; undefined if a later try may succeed. */
function whyNotSent(part: OutgoingPart, error: unknown, tries: number): Words | undefined {
  if (part.file === undefined) return undefined;
  const refused = isRefused(error) && error.movedTo === undefined;
  if (!refused && tries < mostFileTries) return undefined;
  return (error instanceof SendError ? error.sentence : undefined) ?? fixed`It was not accepted.`;
}

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
