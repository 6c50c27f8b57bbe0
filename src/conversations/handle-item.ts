import { ModelError } from '../core/errors.ts';
import type { Channel } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { SkillUse } from '../access/decide-skill.ts';
import type { Log } from '../lib/log.ts';
import { labelled } from '../lib/text/escape-labels.ts';
import { repliesTo, type Message } from '../core/message.ts';
import type { InboxItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';
import { taintAround, recordTaint, roomOf } from '../access/taint-of.ts';
import type { Turn } from './turn.ts';
import { transcriptOf } from './has-progressed.ts';
import type { CreateTurnContext } from './turn-context.ts';
import type { AnsweredThreads } from './answered-threads.ts';
import type { Commands } from './commands.ts';
import { completeChat } from './intake/complete-chat.ts';
import type { SendLargeTables } from '../replies/large-tables.ts';
import type { JoinTurn } from './join-turn.ts';
import type { Judged, JudgeMessage } from './judge-message.ts';
import { wasStarted, type Handle } from './inbox-worker.ts';
import { canReset, cannotReset } from './can-reset.ts';
import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { Users } from '../access/users.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import { removePlaceholder, type ShowProgress } from './progress.ts';
import type { Tasks } from '../runs/tasks.ts';
import { partKey, type Replies } from '../replies/replies.ts';
import { conversationKey } from '../core/conversation.ts';
import { fixed, sayIn } from '../core/texts/say.ts';

const apology = fixed`Sorry, I couldn’t answer that. My operator can see why. Please try again later.`;

const gaveUp = labelled('host', 'It was interrupted too often, so it was cancelled without a result.');

export type ItemHandling = Readonly<{
  handle: Handle;
  onDead(item: InboxItem, error: unknown): Promise<void>;
}>;

export type HandlingDeps = Readonly<{
  host: Readonly<{
    store: Pick<Store, 'commit' | 'inbox' | 'outbox' | 'transcripts'>;
    migrations: ChatMigrations;
    clock: Pick<Clock, 'now'>;
    log: Log;
  }>;
  people: Readonly<{ users: Users; accessOf(message: Message): Promise<SkillUse> }>;
  reading: Readonly<{ commands: Pick<Commands, 'atOnce'>; judge: JudgeMessage }>;
  agent: Readonly<{ turn: Turn; tasks: Tasks; createContext: CreateTurnContext; joinTurn: JoinTurn }>;
  chat: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    replies: Replies;
    answered: Pick<AnsweredThreads, 'add'>;
    showProgress: ShowProgress;
    sendLargeTables: SendLargeTables;
  }>;
  capabilities: Pick<Capabilities, 'callOff'>;
  onFailed(key: string): void;
}>;

