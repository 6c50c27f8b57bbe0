import { isUnderWay } from '../core/entry.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Envelope } from '../core/envelope.ts';
import { isOfRoutine, type Message, type Task } from '../core/message.ts';
import { isOpen, type WorkStep } from '../core/plan.ts';
import { interrupted, type CallTool, type ToolOutcome } from '../core/tool-call.ts';
import type { ToolContext } from '../core/tool.ts';
import { monotonicClock } from '../lib/async/deadline.ts';
import { waitUntil } from '../lib/async/wait-until.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { storedStep } from '../store/stored-message.ts';
import type { InboxItem, ListedItem } from '../store/inbox.ts';
import type { StopOrder, Stopped, Store } from '../store/store.ts';
import { runIdOf, runJournal } from './run-journal.ts';

export type RunTask = Extract<Task, { kind: 'run' }>;
export type NewTask = Omit<RunTask, 'kind' | 'id' | 'ofRoutine'>;
export type RefuseTask = (underWay: readonly ListedItem[]) => string | undefined;

/** How often, in milliseconds, to look for a result in case its signal was lost. */
const lookEveryMs = 5_000;
/** How long, in milliseconds, a turn waits for a run that itself waits for a person (U9). */
const askingPatienceMs = 10_000;
const progressEveryMs = 1_000;
const mostTasks = 10;
const tooMany = `${mostTasks} runs are in the background here, which is the limit: one has to end or be stopped first`;

export function taskKey(id: string): string {
  return `task:${id}`;
}

function resultKey(id: string): string {
  return `${taskKey(id)}:ended`;
}

/** Id of the run that a task belongs to. A run that asked a person continues in a task of its own (U14). */
export function runOf({ id, tool, input }: RunTask): string {
  const resumed = tool === 'use_skill' ? input['resume'] : undefined;
  return typeof resumed === 'string' ? resumed : id;
}

export function journalOf(task: RunTask): string {
  return runJournal(task.parent, runOf(task));
}

/**
 * Queues a call in a queue of its own, once, even if it is repeated (U9). Refused if the conversation has ten such
 * calls.
 */
export async function setUpTask(
  message: Message,
  task: NewTask,
  refuse: RefuseTask | undefined,
  { store }: Readonly<{ store: Store }>,
): Promise<Readonly<{ id: string } | { refused: string }>> {
  const id = runIdOf(task.parent, task.toolUseId);
  const beside = `${conversationKey(message.conversation)}~`;
  const { command: _command, replyTo: _replyTo, ...said } = message;
  const item: Message = {
    ...said,
    id: taskKey(id),
    text: '',
    attachments: [],
    task: { ...task, kind: 'run', id, ofRoutine: isOfRoutine(message.task) ? true : undefined },
  };
  const refused = await store.addWork({ queue: `${beside}${id}`, message: item }, (underWay) => {
    const here = underWay.filter(({ queue }) => queue.startsWith(beside));
    return here.length >= mostTasks ? tooMany : refuse?.(underWay);
  });
  return refused === undefined ? { id } : { refused };
}

type RunTaskDeps = Readonly<{
  store: Store;
  clock: Clock;
}>;

/** Makes the queued call, then tells its result to the conversation. */
export async function runTask(
  item: InboxItem,
  task: RunTask,
  { callTool, signal }: Readonly<{ callTool: CallTool; signal: AbortSignal }>,
  deps: RunTaskDeps,
): Promise<void> {
  const outcome = await callOnce(task, callTool, signal, deps);
  if (isShuttingDown(signal)) throw signal.reason;
  if (signal.aborted) return deps.store.commit({ done: item.key });
  await tellResult(item, task, { ...outcome, done: item.key }, deps);
}

/** Journals the start of a call, so that a call that can't be repeated is made at most once (Q5). */
async function callOnce(
  task: RunTask,
  callTool: CallTool,
  signal: AbortSignal,
  { store, clock }: RunTaskDeps,
): Promise<ToolOutcome> {
  const { toolUseId, tool } = task;
  const call = { id: toolUseId, name: tool, input: task.input };
  if (tool === 'use_skill') return callTool(call, signal);
  const transcript = journalOf(task);
  const { entries } = await store.transcripts.read(transcript);
  const known = entries.map(({ entry }) => entry);
  if (isUnderWay(known, toolUseId)) return { content: interrupted, isError: true };
  return callTool(call, signal, (waits) => {
    const entry = { kind: 'tool_started', toolUseId, waits, at: clock.now() } as const;
    return store.commit({ entries: [{ transcript, entry }] });
  });
}

/**
 * Stores the result as a message of the person. A turn that still waits reads it; otherwise it gets a turn of its own.
 */
