import { whyNotTheirs } from '../../access/approvers.ts';
import type { Press } from '../../core/channel.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import { expired } from '../../core/feature.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { PendingRequest } from '../../store/pending-requests.ts';
import type { Store } from '../../store/store.ts';
import type { ApprovalDetails } from './approval-details.ts';
import type { FinishApproval } from './finish-approval.ts';

/**
 * The approval with this id if it was asked in this conversation. A press may lack the thread, because a platform does
 * not name it for what one person sees.
 */
export async function askedIn(
  store: Store,
  { channel, chat, thread }: Conversation,
  id: string,
  isPress = false,
): Promise<PendingRequest | undefined> {
  const request = await store.pendingRequests.find(id);
  if (request?.kind !== 'approval') return undefined;
  const { conversation: asked, payload } = request;
  const inThread = isPress && payload['details'] !== undefined ? asked.thread : thread;
  return conversationKey(asked) === conversationKey({ channel, chat, thread: inThread })
    ? request
    : undefined;
}

/** Makes the functions about details that a group is not shown (U16). */
export function createShowDetails(
  options: Readonly<{
    details: ApprovalDetails;
    approvers(): readonly string[];
    isOwner(sender: string): Promise<boolean>;
  }>,
  {
    store,
    look,
    finish,
    outcomeNow,
  }: Readonly<{
    store: Store;
    look(id: string): Promise<PendingRequest | undefined>;
    finish: FinishApproval['finish'];
    outcomeNow: FinishApproval['outcomeNow'];
  }>,
): Readonly<{
  showDetails(id: string, press: Press): Promise<string | undefined>;
  groupOf(id: string, person: string): Promise<Conversation | undefined>;
}> {
  const { details } = options;
  return {
    async showDetails(id, press) {
      const { sender, conversation } = press;
      const say = sayIn(sender.language);
      const request = await askedIn(store, conversation, id, true);
      if (request?.payload['details'] === undefined) return say(expired);
      const refused = await whyNotTheirs(request, { sender: sender.id, approves: false }, options, say);
      if (refused !== undefined) return refused;
      if ((await look(id))?.state !== 'open')
        return outcomeNow((await store.pendingRequests.find(id)) ?? request);
      await details.show(request, press);
      // Somebody may have answered meanwhile.
      if ((await store.pendingRequests.find(id))?.state !== 'open') await finish(id);
      return undefined;
    },
    async groupOf(id, person) {
      const request = await store.pendingRequests.find(id);
      const isTheirs =
        request?.payload['details'] !== undefined && (await details.wereShown(request, person));
      return isTheirs ? request.conversation : undefined;
    },
  };
}
