import type { App } from '../../app.ts';
import type { MeetGroup } from '../../access/groups.ts';
import type { MessageDenial } from '../../access/decide-message.ts';
import type { Strangers } from '../../access/pairing.ts';
import type { ChannelEvent } from '../../core/channel.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { fixed, sayIn } from '../../core/texts/say.ts';
import type { Commands } from '../commands.ts';
import type { JudgeMessage } from '../judge-message.ts';
import type { FeatureParts } from '../parts-of-features.ts';

type MessageEvent = Extract<ChannelEvent, { type: 'message' }>;

export type AdmitDeps = App &
  Readonly<{
    features: FeatureParts;
    strangers: Strangers;
    meetGroup: MeetGroup;
    commands: Commands;
    sayFirst(message: Message): Promise<void>;
    judge: JudgeMessage;
    isDue: Readonly<{ refusal(key: string): boolean; full(key: string): boolean }>;
  }>;

const nothingToEnd = fixed`Each thread is a separate conversation. To begin a new one, start a new thread, or say so in the thread.`;
const onlyCommands = fixed`Where only you see it, I answer commands such as /help. For everything else write to all here, or to me in a direct message.`;
const tooMany = fixed`Too many messages are waiting here, so I skipped this one. Please wait for my answers, then send it again.`;

/**
 * Admits a message, answers it at once (Q4) or stores it in the queue (Q1). Rejects if storing fails, so that the
 * platform sends it again.
 */
export async function admit(event: MessageEvent, deps: AdmitDeps): Promise<void> {
  const { features, users, strangers, commands } = deps;
  // A sign-in's code must be taken before anything is decided, stored or logged.
  const clean = await features.withoutSecrets(event.message);
  if (clean === undefined) return;
  const { message, join } = await partOf(event, clean, deps);
  if (await strangers.claims(message)) return;
  const decision = await users.decide(message);
  if (decision.allowed) await users.heard(message.sender);
  if (decision.allowed && message.chatType === 'private') await deps.replies.release(message.sender.id);
  if (decision.allowed) await deps.sayFirst(message);
  // A secret that was asked for, or a question's code, needs no mention.
  const mayAct = decision.allowed || decision.code === 'NOT_ADDRESSED';
  if (mayAct && (await features.take(message, decision.allowed))) return;
  if (!decision.allowed) return refuse(message, decision, deps);
  if (await commands.atOnce(message, event.openForm)) return;
  const isAlone = message.ephemeral === true;
  if (isAlone && event.openThread !== undefined)
    return acceptInThread(message, event.openThread, event, deps);
  if (isAlone) return answerAlone(message, deps);
  await accept(message, { ...event, join }, deps);
}

/**
 * A later part of a split message is addressed as its first part is. A slash at its start is where the client cut the
 * text, so it is no command (H3).
 */
async function partOf(
  { join }: MessageEvent,
  message: Message,
  { store }: AdmitDeps,
): Promise<Pick<MessageEvent, 'message' | 'join'>> {
  const whole = join && (await store.inbox.begun(message, join));
  if (whole === undefined) return { message, join: join?.holdMs === 0 ? undefined : join };
  const { command, ...said } = message;
  const addressed = message.addressed || whole.addressed;
  return { message: { ...said, addressed, command: whole.text === '' ? command : undefined }, join };
}

async function refuse(
  message: Message,
  { code, reason }: Readonly<{ code: MessageDenial; reason: string }>,
  { store, audit, clock, log, strangers, meetGroup, isDue }: AdmitDeps,
): Promise<void> {
  if (code === 'NOT_ADDRESSED') return store.groupContext.add(message, clock.now());
  const { id, sender, conversation, chatType } = message;
  log.info({ message: id, sender: sender.id, code, reason }, 'a message was not admitted');
  if (isDue.refusal(`${sender.id} ${code}`))
    void audit.record({
      event: 'message_refused',
      sender: sender.id,
      conversation: conversationKey(conversation),
      chatType,
      code,
    });
  if (code === 'CHAT_NOT_ALLOWED') return meetGroup.spoken(message);
  return strangers.meet(message, code);
}

/**
 * Opens a new thread and queues the message there. Only for messages that a model answers; others are answered in
 * place.
 */
async function acceptInThread(
  message: Message,
  openThread: NonNullable<MessageEvent['openThread']>,
  event: MessageEvent,
  deps: AdmitDeps,
): Promise<void> {
  const judged = await deps.judge(message, { isNew: true });
  if (judged.kind === 'answer') return deps.replies.answer(message, judged.text, judged.more);
  if (judged.kind === 'command')
    return deps.replies.answer(message, sayIn(message.sender.language)(nothingToEnd));
  const { ephemeral: _, ...said } = message;
  await accept({ ...said, conversation: await openThread(judged.shown) }, event, deps);
}

/**
 * Answers an ephemeral message that no thread can be opened for. A model does not see it, because others would read the
 * words in what this chat remembers (U16).
 */
async function answerAlone(message: Message, deps: AdmitDeps): Promise<void> {
  const judged = await deps.judge(message, { isNew: true });
  if (judged.kind === 'answer') return deps.replies.answer(message, judged.text, judged.more);
  const text = sayIn(message.sender.language)(judged.kind === 'command' ? nothingToEnd : onlyCommands);
  await deps.replies.answer(message, text);
}

async function accept(
  message: Message,
  { join, stored }: MessageEvent,
  { store, clock, log, replies, isDue }: AdmitDeps,
): Promise<void> {
  const accepted = await store.inbox.accept(message, { now: clock.now(), join });
  if (accepted === 'stored') stored?.();
  if (accepted === 'queue_full' && isDue.full(conversationKey(message.conversation))) {
    const text = sayIn(message.sender.language)(tooMany);
    await replies.answer(message, text, { key: `${message.id}!full` });
  }
  log.debug({ message: message.id, accepted }, 'a message was accepted');
}
