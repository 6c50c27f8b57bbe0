import type { Audit } from '../../audit/create-audit.ts';
import type { Accounts } from './capability-base.ts';
import type { LinkedAccount } from './bridge-contract.ts';
import type { CapabilityKey } from '../../accounts/capability-key.ts';
import { openFlow, type OpenFlow } from './auth-flows.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { Clock } from '../../lib/clock.ts';
import { inlineCode, printable } from '../../lib/text/text.ts';
import { partKey, type Replies } from '../../replies/replies.ts';
import type { CapabilityRecords } from '../../store/capability-records.ts';
import type { Store } from '../../store/store.ts';

const plainName = /^[A-Za-z][\w .-]{0,39}$/;

export type ConfirmAccounts = Readonly<{
  /** Shows a linked identity with buttons, once for each flow. */
  ask(flow: OpenFlow, account: LinkedAccount): Promise<void>;
  /** Takes an answer. `refused` has what to tell the person; `unknown` means that there is no such question. */
  answer(
    id: string,
    from: Readonly<{ sender: string; language?: string; conversation: Conversation }>,
    yes: boolean,
  ): Promise<Readonly<{ kind: 'taken' | 'unknown' } | { kind: 'refused'; text: string }>>;
}>;

/** Asks people by buttons whether a linked identity is theirs (C6). */
export function createConfirmAccounts(options: {
  confirm: ConfirmLink;
  store: Store;
  replies: Replies;
  audit: Audit;
}): ConfirmAccounts {
  const { confirm, store, replies, audit } = options;
  const keyOf = (id: string): string => `link:${id}`;

  async function settle({ outcome, flow, account }: Extract<Confirmed, { flow: OpenFlow }>): Promise<void> {
    const { conversation } = flow.content.requester;
    const say = sayIn(flow.content.requester.language);
    const name = inlineCode(printable(account));
    const text =
      outcome === 'linked'
        ? say`Linked: ${inlineCode(flow.capability)} uses ${name} for you. Ask me again for what you wanted.`
        : say`Not used: ${name}.`;
    const shown = await store.outbox.receipt(partKey(keyOf(flow.id), 0));
    const key = `${keyOf(flow.id)}!outcome`;
    if (shown !== undefined) await store.outbox.show(partKey(key, 0), shown);
    await store.commit({ outbox: await replies.rows(conversation, key, text) });
    await audit.record({
      event: 'capability_sign_in',
      sender: flow.sender,
      conversation: conversationKey(conversation),
      chatType: flow.content.requester.chatType,
      capability: flow.capability,
      step: 'confirmation',
      outcome: outcome === 'linked' ? 'ok' : 'refused',
    });
  }

  return {
    async ask(flow, account) {
      const say = sayIn(flow.content.requester.language);
      const buttons = [
        { label: say`Use it`, action: `link:${flow.id}:yes` },
        { label: say`Not mine`, action: `link:${flow.id}:no` },
      ];
      const { conversation } = flow.content.requester;
      await store.commit({
        outbox: await replies.rows(conversation, keyOf(flow.id), confirmText(flow, account), { buttons }),
      });
    },
    async answer(id, from, yes) {
      const confirmed = await confirm(id, from, yes);
      if ('flow' in confirmed) {
        await settle(confirmed);
        return { kind: 'taken' };
      }
      if (confirmed.outcome === 'unknown') return { kind: 'unknown' };
      const say = sayIn(from.language);
      const text =
        confirmed.outcome === 'late'
          ? `${say`That sign-in is no longer open.`} ${say`Ask me again to start over.`}`
          : say`Only the person who started this sign-in can answer that.`;
      return { kind: 'refused', text };
    },
  };
}

type Confirmed = Readonly<
  | { outcome: 'unknown' | 'not yours' | 'late' }
  | { outcome: 'linked' | 'dropped'; flow: OpenFlow; account: string }
>;

/** Takes an answer, once, from the person who began the flow, in that chat and within the flow's time (C6). */
type ConfirmLink = (
  id: string,
  from: Readonly<{ sender: string; conversation: Conversation }>,
  yes: boolean,
) => Promise<Confirmed>;

export function createConfirmLink(options: {
  records: CapabilityRecords;
  accounts: Accounts;
  key: () => Promise<CapabilityKey>;
  clock: Clock;
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

export function linkText({ capability, content }: OpenFlow, stopCommand: string): string {
  const say = sayIn(content.requester.language);
  const { auth_url: url, user_code: code, flow_type: kind } = content.begun;
  const what = say`The skill ${inlineCode(content.skill)} wants to use ${inlineCode(capability)} with your account. Allow it here within 30 minutes:`;
  const then =
    kind === 'device_code'
      ? say`Enter this code there: ${inlineCode(code ?? '')}. I'll notice when you are done.`
      : say`Then send me the full address of the page you end up on, or the code it shows. I keep it out of the conversation: the language model never sees it.`;
  return [what, `<${url}>`, then, say`${stopCommand} cancels it.`].join('\n\n');
}

export function confirmText(flow: OpenFlow, { account_ref, metadata }: LinkedAccount): string {
  const say = sayIn(flow.content.requester.language);
  const known = Object.entries(metadata).flatMap(([name, value]) =>
    plainName.test(name) && typeof value === 'string' && value !== '' && value !== account_ref
      ? [`- ${name}: ${inlineCode(printable(value))}`]
      : [],
  );
  return [
    say`${inlineCode(flow.capability)} is linked to this account:`,
    [`- ${inlineCode(printable(account_ref))}`, ...known.slice(0, 10)].join('\n'),
    say`Is this your account, and may I use it? Press a button, or write ${inlineCode(`${say`yes`} ${flow.id}`)} or ${inlineCode(`${say`no`} ${flow.id}`)}.`,
  ].join('\n\n');
}