export async function tellResult(
  { message }: InboxItem,
  { id, skill, ofRoutine }: RunTask,
  { content, isError, activeSkill, taint, done }: ToolOutcome & Readonly<{ done?: string }>,
  { store }: Readonly<{ store: Store }>,
): Promise<void> {
  const failed = isError ? true : undefined;
  const task = { kind: 'result', id, skill, result: content, failed, activeSkill, taint, ofRoutine } as const;
  const told: Message = { ...message, id: resultKey(id), task };
  await store.commit({ work: [{ queue: conversationKey(message.conversation), message: told }], done });
  await store.signals.send('ended', id);
}

/** Sends the newest line of progress to the waiting turn, at most once a second. */
export function taskProgress(
  id: string,
  signal: AbortSignal,
  { store, clock, log }: Readonly<{ store: Store; clock: Clock; log: Log }>,
): (text: string) => void {
  let newest = '';
  let isDue = false;
  let last = 0;
  const tell = (): void => {
    isDue = false;
    last = clock.now();
    store.signals
      .send('progress', `${id} ${newest}`)
      .catch((error: unknown) => log.warn({ err: error }, 'could not show the progress of a run'));
  };
  return (text) => {
    newest = text;
    if (isDue) return;
    const wait = last + progressEveryMs - clock.now();
    if (wait <= 0) return tell();
    isDue = true;
    clock.sleep(wait, signal).then(tell, () => undefined);
  };
}

/** Sends a step of a queued call to the waiting turn. */
export function taskSteps(
  id: string,
  { store, log }: Readonly<{ store: Store; log: Log }>,
): (step: WorkStep) => void {
  return (step) => {
    store.signals
      .send('step', `${id} ${JSON.stringify(step)}`)
      .catch((error: unknown) => log.warn({ err: error }, 'could not show a step of a run'));
  };
}

type Waiting = Readonly<{ id: string; conversation: Conversation; patienceMs: number }>;
type WaitDeps = Readonly<{
  store: Store;
  clock: Clock;
  stopping: AbortSignal;
}>;

/**
 * Waits for a queued call. Undefined if it continues in the background. Stopping the turn stops the run; a shutdown
 * only ends the wait (Q13). Rejects in both cases.
 */
export async function waitForTask(
  waiting: Waiting,
  context: ToolContext,
  deps: WaitDeps,
): Promise<Envelope | undefined> {
  const { id, patienceMs } = waiting;
  const { store, clock } = deps;
  const now = monotonicClock(clock);
  const signal = AbortSignal.any([context.signal, deps.stopping]);
  let deadline = now() + patienceMs;
  const open = new Map<string, WorkStep>();
  const told = await waitUntil<Envelope | undefined>(
    async () => {
      if (signal.aborted && !isShuttingDown(signal)) await cancelWork(store, { items: [taskKey(id)] });
      signal.throwIfAborted();
      const found = await takeResult(waiting, context, store);
      const left = deadline - now();
      return found !== undefined || left <= 0 ? { found } : Math.min(left, lookEveryMs);
    },
    {
      signal,
      clock,
      subscribe(wake) {
        const ends = [
          store.signals.on('ended', (ended) => {
            if (ended === id) wake();
          }),
          store.signals.on('asking', (asking) => {
            if (asking !== id) return;
            deadline = Math.min(deadline, now() + askingPatienceMs);
            wake();
          }),
          store.signals.on('progress', (text) => {
            if (text.startsWith(`${id} `)) context.progress(text.slice(id.length + 1));
          }),
          store.signals.on('step', (text) => {
            if (!text.startsWith(`${id} `)) return;
            const step = storedStep.parse(JSON.parse(text.slice(id.length + 1)));
            context.step(step);
            if (isOpen(step)) open.set(step.id, step);
            else open.delete(step.id);
          }),
        ];
        return () => ends.forEach((end) => end());
      },
    },
  );
  // Nobody hears of its steps from here on, and they have not failed.
  if (told === undefined) for (const step of open.values()) context.step({ ...step, state: 'apart' });
  return told;
}

async function takeResult(
  { id, conversation }: Waiting,
  context: ToolContext,
  { inbox }: Store,
): Promise<Envelope | undefined> {
  const items = await inbox.waitingIn(conversationKey(conversation));
  const found = items.find(({ key }) => key === resultKey(id))?.message?.task;
  if (found?.kind !== 'result') return undefined;
  context.settle(resultKey(id));
  if (found.taint !== undefined) context.addTaint(found.taint);
  return { ok: found.failed !== true, data: found.result, warnings: [], errors: [] };
}

/** Cancels items in one transaction, and tells the processes that run them to stop (Q4, T8). */
export async function cancelWork(store: Store, order: StopOrder): Promise<Stopped> {
  const stopped = await store.stop(order);
  for (const key of stopped.stopping) await store.signals.send('stop', key);
  return stopped;
}
