import type { App } from '../../app.ts';
import type { Press } from '../../core/channel.ts';
import { expired, type PressEvent, type ReplyOptions } from '../../core/feature.ts';
import { parseCommand, type Message } from '../../core/message.ts';
import { sayIn } from '../../core/texts/say.ts';
import { directMessage, forGroupWord } from '../../replies/private-parts.ts';
import { onlyToSender, partKey } from '../../replies/replies.ts';
import type { FeatureParts } from '../parts-of-features.ts';
import { codeOf, stopPress } from '../placeholder.ts';
import { stopOwnRun } from '../stop-work.ts';
import { takeStop } from './take-stop.ts';

/** Takes what a press says as a message of the person. */
export type SayAs = (message: Message, openThread?: PressEvent['openThread']) => Promise<void>;

type PressDeps = App & Readonly<{ features: FeatureParts }>;

/**
 * Answers a pressed button outside the queue (Q4). Anybody can press, so each feature checks who did, and explains a
 * refusal only to them. A button in a direct message may act for a group (U16).
 */
export async function press(event: PressEvent, say: SayAs, deps: PressDeps): Promise<void> {
  if (!event.press.action.startsWith(`${forGroupWord}:`)) return answer(event, say, deps);
  const inGroup = await forGroup(event, deps);
  if (inGroup !== undefined) return answer(inGroup, say, deps);
  const { sender, action } = event.press;
  deps.log.warn(
    { sender: sender.id, action },
    'a button for a group was pressed that does not count any more',
  );
  event.tell?.(sayIn(sender.language)(expired));
}

async function answer(event: PressEvent, say: SayAs, deps: PressDeps): Promise<void> {
  const pressed = event.press;
  const { store, clock, log } = deps;
  const { sender, action } = pressed;
  const [kind = '', ...words] = action.split(':');
  if (kind === 'run') return say(toMessage(pressed, `/${words.join(':')}`, clock.now()), event.openThread);
  // Removed people can still see buttons, but may not use them (S11).
  const may = await deps.users.mayAct(pressed);
  if (!may.allowed) {
    // Reactions are on any message, and nobody is told of them.
    const level = event.tell === undefined ? 'debug' : 'warn';
    log[level](
      { sender: sender.id, action, code: may.code },
      'somebody who is not admitted pressed a button',
    );
    event.tell?.(sayIn(sender.language)`You don’t have access to this bot. Ask its operator for it.`);
    return;
  }
  if (kind === stopPress) {
    const stop = { ...pressed, isOf: (placeholder: string) => codeOf(placeholder) === words[0] };
    return takeStop({ type: 'stop', stop, tell: event.tell }, deps);
  }
  if (kind === 'stop') return event.tell?.(await stopOwnRun(sender, words[0] ?? '', store));
  const byFeature = deps.features.press(kind);
  if (byFeature === undefined) {
    log.info({ action }, 'somebody pressed an expired button');
    return event.tell?.(sayIn(sender.language)(expired));
  }
  const outcome = await byFeature(event, words);
  if (outcome === undefined) return;
  if ('told' in outcome) return event.tell?.(outcome.told);
  await show(pressed, outcome.text, { buttons: outcome.buttons }, deps);
}

/**
 * The press as one in the group that the message was for, with what is known of the group now. Undefined if that is no
 * longer stored, or if the person is not known to be in the group (S11).
 */
async function forGroup(
  event: PressEvent,
  { store, channels, log }: PressDeps,
): Promise<PressEvent | undefined> {
  const { press, openThread } = event;
  const { id, conversation, chatType, external, sender, receipt, at = 0 } = press;
  if (chatType !== 'private' || receipt === undefined) return undefined;
  // A platform may call the chat by another id than the person's.
  const places = [conversation, directMessage(sender.id)];
  const rows = await Promise.all(places.map((place) => store.outbox.sentAs(place, receipt.id)));
  const { onlyTo, from } = rows.find((row) => row?.part.from !== undefined)?.part ?? {};
  const channel = channels.get(conversation.channel);
  if (from === undefined || onlyTo !== sender.id || channel?.hasMember === undefined) return undefined;
  const group = from.conversation;
  const isMember = await channel.hasMember(group, sender.id).catch((error: unknown) => {
    log.warn({ err: error, sender: sender.id }, 'whether somebody is in a group could not be looked up');
    return false;
  });
  if (!isMember) return undefined;
  const looked = await channel.lookUpChat(group);
  return {
    ...event,
    press: {
      ...press,
      action: press.action.slice(forGroupWord.length + 1),
      conversation: group,
      chatType: looked.chatType,
      external: external || looked.external,
      ephemeral: true,
      privateReply: { kind: 'press', id, at, direct: { conversation } },
    },
    openThread: openThread && ((shown) => openThread(shown, group)),
  };
}

function toMessage(pressed: Press, text: string, sentAt: number): Message {
  const { id, conversation, chatType, external, sender, ephemeral, privateReply } = pressed;
  return {
    id: `press:${id}`,
    conversation,
    chatType,
    external,
    sender,
    ephemeral,
    privateReply,
    text,
    addressed: true,
    command: parseCommand(text),
    attachments: [],
    sentAt,
  };
}

/** Replaces the pressed message by the outcome. */
async function show(
  pressed: Press,
  outcome: string,
  more: ReplyOptions,
  { store, replies }: PressDeps,
): Promise<void> {
  const { id, conversation, receipt, ephemeral, privateReply } = pressed;
  const key = `outcome:${id}`;
  // Where an ephemeral message can't be edited, the outcome is a new one.
  const canEdit = ephemeral !== true || receipt?.onlyTo !== undefined || privateReply?.direct !== undefined;
  const isShown = receipt !== undefined && canEdit;
  if (isShown) await store.outbox.show(partKey(key, 0), receipt);
  const outbox = await replies.rows(conversation, key, outcome, { ...onlyToSender(pressed), ...more });
  await store.commit({ outbox });
}
