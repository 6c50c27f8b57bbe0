import type { Users } from '../access/users.ts';
import type { Channel } from '../core/channel.ts';
import type { Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Questions } from '../runs/questions.ts';
import type { InboxItem, WaitingItem } from '../store/inbox.ts';
import { isEditOf } from './intake/take-edit.ts';
import type { Store } from '../store/store.ts';
import { completeChat, type JudgeMessage } from './judge-message.ts';
import type { Joining } from './turn.ts';

export type JoinDeps = Readonly<{
  store: Store;
  channels: ReadonlyMap<string, Channel>;
  users: Users;
  judge: JudgeMessage;
  questions: Questions;
  clock: Clock;
}>;

/** A person's next message continues the one before if it was sent within these milliseconds. */
const continuationMs = 1_500;

/**
 * Lets a person's new messages join their running turn at its next step (H11). Undefined if the bot started the turn
 * itself.
 */
export function joinTurn(
  turn: Readonly<{
    item: InboxItem;
    transcript: string;
    /** A skill was called by name: later messages are not part of its input. */
    isCall: boolean;
    onJoin(): void;
  }>,
  deps: JoinDeps,
): Joining | undefined {
  const { item, transcript, isCall, onJoin } = turn;
  const { store, channels, clock } = deps;
  // The bot started this turn itself, for example for a routine.
  if (item.message.task !== undefined) return undefined;
  let last = item.message;
  const continues = ({ sentAt }: Message): boolean =>
    !isCall && sentAt >= last.sentAt && sentAt - last.sentAt <= continuationMs;
  const firstOfTheirs = (behind: readonly WaitingItem[]) => {
    for (const { key, acceptedAt, message: read } of behind) {
      const message = read();
      if (message?.sender.id === item.message.sender.id) return { key, acceptedAt, message };
    }
    return undefined;
  };
  return {
    async next(since, answered) {
      const behind = await store.inbox.behind(item);
      const edit = firstOfTheirs(behind.filter(({ key }) => isEditOf(item.key, key)));
      const next = edit ?? firstOfTheirs(behind);
      if (next === undefined) return undefined;
      const isLate = answered || next.acceptedAt < since;
      if (edit === undefined && isLate && !continues(next.message)) return undefined;
      if (!(await mayJoin(await completeChat(next.message, channels), transcript, deps))) return undefined;
      const taken = await store.inbox.takeAlong(next.key, clock.now());
      if (taken === undefined) return undefined;
      const message = await completeChat(taken.message, channels);
      if (taken.message.text !== next.message.text && !(await mayJoin(message, transcript, deps))) {
        await store.inbox.postpone(taken.key, 'an edit made it a message of its own', clock.now());
        return undefined;
      }
      if (edit === undefined) last = message;
      onJoin();
      return message;
    },
  };
}

/** Only plain messages join a turn. Others wait in the queue, and so do those that come after them. */
async function mayJoin(
  message: Message,
  transcript: string,
  { users, judge, questions }: JoinDeps,
): Promise<boolean> {
  const { attachments, ephemeral, task, conversation, sender } = message;
  if (attachments.length > 0 || ephemeral === true || task !== undefined) return false;
  if (!(await users.decide(message)).allowed) return false;
  const judged = await judge(message, { isNew: true });
  if (judged.kind !== 'turn' || judged.invocation !== undefined || judged.again) return false;
  return (await questions.open({ conversation, sender: sender.id, transcript })).length === 0;
}
