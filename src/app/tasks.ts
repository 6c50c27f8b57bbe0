import { runIdOf } from '../agent/run-skill.ts';
import type { TurnGrant } from '../agent/turn.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message, Task } from '../core/message.ts';
import { isShuttingDown } from '../core/shutdown.ts';
import type { InboxItem, Store } from '../stores/store.ts';
import { taskId, tasksHere } from './work-here.ts';

type RunTask = Extract<Task, { kind: 'run' }>;
export type NewTask = Omit<RunTask, 'kind' | 'id'>;

/** Runs that go on by themselves (U9): each is an item of a lane beside its conversation, so it survives whatever a message survives. */
export type Tasks = Readonly<{
  /** Stores a run to be begun, once for a call however often that is made, and gives its id; nothing where ten go on in the conversation already. */
  setUp(message: Message, task: NewTask): Promise<string | undefined>;
  /** Runs it, or goes on with it, and wakes its conversation with the result. */
  run(item: InboxItem, task: RunTask, granted: TurnGrant, signal: AbortSignal): Promise<void>;
  /** Wakes its conversation with the word that it was given up. */
  giveUp(item: InboxItem, task: RunTask, reason: string): Promise<void>;
}>;

/** Background runs of a conversation. */
const mostTasks = 10;

export function createTasks(store: Pick<Store, 'commit' | 'inbox'>): Tasks {
  /** What the conversation is woken with comes from the person who began the run, and is judged as theirs. */
  function wakeUp({ message }: InboxItem, { id, skill }: RunTask, result: string) {
    const woken: Message = {
      ...message,
      id: `${message.id}:ended`,
      task: { kind: 'result', id, skill, result },
    };
    return [{ lane: conversationKey(message.conversation), message: woken }];
  }

  return {
    async setUp(message, task) {
      const id = runIdOf(task.parent, task.toolUseId);
      const others = (await tasksHere(message, store.inbox)).filter((other) => taskId(other) !== id);
      if (others.length >= mostTasks) return undefined;
      const { command: _command, replyTo: _replyTo, ...said } = message;
      const item: Message = {
        ...said,
        id: `task:${id}`,
        text: '',
        attachments: [],
        task: { ...task, kind: 'run', id },
      };
      await store.commit({
        work: [{ lane: `${conversationKey(message.conversation)}~${id}`, message: item }],
      });
      return id;
    },
    async run(item, task, granted, signal) {
      const call = { id: task.toolUseId, name: 'use_skill', input: task.input };
      const { content } = await granted.callTool(call, signal);
      if (isShuttingDown(signal)) throw signal.reason;
      // Who stopped it was told so.
      if (signal.aborted) return store.commit({ done: item.key });
      await store.commit({ work: wakeUp(item, task, content), done: item.key });
    },
    giveUp: (item, task, reason) => store.commit({ work: wakeUp(item, task, reason) }),
  };
}
