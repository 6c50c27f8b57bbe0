import { inlineCode } from '../../lib/text/text.ts';
import { createHash } from 'node:crypto';
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
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Replies } from '../../replies/replies.ts';
import type { SettingsTalk } from '../../settings/settings-talk.ts';
import type { Store } from '../../store/store.ts';

/** Of what was overheard, so much is looked through for what an edit turned to the bot. */
const mostHeard = 200;

type MessageEvent = Extract<ChannelEvent, { type: 'message' }>;
type EditEvent = Extract<ChannelEvent, { type: 'edited' }>;

/** `/new` outside a thread: a new thread has no memory yet. */
const nothingToEnd = fixed`Each thread is a separate conversation. To begin a new one, start a new thread, or say so in the thread.`;

/** Anyone who is refused writes at most one line of the audit in an hour, for each reason. */
const refusalEveryMs = 3_600_000;
/** A burst into a full queue is answered once. */
const fullEveryMs = 60_000;

/**
 * The one way in (Q1): who may talk is decided, commands that do not wait are answered (Q4), everything else is in the
 * durable inbox when the promise resolves. It rejects when storing failed, so that the platform sends it again.
 */
export function createAdmit(options: {
  store: Pick<Store, 'inbox' | 'overheard' | 'stop' | 'keyed' | 'transcripts'>;
  users: Pick<Users, 'decide' | 'heard' | 'mayAct' | 'owners'>;
  strangers: Strangers;
  meetGroup: MeetGroup;
  groups: Pick<Groups, 'left'>;
  commands: Commands;
  judge: JudgeMessage;
  presses: Presses;
  visits: Visits;
  suggestPrompts: SuggestPrompts;
  /** Takes out what was pasted from a sign-in page (C6). */
  signIns: GuardSignIns;
  /** Takes a text that answers what the bot asked. */
  answerAsks(message: Message): Promise<boolean>;
  /** Takes a value that a setting was asked for: it may be a secret, so nothing else hears of it. */
  settings: Pick<SettingsTalk, 'takeValue' | 'takeForm'>;
  migrations: ChatMigrations;
  replies: Replies;
  audit: Pick<Audit, 'record'>;
  clock: Clock;
  log: Log;
}): OnEvent {
  const { store, users, strangers, commands, presses, visits, signIns, answerAsks, settings } = options;
  const { judge, meetGroup, groups, migrations, replies, audit, clock, log } = options;
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
    // Before anything is decided, stored or logged of it.
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
        )`Too many messages are waiting here, so I left this one out. Please wait for my answers, then send it again.`,
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

  /** What was taken back is no background, and if nobody has started on it, it is not answered. */
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
        const prompts = await options.suggestPrompts(event.visit);
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

/**
 * What an edit changes (H3, H11): what waits is replaced; to what is being answered it is said as a message, which the turn
 * takes in; what was only overheard, and is now for the bot, is `taken` as if it had just been said.
 */
export function createTakeEdit(options: {
  store: Pick<Store, 'inbox' | 'overheard' | 'transcripts'>;
  resolve: Commands['resolve'];
  taken(message: Message): Promise<void>;
  migrations: Pick<ChatMigrations, 'original'>;
  clock: Pick<Clock, 'now'>;
}): (edited: Message, at?: string) => Promise<void> {
  const { store, resolve, taken, migrations, clock } = options;

  async function takeHeard(edited: Message): Promise<void> {
    const heard = await store.overheard.recent(conversationKey(edited.conversation), mostHeard, 0);
    if (!heard.some(({ id }) => id === edited.id)) return;
    await taken(edited);
    await store.overheard.remove(edited.id);
  }

  /** After a mention any word may look like one (I1). */
  async function isCommand(message: Message): Promise<boolean> {
    if (message.command?.bare !== true) return message.command !== undefined;
    return (await resolve(message)) !== undefined;
  }

  /** Whether the turn was told of another edit of this message before: the words that it began with are not the last ones. */
  async function hasJoined({ id, conversation }: Message): Promise<boolean> {
    const { transcripts } = store;
    const read = await transcripts.read(
      await transcripts.current(conversationKey(await migrations.original(conversation))),
    );
    return read.entries.some(({ entry }) => entry.kind === 'user' && entry.item?.startsWith(editKey(id)));
  }

  async function sayToTurn(edited: Message, at: string): Promise<void> {
    const waiting = await store.inbox.waitingIn(conversationKey(edited.conversation));
    const asked = waiting.find(({ key }) => key === edited.id)?.message;
    // A command is carried out as it was given.
    if (asked === undefined || (await isCommand(asked)) || (await isCommand(edited))) return;
    const last = waiting.findLast(({ message }) => message?.edits === edited.id)?.message;
    if (last?.text === edited.text) return;
    if (last === undefined && asked.text === edited.text && !(await hasJoined(edited))) return;
    const words = createHash('sha256').update(`${at}\n${edited.text}`).digest('hex').slice(0, 16);
    const message = { ...edited, id: `${editKey(edited.id)}${words}`, edits: edited.id, attachments: [] };
    await store.inbox.accept(message, { now: clock.now() });
  }

  return async (edited, at = '') => {
    const outcome = await store.inbox.replace(edited);
    if (outcome === 'unknown') await takeHeard(edited);
    if (outcome === 'too_late') await sayToTurn(edited, at);
  };
}

/** What the keys of a message's edits begin with. */
function editKey(id: string): string {
  return `${id}!edit:`;
}
