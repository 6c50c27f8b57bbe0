import type { Status } from '../../core/channel.ts';
import type { Clock } from '../../core/clock.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Log } from '../../core/log.ts';
import type { Shown, StatusDisplay } from './create-status-display.ts';

/** Keeps each conversation's status what was last wished (U13, H7). */
export type StatusBoard = Readonly<{
  /** A wish for something to be shown returns at once; a removal resolves when it is gone or was tried five times. Never throws. */
  show(conversation: Conversation, status: Status | undefined): Promise<void>;
  /** Removes everything that is shown. */
  clear(): Promise<void>;
}>;

type Place = {
  readonly conversation: Conversation;
  wanted: Status | undefined;
  shown: Readonly<{ how: Shown; status: Status; at: number }> | undefined;
  failures: number;
  alarm: AbortController;
  done: Promise<void>;
};

/** One worker a conversation carries out the newest wish, so a late change never outlives a removal. */
export function createStatus(display: StatusDisplay, log: Log, clock: Clock): StatusBoard {
  const places = new Map<string, Place>();

  /** One step towards the wish. */
  const step = async (place: Place): Promise<void> => {
    const { conversation, wanted, shown } = place;
    try {
      if (wanted === undefined) {
        if (shown !== undefined) await display.remove(conversation, shown.how);
        place.shown = undefined;
      } else if (!isCurrent(place, clock.now())) {
        const how = await display.put(conversation, wanted, shown?.how);
        if (how !== 'later') place.shown = { how, status: wanted, at: clock.now() };
      }
      place.failures = 0;
    } catch (error) {
      place.failures += 1;
      log.debug({ err: error, conversation: conversationKey(conversation) }, 'Slack status not changed');
    }
  };

  const work = async (key: string, place: Place): Promise<void> => {
    for (;;) {
      const { wanted } = place;
      await step(place);
      if (place.wanted === undefined && (place.shown === undefined || place.failures >= mostTries)) break;
      if (place.wanted === wanted) {
        await rest(place, isCurrent(place, clock.now()) ? refreshMs : againMs, clock);
      }
    }
    places.delete(key);
  };

  const show = async (conversation: Conversation, status: Status | undefined): Promise<void> => {
    const key = conversationKey(conversation);
    const place = places.get(key);
    if (place !== undefined) {
      place.wanted = status;
      place.alarm.abort();
      if (status === undefined) await place.done;
    } else if (status !== undefined) {
      const fresh: Place = {
        conversation,
        wanted: status,
        shown: undefined,
        failures: 0,
        alarm: new AbortController(),
        done: Promise.resolve(),
      };
      places.set(key, fresh);
      fresh.done = work(key, fresh);
    }
  };

  return {
    show,
    async clear() {
      await Promise.all([...places.values()].map(({ conversation }) => show(conversation, undefined)));
    },
  };
}

const mostTries = 5;
const againMs = 1000;
/** Slack takes its status line away after two minutes. */
const refreshMs = 90_000;

function isCurrent({ wanted, shown }: Place, now: number): boolean {
  if (wanted === undefined || shown === undefined) return wanted === shown;
  if (JSON.stringify(wanted) !== JSON.stringify(shown.status)) return false;
  return shown.how.by !== 'line' || now - shown.at < refreshMs;
}

/** Until the time is over or another wish comes. */
async function rest(place: Place, ms: number, clock: Clock): Promise<void> {
  const alarm = new AbortController();
  place.alarm = alarm;
  try {
    await clock.sleep(ms, alarm.signal);
  } catch (error) {
    if (!alarm.signal.aborted) throw error;
  }
}
