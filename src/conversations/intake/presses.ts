import type { App } from '../../app.ts';
import type { Press } from '../../core/channel.ts';
import { expired, type PressEvent, type ReplyOptions } from '../../core/feature.ts';
import { parseCommand, type Message } from '../../core/message.ts';
import { sayIn } from '../../core/texts/say.ts';
import { onlyToSender, partKey } from '../../replies/replies.ts';
import type { FeatureParts } from '../parts-of-features.ts';
import { codeOf, stopPress } from '../placeholder.ts';
import { stopOwnRun } from '../stop-work.ts';
import { takeStop } from './take-stop.ts';

export type SayAs = (message: Message) => Promise<void>;

type PressDeps = Pick<App, 'store' | 'clock' | 'log' | 'users' | 'replies' | 'workStates'> &
  Readonly<{ features: FeatureParts }>;

/**
 * Answers a pressed button outside the queue (Q4). Anybody can press, so each feature checks who did, and explains a
 * refusal only to them.
 */
export async function press(event: PressEvent, say: SayAs, deps: PressDeps): Promise<void> {
  const pressed = event.press;
  const { store, clock, log } = deps;
  const { sender, action } = pressed;
  const [kind = '', ...words] = action.split(':');
  if (kind === 'run') return say(toMessage(pressed, `/${words.join(':')}`, clock.now()));
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
  const answer = deps.features.press(kind);
  if (answer === undefined) {
    log.info({ action }, 'somebody pressed an expired button');
    return event.tell?.(sayIn(sender.language)(expired));
  }
  const outcome = await answer(event, words);
  if (outcome === undefined) return;
  if ('told' in outcome) return event.tell?.(outcome.told);
  await show(pressed, outcome.text, { buttons: outcome.buttons }, deps);
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
  const { id, conversation, receipt, ephemeral } = pressed;
  const key = `outcome:${id}`;
  // Where an ephemeral message can't be edited, the outcome is a new one.
  const isShown = receipt !== undefined && (ephemeral !== true || receipt.onlyTo !== undefined);
  if (isShown) await store.outbox.show(partKey(key, 0), receipt);
  const outbox = await replies.rows(conversation, key, outcome, { ...onlyToSender(pressed), ...more });
  await store.commit({ outbox });
}
