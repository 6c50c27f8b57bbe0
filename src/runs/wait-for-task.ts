import type { Clock } from '../lib/clock.ts';
import { steadyTime } from '../lib/async/monotonic-clock.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Envelope } from '../core/envelope.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { Task } from '../core/message.ts';
import type { ToolContext } from '../core/tool.ts';
import { waitWithin } from '../lib/async/race-timeout.ts';
import type { Store } from '../store/store.ts';
import { haltWork } from './cancel-work.ts';
import { resultKey, taskKey } from './tasks.ts';

/** Signals are hints: without one the result is looked for so often. */
const lookEveryMs = 5_000;
/** Once a run waits for a person, whoever waits for the run does not wait longer than this (U9). */
const askingPatienceMs = 10_000;

type Result = Extract<Task, { kind: 'result' }>;

export type AttendTask = ReturnType<typeof createAttendTask>;

/**
 * Waits for a run in its lane for `patienceMs`, and takes its result out of the conversation's inbox. Nothing when it goes
 * on by itself: its result will wake the conversation. A person's stop of the turn stops the run, too; a shutdown ends the
 * wait at once (Q13).
 */
export function createAttendTask(options: {
  store: Pick<Store, 'inbox' | 'signals' | 'stop'>;
  /** Aborted when the process is to end. */
  stopping: AbortSignal;
  clock: Clock;
}) {
  const { store, stopping, clock } = options;
  const now = steadyTime(clock);

  return async (
    id: string,
    conversation: Conversation,
    patienceMs: number,
    context: Pick<ToolContext, 'signal' | 'progress' | 'settle' | 'mark'>,
  ): Promise<Envelope | undefined> => {
    const signal = AbortSignal.any([context.signal, stopping]);
    let deadline = now() + patienceMs;
    let poked = Promise.withResolvers<void>();
    const poke = (): void => poked.resolve();
    const silence = [
      store.signals.on('ended', (ended) => {
        if (ended === id) poke();
      }),
      store.signals.on('asking', (asking) => {
        if (asking !== id) return;
        deadline = Math.min(deadline, now() + askingPatienceMs);
        poke();
      }),
      store.signals.on('progress', (text) => {
        if (text.startsWith(`${id} `)) context.progress(text.slice(id.length + 1));
      }),
    ];
    signal.addEventListener('abort', poke);
    try {
      for (;;) {
        poked = Promise.withResolvers();
        if (signal.aborted) return await stop(id, signal);
        const found = await resultOf(id, conversation);
        if (found !== undefined) {
          context.settle(resultKey(id));
          if (found.marks !== undefined) context.mark(found.marks);
          return { ok: found.failed !== true, data: found.result, warnings: [], errors: [] };
        }
        const left = deadline - now();
        if (left <= 0) return undefined;
        await waitWithin(clock, poked.promise, Math.min(left, lookEveryMs));
      }
    } finally {
      signal.removeEventListener('abort', poke);
      for (const end of silence) end();
    }
  };

  async function resultOf(id: string, conversation: Conversation): Promise<Result | undefined> {
    const items = await store.inbox.waitingIn(conversationKey(conversation));
    const task = items.find(({ key }) => key === resultKey(id))?.message?.task;
    return task?.kind === 'result' ? task : undefined;
  }

  async function stop(id: string, signal: AbortSignal): Promise<never> {
    if (!isShuttingDown(signal)) await haltWork(store, { items: [taskKey(id)] });
    throw signal.reason;
  }
}