/** From an inbox item to its answer in the outbox. It can be called again for the same item at any point (Q5). */
export function createHandleItem(deps: HandlingDeps): ItemHandling {
  const { store, migrations, clock, log } = deps.host;
  const { users, accessOf } = deps.people;
  const { commands, judge } = deps.reading;
  const { turn, tasks, createContext, joinTurn } = deps.agent;
  const { channels, replies, answered, showProgress, sendLargeTables } = deps.chat;

  const handle: Handle = async (item, signal) => {
    const message = await completeChat(item.message, channels);
    if (!(await stillAdmitted(message))) return removePlaceholder(item, store, { done: item.key });
    if (message.task?.kind === 'run') {
      const { task } = message;
      const granted = await createContext({
        item,
        message,
        use: await accessOf(message),
        transcript: task.parent,
        progress: tasks.progress(task, signal),
      });
      return tasks.run(item, task, granted, signal);
    }
    const judged = await judge(message, { isNew: isNew(item) });
    if (judged.kind === 'command') {
      if (judged.name === 'new' || judged.name === 'clear') return startNew(item, message);
      // Since it was accepted, it was edited, or its skill went away.
      await commands.atOnce(message);
      return removePlaceholder(item, store, { done: item.key });
    }
    if (judged.kind === 'answer') return answerItself(item, message, judged);
    await answer(item, message, judged, signal);
  };

  async function answerItself(
    item: InboxItem,
    message: Message,
    { text, more, notice }: Extract<Judged, { kind: 'answer' }>,
  ): Promise<void> {
    const told = { kind: 'notice', text: notice ?? '', at: clock.now() } as const;
    const entries =
      notice === undefined ? [] : [{ transcript: await transcriptOf(message, deps.host), entry: told }];
    await answered.add(message);
    await replies.answer(message, text, { ...more, entries, done: item.key });
  }

  async function answer(
    item: InboxItem,
    message: Message,
    { invocation, again }: Extract<Judged, { kind: 'turn' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const replyTo = repliesTo(message);
    const shown = showProgress.begin({
      conversation: message.conversation,
      part: partKey(item.key, 0),
      replyTo,
      asked: message.platformId,
      resumed: wasStarted(item),
      mayRead: async () => (await users.decide(message)).allowed,
      signal,
    });
    try {
      const transcript = await transcriptOf(message, deps.host);
      const use = await accessOf(message);
      const granted = await createContext({ item, message, use, transcript, progress: shown.progress });
      const say = sayIn(message.sender.language);
      const onJoin = (): void => {
        // What was shown is no longer the answer.
        shown.onWritten(false);
        shown.progress(say`I’ve seen your new message.`);
      };
      const joining = joinTurn(item, transcript, { isCall: invocation !== undefined, onJoin });
      const { text, failed } = await turn(
        {
          key: item.key,
          message,
          transcript,
          invocation,
          again,
          joining,
          // An ephemeral message can't be edited: the answer comes whole.
          watcher: message.ephemeral === true ? undefined : shown,
          signal,
        },
        granted,
      );
      if (failed) deps.onFailed(item.key);
      await shown.end();
      // A person who was removed meanwhile does not get the answer (A9).
      if (!(await stillAdmitted(message))) return await removePlaceholder(item, store, { done: item.key });
      await replies.answer(message, await sendLargeTables(message, text), { done: item.key });
    } finally {
      await shown.end();
    }
  }

  async function startNew(item: InboxItem, message: Message): Promise<void> {
    const { entries } = await store.transcripts.read(await transcriptOf(message, deps.host));
    const isOwner = await users.isOwner(message.sender.id);
    if (
      !canReset(
        message,
        isOwner,
        entries.map(({ entry }) => entry),
      )
    ) {
      return replies.answer(message, sayIn(message.sender.language)(cannotReset), { done: item.key });
    }
    const transcript = await transcriptOf(message, deps.host);
    const known = await taintAround(store.transcripts, transcript);
    await recordTaint(store, roomOf(transcript), known, clock.now());
    await deps.capabilities.callOff(message.sender.id, message.conversation);
    await store.transcripts.archive(conversationKey(await migrations.original(message.conversation)));
    const text = sayIn(message.sender.language)`New conversation. The previous one is archived.`;
    await replies.answer(message, text, { done: item.key });
  }

  async function stillAdmitted(message: Message): Promise<boolean> {
    const decision = await users.decide(message);
    if (!decision.allowed)
      log.info(
        { message: message.id, code: decision.code, reason: decision.reason },
        'a message is no longer admitted; it is not answered',
      );
    return decision.allowed;
  }

  async function movePlaceholder(from: string, to: string): Promise<void> {
    const shown = await store.outbox.shown(from);
    if (shown === undefined) return;
    await store.outbox.show(to, shown);
    await store.outbox.show(from, undefined);
  }

  return {
    handle,
    async onDead(item, error) {
      const { task } = item.message;
      if (task?.kind === 'run') return tasks.giveUp(item, task, gaveUp);
      const say = sayIn(item.message.sender.language);
      const text = say(error instanceof ModelError ? error.sentence : apology);
      // Its own key: after `inbox retry` the answer may still come.
      const key = `${item.key}!dead`;
      await movePlaceholder(partKey(item.key, 0), partKey(key, 0));
      await replies.answer(item.message, text, { key });
    },
  };
}

/** What was started is finished at any cost (Q5, U9). */
function isNew(item: InboxItem): boolean {
  return item.message.task === undefined && !wasStarted(item);
}
