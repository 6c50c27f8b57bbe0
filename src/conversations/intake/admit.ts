import { inlineCode } from '../../lib/text/text.ts';
import type { ChatMigrations } from '../../access/chat-migrations.ts';
import type { Strangers } from '../../access/pairing.ts';
import type { Users } from '../../access/users.ts';
import type { Audit } from '../../audit/create-audit.ts';
import type { GuardSignIns } from '../../capabilities/guard-sign-ins.ts';
import type { Commands } from '../commands.ts';
import type { Groups, MeetGroup } from './groups.ts';
import type { Presses } from './presses.ts';
import type { SuggestPrompts, Visits } from './visits.ts';
import type { JudgeMessage } from '../judge-message.ts';
import type { ChannelEvent, OnEvent } from '../../core/channel.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { fixed, sayIn } from '../../core/texts/say.ts';
import { createThrottle } from '../../lib/async/mutex.ts';
import { createTakeEdit } from './take-edit.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Replies } from '../../replies/replies.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';
import type { Store } from '../../store/store.ts';

type MessageEvent = Extract<ChannelEvent, { type: 'message' }>;
type EditEvent = Extract<ChannelEvent, { type: 'edited' }>;

/** `/new` outside a thread: a new thread has no memory yet. */
const nothingToEnd = fixed`Each thread is a separate conversation. To begin a new one, start a new thread, or say so in the thread.`;

/** Refusals of one person for one reason are audited once an hour. */
const refusalEveryMs = 3_600_000;
const fullEveryMs = 60_000;

export type IntakeDeps = Readonly<{
  host: Readonly<{
    store: Pick<Store, 'inbox' | 'overheard' | 'stop' | 'keyed' | 'transcripts'>;
    migrations: ChatMigrations;
    audit: Pick<Audit, 'record'>;
    clock: Clock;
    log: Log;
  }>;
  people: Readonly<{
    users: Pick<Users, 'decide' | 'heard' | 'mayAct' | 'owners'>;
    strangers: Strangers;
    groups: Pick<Groups, 'left'>;
    meetGroup: MeetGroup;
  }>;
  reading: Readonly<{ commands: Commands; judge: JudgeMessage }>;
  /** What a message may answer; each sees it before anything else does. */
  asked: Readonly<{
    /** Removes what was pasted from a sign-in page (C6). */
    signIns: GuardSignIns;
    answerAsks(message: Message): Promise<boolean>;
    settings: Pick<SettingsTalk, 'takeValue' | 'takeForm'>;
  }>;
  presses: Presses;
  visits: Visits;
  suggestPrompts: SuggestPrompts;
  replies: Replies;
}>;

/**
 * The one way in (Q1). It decides who may talk, answers commands that do not wait (Q4), and stores everything else.
 * It rejects if storing fails, so that the platform sends the event again.
 */
