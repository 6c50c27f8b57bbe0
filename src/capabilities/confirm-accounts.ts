import { conversationKey, type Conversation } from '../core/conversation.ts';
import type { ConfirmLink, Confirmed } from './confirm-link.ts';
import type { LinkedAccount } from './bridge-contract.ts';
import type { OpenFlow } from './flow-content.ts';
import { printable } from '../lib/text/printable.ts';
import type { Store } from '../store/store.ts';
import type { Audit } from '../audit/create-audit.ts';
import { inlineCode } from '../lib/text/inline-code.ts';
import { confirmText } from './sign-in-words.ts';
import { partKey, type Voice } from '../replies/replies.ts';
import { sayIn } from '../core/texts/say.ts';

export type ConfirmAccounts = Readonly<{
  /** Shows a linked identity with buttons, once for a flow. */
  ask(flow: OpenFlow, account: LinkedAccount): Promise<void>;
  /** A press or a text: what is to be said to who answered in vain; nothing where it counted, `unknown` where it means nothing here. */
  answer(
    id: string,
    from: Readonly<{ sender: string; language?: string; conversation: Conversation }>,
    yes: boolean,
  ): Promise<Readonly<{ kind: 'taken' | 'unknown' } | { kind: 'refused'; text: string }>>;
}>;

/** Asks a person whether a linked identity is theirs, by buttons as approvals do (C6). */
export function createConfirmAccounts(options: {
  confirm: ConfirmLink;
  store: Pick<Store, 'commit' | 'outbox'>;
  voice: Pick<Voice, 'rows'>;
  audit: Pick<Audit, 'record'>;
}): ConfirmAccounts {
  const { confirm, store, voice, audit } = options;
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
    await store.commit({ outbox: voice.rows(conversation, key, text) });
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
        outbox: voice.rows(conversation, keyOf(flow.id), confirmText(flow, account), { buttons }),
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
          ? say`That sign-in is no longer open.`
          : say`Only the person who started this sign-in can answer that.`;
      return { kind: 'refused', text };
    },
  };
}
