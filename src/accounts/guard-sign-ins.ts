import type { Channel } from '../core/channel.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Log } from '../lib/log.ts';
import type { Message, Quote } from '../core/message.ts';
import type { CapabilityCode } from '../core/codes.ts';
import type { AuditWriter } from '../audit/create-audit.ts';
import type { Replies } from '../replies/replies.ts';
import { sayIn } from '../core/texts/say.ts';

/** What a message was to open sign-ins. Anything but `none` goes no further: nothing stores, shows or logs it (C6). */
export type TakenAnswer = Readonly<
  | { kind: 'none' }
  | { kind: 'submitted'; flow: string; capability: string }
  /** It can't be used. `capability` is that of its flow, if that is known; `text` is what to tell the person instead. */
  | { kind: 'refused'; code: CapabilityCode; capability?: string; text?: string }
  /** Others could read the message, so its answer is not used. */
  | { kind: 'public' }
>;

/** Takes answers of sign-in pages out of messages before anything stores or logs them (C6). */
export type GuardSignIns = Readonly<{
  /** Handles a message that is such an answer. True: the message is done and goes no further. */
  takes(message: Message): Promise<boolean>;
  /** The message without such answers in what it quotes. */
  clean(message: Message): Promise<Message>;
}>;

export function createGuardSignIns(options: {
  take(message: Message): Promise<TakenAnswer>;
  channels: ReadonlyMap<string, Channel>;
  replies: Replies;
  audit: AuditWriter;
  log: Log;
}): GuardSignIns {
  const { take, channels, replies, audit, log } = options;

  /** Takes an answer out of a quote. A quoted answer counts as public, so it is never used. */
  async function cleanQuote(message: Message, quote: Quote): Promise<Quote> {
    const { sender } = message;
    const said = { text: quote.text, sender: { ...sender, id: quote.sender ?? sender.id } };
    const quoted = await take({ ...message, ...said, chatType: 'unknown' });
    return quoted.kind === 'none' ? quote : { ...quote, text: '(the answer of a sign-in page, taken out)' };
  }

  return {
    async takes(message) {
      const taken = await take(message);
      if (taken.kind === 'none') return false;
      const outcome =
        taken.kind === 'refused' ? taken.code : taken.kind === 'public' ? 'capability_access_denied' : 'ok';
      await audit.record({
        event: 'capability_sign_in',
        sender: message.sender.id,
        conversation: conversationKey(message.conversation),
        chatType: message.chatType,
        step: 'answer',
        capability: 'capability' in taken ? taken.capability : undefined,
        outcome,
      });
      const key = { key: `${message.id}!sign-in` };
      if (taken.kind === 'public') {
        const isGone = await remove(message, { channels, log });
        await replies.answer(message, publicText(isGone, message.sender.language), key);
      }
      if (taken.kind === 'refused') {
        const { text = failureText(taken.code, isOver.has(taken.code), message.sender.language) } = taken;
        await replies.answer(message, text, key);
      }
      return true;
    },
    async clean(message) {
      const { replyTo, shared } = message;
      return {
        ...message,
        replyTo: replyTo && (await cleanQuote(message, replyTo)),
        shared: shared && (await Promise.all(shared.map((quote) => cleanQuote(message, quote)))),
      };
    },
  };
}

const isOver: ReadonlySet<string> = new Set([
  'capability_auth_flow_invalid',
  'capability_auth_flow_expired',
  'capability_auth_flow_denied',
]);

/** Deletes a message that others could read. False if the platform does not allow it. */
async function remove(
  { conversation, platformId }: Message,
  { channels, log }: Readonly<{ channels: ReadonlyMap<string, Channel>; log: Log }>,
): Promise<boolean> {
  const channel = channels.get(conversation.channel);
  if (channel === undefined || platformId === undefined) return false;
  try {
    await channel.remove(conversation, { id: platformId });
    return true;
  } catch (error) {
    const fields = { err: error, conversation: conversationKey(conversation) };
    log.info(fields, 'a pasted code could not be deleted');
    return false;
  }
}

function publicText(isGone: boolean, language: string | undefined): string {
  const say = sayIn(language);
  const fate = isGone ? say`I deleted it.` : say`Please delete it.`;
  return say`That looked like the answer of a sign-in page. Others can read it here, so I didn’t use it. ${fate} Send it to me in a direct message.`;
}

export function failureText(code: CapabilityCode, over: boolean, language: string | undefined): string {
  const say = sayIn(language);
  const again = over
    ? say`Ask me again to start over.`
    : say`Please try again with the code or address that the page shows.`;
  const words: Partial<Record<CapabilityCode, string>> = {
    capability_auth_flow_invalid: say`That sign-in is no longer open.`,
    capability_auth_flow_expired: say`That sign-in expired: it lasts 30 minutes.`,
    capability_auth_flow_denied: say`The sign-in was refused on the page, so nothing is linked.`,
    capability_auth_flow_ambiguous: say`You have several open sign-ins. Send the full address of the page, so that I know which one you mean.`,
    capability_auth_callback_invalid: say`That address is incomplete. Copy all of it again.`,
    capability_auth_code_conflict: say`I found two different codes in that. Send only one.`,
    capability_auth_state_mismatch: say`That address is for another sign-in, not the one I sent you.`,
    capability_auth_code_missing: say`There is no code in that address.`,
    capability_backend_unavailable: say`The service is not answering at the moment.`,
  };
  const what = words[code] ?? say`The sign-in did not work.`;
  return code === 'capability_auth_flow_ambiguous' ? what : `${what} ${again}`;
}
