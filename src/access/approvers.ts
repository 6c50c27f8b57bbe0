import { listsId } from './chat-migrations.ts';
import { fixed, type Say } from '../core/texts/say.ts';
import type { Requester } from '../core/tool.ts';
import { inlineCode } from '../lib/text/text.ts';
import type { PendingRequest } from '../store/pending-requests.ts';

type Deciders = Readonly<{
  approvers(): readonly string[];
  isOwner(sender: string): Promise<boolean>;
}>;

const mostNamed = 5;

const another = fixed`Another approver has to approve this, not the person who asked: ${0}.`;

/** Approvers without the requester, for calls under `four_eyes` (T8). */
export function otherApprovers(approvers: readonly string[], requester: string): readonly string[] {
  return approvers.filter((one) => !listsId([one], requester));
}

/** Says to the model, in English, why nobody could approve a call under `four_eyes`. Undefined if somebody could. */
export function whyNobodyElse({ chatType, kind }: Requester, others: readonly string[]): string | undefined {
  if (others.length === 0) return 'there is no other approver: the operator adds one to [policy] approvers';
  if (chatType === 'private')
    return 'nobody else reads this direct message: the person can ask for it in a group with an approver';
  // An anonymous admin of a group may be the approver who presses.
  return kind === 'chat' ? 'it is not known who asks: the person can ask under their own name' : undefined;
}

export function whoMayApprove(others: readonly string[], say: Say): string {
  const named = others.slice(0, mostNamed).map((one) => inlineCode(one));
  return say(another, say.either(others.length > mostNamed ? [...named, '…'] : named));
}

/**
 * What to tell a person whose answer does not count. Undefined if it counts (T8). People may always deny what they
 * asked for themselves.
 */
export async function whyNotTheirs(
  { requester, payload }: Readonly<{ requester: string; payload: PendingRequest['payload'] }>,
  { sender, approves }: Readonly<{ sender: string; approves: boolean }>,
  { approvers, isOwner }: Deciders,
  say: Say,
): Promise<string | undefined> {
  const isApprover = listsId(approvers(), sender);
  if (payload['fourEyes'] === true && sender === requester && approves)
    return whoMayApprove(otherApprovers(approvers(), requester), say);
  if (payload['byApprover'] === true)
    return isApprover || (await isOwner(sender))
      ? undefined
      : say`Only an owner or an approver can decide that.`;
  return sender === requester || isApprover
    ? undefined
    : say`Only the person who asked for this or an approver can answer.`;
}
