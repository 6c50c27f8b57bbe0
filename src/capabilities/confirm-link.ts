import type { Clock } from '../lib/clock.ts';
import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { CapabilityRecords } from '../store/capability-records.ts';
import type { Accounts } from './accounts.ts';
import type { CapabilityKey } from './capability-key.ts';
import { openFlow, type OpenFlow } from './flow-content.ts';

/** What became of a person's word on a linked identity. */
export type Confirmed = Readonly<
  | { outcome: 'unknown' | 'not yours' | 'late' }
  | { outcome: 'linked' | 'dropped'; flow: OpenFlow; account: string }
>;

/** A person says that an identity is theirs, or not: only they, where it was shown, once, within the flow's time (C6). */
export type ConfirmLink = (
  id: string,
  from: Readonly<{ sender: string; conversation: Conversation }>,
  yes: boolean,
) => Promise<Confirmed>;

export function createConfirmLink(options: {
  records: Pick<CapabilityRecords, 'flow' | 'link' | 'change'>;
  accounts: Pick<Accounts, 'toKeep'>;
  key: () => Promise<CapabilityKey>;
  clock: Pick<Clock, 'now'>;
}): ConfirmLink {
  const { records, accounts, key, clock } = options;

  return async (id, { sender, conversation }, yes) => {
    const kept = await records.flow(id);
    if (kept?.conversation !== conversationKey(conversation)) return { outcome: 'unknown' };
    if (kept.sender !== sender) return { outcome: 'not yours' };
    const flow = kept.state === 'linked' ? openFlow(await key(), kept) : undefined;
    const account = flow?.content.account;
    if (flow === undefined || account === undefined || flow.expiresAt <= clock.now())
      return { outcome: 'late' };
    const { capability } = flow;
    const done = yes
      ? await records.link(id, await accounts.toKeep({ sender, capability, at: clock.now() }, account))
      : await records.change(id, 'linked', { state: 'ended', sealed: '' });
    if (!done) return { outcome: 'late' };
    return { outcome: yes ? 'linked' : 'dropped', flow, account: account.account_ref };
  };
}
