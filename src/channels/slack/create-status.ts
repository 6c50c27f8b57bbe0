import type { Placeholder, Status } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import type { Pace } from '../pace.ts';
import type { PlaceholderLine } from '../placeholder-line.ts';
import type { CallSlack } from './call-slack.ts';
import type { Sender } from './create-sender.ts';
import { createThreadStatus } from './create-thread-status.ts';
import { createStatusLine } from './status-line.ts';

/** Keeps the status of each piece of work what was last wished (U13, H7). */
export type StatusBoard = Readonly<{
  /** As `Channel.status`. Slack's own line is taken away meanwhile. */
  show(conversation: Conversation, status: Status | undefined, placeholder: Placeholder): Promise<void>;
  /** Ends every status; resolves when Slack's own lines are gone, or were tried five times. */
  clear(): Promise<void>;
}>;

type Work = {
  readonly conversation: Conversation;
  readonly line: PlaceholderLine;
  wanted: Status | undefined;
  /** What Slack's own line says, and since when; nothing where it is not used. */
  shown: Readonly<{ status: Status; at: number }> | undefined;
  failures: number;
  alarm: AbortController;
};

/** One worker a piece of work carries out the newest wish. Slack's own line under the thread is used where it can be, else a message that changes. */
export function createStatus(options: {
  call: CallSlack;
  sender: Sender;
  posts: Pace;
  edits: Pace;
  log: Log;
  clock: Clock;
}): StatusBoard {
  const { call, log, clock } = options;
  const threads = createThreadStatus(call);
  const works = new Map<string, Work>();
  /** The work whose status stands in a thread. */
  const newest = new Map<string, Work>();
  const ending = new Set<Promise<void>>();

  /** One step towards the wish. */
  async function step(work: Work, placeholder: Placeholder): Promise<void> {
    const { conversation, wanted } = work;
    const thread = conversationKey(conversation);
    try {
      if (wanted === undefined) {
        if (work.shown !== undefined && newest.get(thread) === work) await threads.set(conversation, '');
        work.shown = undefined;
        if (newest.get(thread) === work) newest.delete(thread);
      } else if (!isCurrent(work, clock.now())) {
        newest.set(thread, work);
        if (wanted.kind === 'line' && (await placeholder.posted()) !== undefined) work.line.write(wanted);
        else if (wanted.kind === 'words') {
          if (work.shown !== undefined) await threads.set(conversation, '');
          work.shown = undefined;
          work.line.write(wanted);
        } else if (await threads.set(conversation, wanted.kind === 'line' ? wanted.text : 'is thinking…'))
          work.shown = { status: wanted, at: clock.now() };
        else if (wanted.kind === 'line') work.line.write(wanted);
      }
      work.failures = 0;
    } catch (error) {
      work.failures += 1;
      log.debug({ err: error, conversation: thread }, 'Slack status not changed');
    }
  }

  async function carryOut(work: Work, placeholder: Placeholder): Promise<void> {
    for (;;) {
      const { wanted } = work;
      await step(work, placeholder);
      if (work.wanted === undefined && (work.shown === undefined || work.failures >= mostTries)) return;
      if (work.wanted === wanted) await rest(work, work.failures === 0 ? refreshMs : againMs, clock);
    }
  }

  function begin(conversation: Conversation, wanted: Status, placeholder: Placeholder): void {
    const work: Work = {
      conversation,
      line: createStatusLine({ ...options, conversation, placeholder }),
      wanted,
      shown: undefined,
      failures: 0,
      alarm: new AbortController(),
    };
    works.set(placeholder.key, work);
    const done = carryOut(work, placeholder).finally(() => ending.delete(done));
    ending.add(done);
  }

  async function end(work: Work): Promise<void> {
    work.wanted = undefined;
    work.alarm.abort();
    await work.line.end();
  }

  return {
    async show(conversation, status, placeholder) {
      const work = works.get(placeholder.key);
      if (status === undefined) {
        works.delete(placeholder.key);
        if (work !== undefined) await end(work);
      } else if (work === undefined) {
        begin(conversation, status, placeholder);
      } else {
        work.wanted = status;
        work.alarm.abort();
      }
    },
    async clear() {
      const all = [...works.values()];
      works.clear();
      await Promise.all([...all.map(end), ...ending]);
    },
  };
}

const mostTries = 5;
const againMs = 1000;
/** Slack takes its status line away after two minutes. */
const refreshMs = 90_000;

function isCurrent({ wanted, shown }: Work, now: number): boolean {
  if (wanted === undefined || shown === undefined) return wanted === shown;
  return JSON.stringify(wanted) === JSON.stringify(shown.status) && now - shown.at < refreshMs;
}

/** Until the time is over or another wish comes. */
async function rest(work: Work, ms: number, clock: Clock): Promise<void> {
  const alarm = new AbortController();
  work.alarm = alarm;
  try {
    await clock.sleep(ms, alarm.signal);
  } catch (error) {
    if (!alarm.signal.aborted) throw error;
  }
}
