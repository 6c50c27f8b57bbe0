import type { Channel, WorkState } from '../core/channel.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';

/** Keeps platforms with a stop button of their own told of whether the bot is at work in a conversation (U15). */
export type WorkStates = Readonly<{
  /** Call when a turn begins, also when it resumes after a crash. */
  working(message: Message): void;
  /** Waits for a person's decision, and shows that. */
  asking<Answer>(conversation: Conversation, wait: () => Promise<Answer>): Promise<Answer>;
  /** Shows what the store says now: call it when a turn or a question has ended. Never rejects. */
  refresh(conversation: Conversation): Promise<void>;
}>;

export function createWorkStates({
  channels,
  store,
  clock,
  log,
}: Readonly<{
  channels: ReadonlyMap<string, Channel>;
  store: Store;
  clock: Clock;
  log: Log;
}>): WorkStates {
  const show = (conversation: Conversation, state: WorkState, asked?: Message): void =>
    channels.get(conversation.channel)?.showWork?.(conversation, state, asked);

  async function stateOf(conversation: Conversation): Promise<WorkState> {
    const requests = await store.pendingRequests.open(conversation);
    if (requests.some(({ expiresAt }) => expiresAt > clock.now())) return 'asking';
    const here = conversationKey(conversation);
    const items = await store.inbox.waitingIn(here);
    const isWorking = items.some(({ queue, takenAt }) => queue === here && takenAt !== undefined);
    return isWorking ? 'working' : 'idle';
  }

  async function refresh(conversation: Conversation): Promise<void> {
    if (channels.get(conversation.channel)?.showWork === undefined) return;
    try {
      show(conversation, await stateOf(conversation));
    } catch (error) {
      log.warn({ err: error }, 'whether the bot is at work could not be shown');
    }
  }

  // Nobody may wait for the answer any more: the turn has ended, or its process died.
  store.signals.on('answer', (id) => {
    store.pendingRequests
      .find(id)
      .then(async (request) => {
        if (request?.state === 'expired') await refresh(request.conversation);
      })
      .catch((error: unknown) => log.warn({ err: error }, 'the end of a question could not be shown'));
  });

  return {
    working: (message) => show(message.conversation, 'working', message),
    async asking(conversation, wait) {
      show(conversation, 'asking');
      try {
        return await wait();
      } finally {
        await refresh(conversation);
      }
    },
    refresh,
  };
}
