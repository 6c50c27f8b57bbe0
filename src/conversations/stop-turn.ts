import type { StopPress } from '../core/channel.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import { sayIn } from '../core/texts/say.ts';
import { cancelWork, journalOf } from '../runs/tasks.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { PendingRequest } from '../store/pending-requests.ts';
import { placeholderOf, removePlaceholder } from './placeholder.ts';
import { justFinished, maySay, notTheirs, type stopWork } from './stop-work.ts';

/**
 * Ends the turn that a stop button belongs to, the runs that it started, and what these ask (U15). Messages that wait,
 * and runs of earlier turns, continue. Returns what to tell the person; empty if the stopped answer says so itself.
 */
export async function stopTurn(
  press: StopPress,
  { isOwner, store, onStopped }: Parameters<typeof stopWork>[1],
): Promise<string> {
  const say = sayIn(press.sender.language);
  const here = conversationKey(press.conversation);
  const items = await store.inbox.waitingIn(here);
  const turns = items.filter((item) => item.queue === here && isMeant(item, press));
  const theirs = turns.filter((item) => maySay(press, isOwner, item));
  const [other] = turns;
  if (theirs.length === 0) return other === undefined ? say(justFinished) : notTheirs(other, say);
  const runs = items.filter((item) => theirs.some((turn) => isRunOf(item, turn)));
  const ids = (await store.pendingRequests.open(press.conversation))
    .filter((request) => theirs.some((turn) => isAskedBy(request, turn, runs)))
    .map(({ id }) => id);
  const stopped = await cancelWork(store, {
    // One that was stopped before is left to its worker, which says so: it would be dropped without a word.
    items: [...theirs, ...runs].filter((item) => item.stopped !== true).map(({ key }) => key),
    pendingRequests: [{ conversation: press.conversation, ids }],
  });
  await onStopped(stopped.cancelled);
  // A turn that waits for its next try is dropped, and says nothing itself.
  const dropped = theirs.filter(({ key }) => stopped.dropped.includes(key));
  for (const item of dropped) await removePlaceholder(item, store);
  return dropped.length === 0 ? '' : say`Stopped.`;
}

function isMeant({ key, takenAt, message }: ListedItem, { isOf, at = Infinity }: StopPress): boolean {
  if (isOf !== undefined) return isOf(placeholderOf(key));
  // A press that the platform repeats does not end what was said after it.
  return takenAt !== undefined && (message?.sentAt ?? 0) <= at;
}

/** Whether it is a run that the turn started. A run's message is a copy of the message that began the turn. */
function isRunOf({ message: run }: ListedItem, { message: turn }: ListedItem): boolean {
  if (run?.task?.kind !== 'run' || turn === undefined) return false;
  const says = ({ sender, platformId, sentAt }: Message): string =>
    JSON.stringify([sender.id, platformId, sentAt]);
  return says(run) === says(turn);
}

/** Whether the turn or one of its runs waits for the answer. The journals of all runs have `#run:` in their names. */
function isAskedBy(
  { transcript, requester, kind }: PendingRequest,
  { message }: ListedItem,
  runs: readonly ListedItem[],
): boolean {
  const journals = runs.flatMap(({ message: run }) =>
    run?.task?.kind === 'run' ? [journalOf(run.task)] : [],
  );
  if (journals.includes(transcript)) return true;
  return kind === 'approval' && requester === message?.sender.id && !transcript.includes('#run:');
}
