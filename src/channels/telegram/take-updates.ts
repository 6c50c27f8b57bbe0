import type { Update } from 'grammy/types';
import type { Me } from './message-parts.ts';
import { toEvent } from './to-event.ts';
import type { ChannelEvent, OnEvent, Press } from '../../core/channel.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Log } from '../../lib/log.ts';

/** Clients cut at 4096 or a little before. */
const longPiece = 4000;

const fullPiece = 4096;

/** Pieces come at once; the platform counts seconds. */
const pieceGapMs = 2000;

const splitHoldMs = 1500;

const mostRemembered = 1000;

export type TakeUpdates = Readonly<{
  /** Sees a whole batch first. */
  foresee(updates: readonly Update[]): void;
  /** Unreadable ones resolve, too, to block no other (Q1). */
  take(update: Update): Promise<void>;
}>;

export function createTakeUpdates(options: {
  me: () => Me;
  onEvent: OnEvent;
  stored: (message: Message) => void;
  pressed: (press: Press, words?: string) => void;
  log: Log;
}): TakeUpdates {
  const { me, onEvent, stored, pressed, log } = options;
  const parts = createJoinParts();
  const read = (update: Update): ChannelEvent | undefined => readUpdate(update, me(), log);
  return {
    foresee(updates) {
      parts.foresee(updates.map(read).filter((event) => event !== undefined));
    },
    async take(update) {
      const event = read(update);
      if (event === undefined) return;
      const joined = parts.join(event);
      if (joined.type === 'message') return onEvent({ ...joined, stored: () => stored(joined.message) });
      if (joined.type !== 'press') return onEvent(joined);
      const told: { words?: string } = {};
      await onEvent({ ...joined, tell: (words) => void (told.words = words) });
      pressed(joined.press, told.words);
    },
  };
}

function readUpdate(update: Update, me: Me, log: Log): ChannelEvent | undefined {
  try {
    const outcome = toEvent(update, me);
    if ('event' in outcome) return outcome.event;
    const level = update.my_chat_member === undefined ? 'debug' : 'info';
    log[level]({ update: update.update_id, reason: outcome.ignored }, 'Telegram update ignored');
  } catch (error) {
    log.error({ update: update.update_id, err: error }, 'Telegram update could not be read: skipped');
  }
  return undefined;
}

type Said = Extract<ChannelEvent, { type: 'message' }>;

/** Albums and long texts (H3). */
type JoinParts = Readonly<{
  /** One piece of an album may address the bot. */
  foresee(events: readonly ChannelEvent[]): void;
  /** Repeatable: the same event gives the same answer. */
  join(event: ChannelEvent): ChannelEvent;
}>;

type Run = Readonly<{ key: string; last: Message; event: Said; open: boolean; addressed: boolean }>;

export function createJoinParts(): JoinParts {
  const runs = new Map<string, Run>();
  const addressedAlbums = new Set<string>();

  const joinAlbum = (event: Said, key: string): Said => {
    if (event.message.addressed) addressedAlbums.add(key);
    forgetOldest(addressedAlbums);
    return addressedAlbums.has(key) ? addressed(event) : event;
  };

  const joinText = (event: Said): Said => {
    const { message } = event;
    const who = `${conversationKey(message.conversation)} ${message.sender.id}`;
    const run = runs.get(who);
    if (run?.last.id === message.id) return run.event;
    const next = run !== undefined && continues(run, message) ? goOn(run, event) : begin(event);
    runs.delete(who);
    if (next === undefined) return event;
    runs.set(who, next);
    forgetOldest(runs);
    return next.event;
  };

  return {
    foresee(events) {
      for (const event of events) {
        if (event.type === 'message' && event.join !== undefined) joinAlbum(event, event.join.key);
      }
    },
    join(event) {
      if (event.type !== 'message') return event;
      return event.join === undefined ? joinText(event) : joinAlbum(event, event.join.key);
    },
  };
}

function begin(event: Said): Run | undefined {
  const { message } = event;
  if (message.text.length < longPiece || message.attachments.length > 0) return undefined;
  const key = `${message.id}:text`;
  const joined = { ...event, join: { key, holdMs: splitHoldMs, glue: '' } };
  return { key, last: message, event: joined, open: true, addressed: message.addressed };
}

function continues(run: Run, message: Message): boolean {
  const gap = message.sentAt - run.last.sentAt;
  return run.open && gap >= 0 && gap <= pieceGapMs && message.attachments.length === 0;
}

function goOn(run: Run, event: Said): Run {
  // A slash there is where the client cut.
  const { command: _, ...message } = event.message;
  const { length } = run.last.text;
  // Cut inside a line; else white space was trimmed.
  const glue = length === fullPiece ? '' : '\n';
  const joined: Said = {
    ...event,
    message: { ...message, addressed: run.addressed },
    join: { key: run.key, holdMs: splitHoldMs, glue },
  };
  const open = event.message.text.length >= longPiece;
  return { ...run, last: event.message, event: joined, open };
}

function addressed(event: Said): Said {
  return { ...event, message: { ...event.message, addressed: true } };
}

function forgetOldest(remembered: Map<string, unknown> | Set<string>): void {
  if (remembered.size <= mostRemembered) return;
  for (const key of remembered.keys()) {
    remembered.delete(key);
    return;
  }
}