export function createAdmit(deps: IntakeDeps): OnEvent {
  const { store, migrations, audit, clock, log } = deps.host;
  const { users, strangers, groups, meetGroup } = deps.people;
  const { commands, judge } = deps.reading;
  const { signIns, answerAsks, settings } = deps.asked;
  const { presses, visits, suggestPrompts, replies } = deps;
  const isDue = createThrottle(refusalEveryMs, clock);
  const told = store.keyed('notices');
  const takeEdit = createTakeEdit({
    store,
    resolve: (message) => commands.resolve(message),
    taken: (message) => onMessage({ type: 'message', message }),
    migrations,
    clock,
  });
  const mayTellFull = createThrottle(fullEveryMs, clock);

  async function onMessage(event: MessageEvent): Promise<void> {
    // Before anything of it is decided, stored or logged.
    if (await signIns.takes(event.message)) return;
    const message = await signIns.clean(event.message);
    if (await strangers.claims(message)) return;
    const decision = await users.decide(message);
    // A secret that is waited for may come without a mention.
    const mayAct = decision.allowed || decision.code === 'NOT_ADDRESSED';
    if (mayAct && (await settings.takeValue(message))) return;
    if (!decision.allowed) {
      if (decision.code === 'NOT_ADDRESSED') return store.overheard.add(message, clock.now());
      log.info(
        { message: message.id, sender: message.sender.id, code: decision.code, reason: decision.reason },
        'a message was not admitted',
      );
      if (isDue(`${message.sender.id} ${decision.code}`))
        void audit.record({
          event: 'message_refused',
          sender: message.sender.id,
          conversation: conversationKey(message.conversation),
          chatType: message.chatType,
          code: decision.code,
        });
      if (decision.code === 'CHAT_NOT_ALLOWED') return meetGroup.spoken(message);
      return strangers.meet(message, decision.code);
    }
    await users.heard(message.sender);
    if ((await answerAsks(message)) || (await commands.atOnce(message, event.openForm))) return;
    if (event.openThread === undefined) return accept(message, event);
    const judged = await judge(message, { isNew: true });
    if (judged.kind === 'answer') return replies.answer(message, judged.text, judged.more);
    if (judged.kind === 'command')
      return replies.answer(message, sayIn(message.sender.language)(nothingToEnd));
    const { ephemeral: _, ...said } = message;
    await accept({ ...said, conversation: await event.openThread(judged.shown) }, event);
  }

  async function accept(message: Message, { join, stored }: MessageEvent): Promise<void> {
    const accepted = await store.inbox.accept(message, {
      now: clock.now(),
      join,
    });
    if (accepted === 'stored') stored?.();
    if (accepted === 'lane_full' && mayTellFull(conversationKey(message.conversation))) {
      await replies.answer(
        message,
        sayIn(
          message.sender.language,
        )`Too many messages are waiting here, so I skipped this one. Please wait for my answers, then send it again.`,
        { key: `${message.id}!full` },
      );
    }
    log.debug({ message: message.id, accepted }, 'a message was accepted');
  }

  async function onEdited({ message: edited, at }: EditEvent): Promise<void> {
    if (await signIns.takes(edited)) return;
    const message = await signIns.clean(edited);
    if ((await users.decide(message)).allowed) await takeEdit(message, at);
  }

  /** A deleted message is no background; if nobody started on it, it is not answered. */
  async function onDeleted({ id, conversation }: Message): Promise<void> {
    await store.overheard.remove(id);
    const waiting = await store.inbox.waitingIn(conversationKey(conversation));
    const untaken = waiting.some(({ key, takenAt }) => key === id && takenAt === undefined);
    if (untaken) await store.stop({ items: [id] });
  }

  async function onMoved(from: string, to: string): Promise<void> {
    if (!(await migrations.remember(from, to))) return;
    log.warn(
      { from, to },
      'a chat has a new id; its rules still hold, but config.toml should name the new one',
    );
    await replies.tellOwners(
      `moved:${to}`,
      (say) =>
        say`The chat ${inlineCode(from)} is now ${inlineCode(to)}. Its rules still hold; please put the new id into ${inlineCode('config.toml')}.`,
    );
  }

  async function onNotice({ key, markdown }: Extract<ChannelEvent, { type: 'notice' }>): Promise<void> {
    if ((await users.owners()).length === 0 || (await told.has(key))) return;
    await replies.tellOwners(`notice:${key}:${clock.now()}`, markdown);
    await told.set(key, clock.now());
  }

  return async (event) => {
    switch (event.type) {
      case 'message':
        return onMessage(event);
      case 'edited':
        return onEdited(event);
      case 'deleted':
        return onDeleted(event.message);
      case 'press':
        return presses.press(event, (message) => {
          const { openThread } = event;
          return onMessage({ type: 'message', message, openThread });
        });
      case 'home':
        return visits(event, (message) => onMessage({ type: 'message', message }));
      case 'opened': {
        const prompts = await suggestPrompts(event.visit);
        if (prompts.length > 0) event.suggest(prompts);
        return;
      }
      case 'form': {
        if (!(await users.mayAct(event.filled)).allowed) return;
        const problems = await settings.takeForm(event.filled);
        if (problems !== undefined) event.refuse(problems);
        return;
      }
      case 'joined':
        return meetGroup.joined(event);
      case 'left':
        return groups.left(event.conversation);
      case 'notice':
        return onNotice(event);
      case 'moved':
        return onMoved(event.from, event.to);
    }
  };
}
