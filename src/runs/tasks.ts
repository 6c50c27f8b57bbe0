import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Envelope } from '../core/envelope.ts';
import type { Message, Task } from '../core/message.ts';
import { interrupted, type CallTool, type ToolOutcome } from '../core/tool-call.ts';
import type { ToolContext } from '../core/tool.ts';
import { monotonicClock, raceTimeout } from '../lib/async/deadline.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { Clock } from '../lib/clock.ts';
import { runIdOf, runJournal } from './run-journal.ts';
import type { InboxItem, ListedItem } from '../store/inbox.ts';
import type { StopOrder, Stopped, Store } from '../store/store.ts';

/** Signals are hints: without one the result is looked up this often. */
const lookEveryMs = 5_000;

/** Nobody waits longer for a run that waits for a person (U9). */
const askingPatienceMs = 10_000;

type RunTask = Extract<Task, { kind: 'run' }>;
export type NewTask = Omit<RunTask, 'kind' | 'id'>;

/**
 * A run is an item of a queue beside its conversation, so it survives what a message survives (U9). Its result is an
 * item of the conversation: the waiting turn takes it, else it wakes the conversation.
 */
type Granted = Readonly<{ callTool: CallTool }>;

export type Tasks = Readonly<{
  /**
   * Stores a run once for each call. Refused if ten are under way in the conversation, or if `refuse` returns a
   * reason.
   */
  setUp(
    message: Message,
    task: NewTask,
    refuse?: (underWay: readonly ListedItem[]) => string | undefined,
  ): Promise<Readonly<{ id: string } | { refused: string }>>;
  /** Runs it, or continues it, and tells its conversation the result. */
  run(item: InboxItem, task: RunTask, granted: Granted, signal: AbortSignal): Promise<void>;
  giveUp(item: InboxItem, task: RunTask, reason: string): Promise<void>;
  /** Reports progress, once a second at most. */
  progress(task: RunTask, signal: AbortSignal): (text: string) => void;
}>;

const mostTasks = 10;
const tooMany = `${mostTasks} runs are in the background here, which is the limit: one has to end or be stopped first`;
const progressEveryMs = 1_000;

export function taskKey(id: string): string {
  return `task:${id}`;
}

export function resultKey(id: string): string {
  return `${taskKey(id)}:ended`;
}

/** The run: one that asked a person continues as a task of its own (U14). */
export function runOf({ id, tool, input }: RunTask): string {
  const resumed = tool === 'use_skill' ? input['resume'] : undefined;
  return typeof resumed === 'string' ? resumed : id;
}

export function journalOf(task: RunTask): string {
  return runJournal(task.parent, runOf(task));
}

export function createTasks(options: {
  store: Pick<Store, 'addWork' | 'commit' | 'signals' | 'transcripts'>;
  clock: Clock;
  onSignalFault: (error: unknown) => void;
}): Tasks {
  const { store, clock, onSignalFault } = options;

  /** The result counts as a message of the person who started the run. */
  async function tell(
    { message }: InboxItem,
    { id, skill }: RunTask,
    { content, isError, follows, marks }: ToolOutcome,
    done?: string,
  ): Promise<void> {
    const told: Message = {
      ...message,
      id: resultKey(id),
      task: {
        kind: 'result',
        id,
        skill,
        result: content,
        failed: isError ? true : undefined,
        follows,
        marks,
      },
    };
    await store.commit({
      work: [{ lane: conversationKey(message.conversation), message: told }],
      done,
    });
    await store.signals.send('ended', id);
  }

  /** Journalled, so that a call that may not be repeated is made once (Q5). */
  async function callOnce(task: RunTask, granted: Granted, signal: AbortSignal): Promise<ToolOutcome> {
    const call = { id: task.toolUseId, name: task.tool, input: task.input };
    if (task.tool === 'use_skill') return granted.callTool(call, signal);
    const transcript = journalOf(task);
    const { entries } = await store.transcripts.read(transcript);
    if (entries.some(({ entry }) => entry.kind === 'tool_started'))
      return { content: interrupted, isError: true };
    return granted.callTool(call, signal, () =>
      store.commit({
        entries: [
          { transcript, entry: { kind: 'tool_started', toolUseId: task.toolUseId, at: clock.now() } },
        ],
      }),
    );
  }

  return {
    async setUp(message, task, refuse) {
      const id = runIdOf(task.parent, task.toolUseId);
      const beside = `${conversationKey(message.conversation)}~`;
      const { command: _command, replyTo: _replyTo, ...said } = message;
      const item: Message = {
        ...said,
        id: taskKey(id),
        text: '',
        attachments: [],
        task: { ...task, kind: 'run', id },
      };
      const refused = await store.addWork({ lane: `${beside}${id}`, message: item }, (underWay) =>
        underWay.filter(({ lane }) => lane.startsWith(beside)).length >= mostTasks
          ? tooMany
          : refuse?.(underWay),
      );
      return refused === undefined ? { id } : { refused };
    },
    async run(item, task, granted, signal) {
      const outcome = await callOnce(task, granted, signal);
      if (isShuttingDown(signal)) throw signal.reason;
      // They know already.
      if (signal.aborted) return store.commit({ done: item.key });
      await tell(item, task, outcome, item.key);
    },
    giveUp: (item, task, reason) => tell(item, task, { content: reason, isError: true }),
    progress({ id }, signal) {
      let newest = '';
      let isDue = false;
      let last = 0;
      const tell = (): void => {
        isDue = false;
        last = clock.now();
        store.signals.send('progress', `${id} ${newest}`).catch(onSignalFault);
      };
      return (text) => {
        newest = text;
        if (isDue) return;
        const wait = last + progressEveryMs - clock.now();
        if (wait <= 0) return tell();
        isDue = true;
        clock.sleep(wait, signal).then(tell, () => undefined);
      };
    },
  };
}

type Result = Extract<Task, { kind: 'result' }>;

export type WaitForTask = ReturnType<typeof createWaitForTask>;

/**
 * Waits `patienceMs` for a run and takes its result out of the inbox; undefined if it continues by itself. Stopping
 * the turn stops the run; a shutdown ends the wait (Q13).
 */
export function createWaitForTask(options: {
  store: Pick<Store, 'inbox' | 'signals' | 'stop'>;
  stopping: AbortSignal;
  clock: Clock;
}) {
  const { store, stopping, clock } = options;
  const now = monotonicClock(clock);

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
        await raceTimeout(clock, poked.promise, Math.min(left, lookEveryMs));
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
    if (!isShuttingDown(signal)) await cancelWork(store, { items: [taskKey(id)] });
    throw signal.reason;
  }
}

/** In one step; all processes are told (Q4, T8). */
export async function cancelWork(store: Pick<Store, 'stop' | 'signals'>, order: StopOrder): Promise<Stopped> {
  const stopped = await store.stop(order);
  for (const key of stopped.stopping) await store.signals.send('stop', key);
  return stopped;
}
