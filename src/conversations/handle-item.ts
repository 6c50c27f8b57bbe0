import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { SkillUse } from '../access/decide-skill.ts';
import { recordTaint, roomOf, taintAround } from '../access/taint-of.ts';
import type { Users } from '../access/users.ts';
import { stillWaiting } from '../agent/watch-silence.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import type { Channel } from '../core/channel.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import { repliesTo, type Message } from '../core/message.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { labelled } from '../lib/text/escape-labels.ts';
import type { SendLargeTables } from '../replies/large-tables.ts';
import { partKey, type Replies } from '../replies/replies.ts';
import { runTask, taskProgress, tellResult, type RunTask } from '../runs/tasks.ts';
import type { RoutineTask } from '../routines/routine-message.ts';
import type { InboxItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';
import type { Commands } from './commands.ts';
import { failRoutine, handleRoutine, type RoutineDeps } from './handle-routine.ts';
import { transcriptOf, wasStarted } from './inbox-worker.ts';
import { joinTurn, type JoinDeps } from './join-turn.ts';
import { completeChat, type Judged, type JudgeMessage } from './judge-message.ts';
import { removePlaceholder, showProgress, type Shown } from './progress.ts';
import type { AnsweredThreads } from './threads.ts';
import type { CreateTurnContext } from './turn-context.ts';
import type { Turn } from './turn.ts';

const apology = fixed`Sorry, I couldn’t answer that. My operator can see why. Please try again later.`;
const gaveUp = labelled('host', 'It was interrupted too often, so it was cancelled without a result.');

export type ItemDeps = Readonly<{
  host: Readonly<{
    runtime(): RuntimeConfig;
    store: Store;
    migrations: ChatMigrations;
    audit: Pick<Audit, 'record'>;
    clock: Clock;
    log: Log;
  }>;
  people: Readonly<{ users: Users; accessOf(message: Message): Promise<SkillUse> }>;
  reading: Readonly<{ commands: Pick<Commands, 'atOnce'>; judge: JudgeMessage }>;
  agent: Readonly<{
    turn: Turn;
    createContext: CreateTurnContext;
    questions: JoinDeps['questions'];
  }>;
  chat: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    replies: Replies;
    answered: Pick<AnsweredThreads, 'add'>;
  }>;
  sendLargeTables: SendLargeTables;
  capabilities: Pick<Capabilities, 'callOff'>;
  routines: RoutineDeps;
  onFailed(key: string): void;
}>;

type Work = Readonly<{ item: InboxItem; message: Message; signal: AbortSignal }>;

/** Answers one queued item. May be repeated after a crash at any point (Q5). */
export async function handleItem(item: InboxItem, signal: AbortSignal, deps: ItemDeps): Promise<void> {
  const { store } = deps.host;
  const message = await completeChat(item.message, deps.chat.channels);
  const work = { item, message, signal };
  if (message.task?.kind === 'routine') return routine(work, message.task, deps);
  if (!(await isStillAdmitted(message, deps))) return removePlaceholder(item, store, { done: item.key });
  if (message.task?.kind === 'run') return runQueuedCall(work, message.task, deps);
  // Work that was started is finished, even if a budget has run out since (Q5, U9).
  const isNew = message.task?.kind !== 'result' && !wasStarted(item);
  const judged = await deps.reading.judge(message, { isNew });
  if (judged.kind === 'turn') return answerByTurn(work, judged, deps);
  if (judged.kind === 'answer') return answerItself(work, judged, deps);
  if (judged.name === 'new' || judged.name === 'clear') return startNew(work, deps);
  // The message was edited into another command, or its skill is gone.
  await deps.reading.commands.atOnce(message);
  await removePlaceholder(item, store, { done: item.key });
}

/** Tells the person that an item is dead-lettered. May be repeated. */
export async function giveUp(item: InboxItem, error: unknown, deps: ItemDeps): Promise<void> {
  const { task, sender } = item.message;
  if (task?.kind === 'run') return tellResult(item, task, { content: gaveUp, isError: true }, deps.host);
  const text = sayIn(sender.language)(error instanceof ModelError ? error.sentence : apology);
  if (task?.kind === 'routine') return failRoutine({ item, message: item.message, task }, text, deps);
  // The apology has its own key, because an answer may still come after `inbox retry`.
  const key = `${item.key}!dead`;
  const { outbox } = deps.host.store;
  const shown = await outbox.shown(partKey(item.key, 0));
  if (shown !== undefined) {
    await outbox.show(partKey(key, 0), shown);
    await outbox.show(partKey(item.key, 0), undefined);
  }
  await deps.chat.replies.answer(item.message, text, { key });
}

function routine(work: Work, task: RoutineTask, deps: ItemDeps): Promise<void> {
  return handleRoutine(
    { ...work, task },
    async (message, invocation) => {
      const judged = { kind: 'turn', invocation, shown: {} } as const;
      const answer = await think({ ...work, message }, judged, unseen, deps);
      if (answer.failed) deps.onFailed(work.item.key);
      return answer;
    },
    deps,
  );
}

/** A routine's turn has no one watching, so its progress goes nowhere. */
const unseen: Shown = {
  progress: () => undefined,
  onText: () => undefined,
  onSilence: () => undefined,
  onWritten: () => undefined,
  end: async () => undefined,
};

async function runQueuedCall(
  { item, message, signal }: Work,
  task: RunTask,
  { host, people, agent }: ItemDeps,
): Promise<void> {
  const { callTool } = await agent.createContext({
    item,
    message,
    use: await people.accessOf(message),
    transcript: task.parent,
    progress: taskProgress(task, signal, host),
  });
  await runTask(item, task, { callTool, signal }, host);
}

async function answerItself(
  { item, message }: Work,
  { text, more, notice }: Extract<Judged, { kind: 'answer' }>,
  { host, chat }: ItemDeps,
): Promise<void> {
  const told = { kind: 'notice', text: notice ?? '', at: host.clock.now() } as const;
  const entries =
    notice === undefined ? [] : [{ transcript: await transcriptOf(message, host), entry: told }];
  await chat.answered.add(message);
  await chat.replies.answer(message, text, { ...more, entries, done: item.key });
}

async function answerByTurn(
  work: Work,
  judged: Extract<Judged, { kind: 'turn' }>,
  deps: ItemDeps,
): Promise<void> {
  const { item, message, signal } = work;
  const { host, people, chat } = deps;
  const shown = showProgress(
    {
      conversation: message.conversation,
      part: partKey(item.key, 0),
      replyTo: repliesTo(message),
      asked: message.platformId,
      language: message.sender.language,
      resumed: wasStarted(item),
      mayRead: async () => (await people.users.decide(message)).allowed,
      signal,
    },
    { ...host, channels: chat.channels, outbox: host.store.outbox },
  );
  try {
    const { text, failed, question } = await think(work, judged, shown, deps);
    if (failed) deps.onFailed(item.key);
    await shown.end();
    // A person who was removed meanwhile gets no answer (A9).
    if (!(await isStillAdmitted(message, deps)))
      return await removePlaceholder(item, host.store, { done: item.key });
    const answer = await deps.sendLargeTables(message, text);
    if (question === undefined) return await chat.replies.answer(message, answer, { done: item.key });
    await chat.replies.answer(message, answer);
    const { text: asked, buttons } = question;
    await chat.replies.answer(message, asked, { key: `${item.key}!question`, buttons, done: item.key });
  } finally {
    await shown.end();
  }
}

async function think(
  { item, message, signal }: Work,
  { invocation, again }: Extract<Judged, { kind: 'turn' }>,
  shown: Shown,
  deps: ItemDeps,
): ReturnType<Turn> {
  const { host, people, reading, agent, chat } = deps;
  const transcript = await transcriptOf(message, host);
  const use = await people.accessOf(message);
  const { progress } = shown;
  const context = await agent.createContext({ item, message, use, transcript, progress });
  const onJoin = (): void => {
    // The words shown so far answer the old question only, so they are taken back.
    shown.onWritten(false);
    progress(sayIn(message.sender.language)`I’ve seen your new message.`);
  };
  const joining = joinTurn(
    { item, transcript, isCall: invocation !== undefined, onJoin },
    { ...host, ...people, ...reading, ...chat, questions: agent.questions },
  );
  // Ephemeral messages can't be edited, so nothing is shown in them on the way.
  const onSilence = (): void => shown.onSilence(sayIn(message.sender.language)(stillWaiting));
  const watcher = message.ephemeral === true ? undefined : { ...shown, onSilence };
  const request = { key: item.key, message, transcript, invocation, again, joining, watcher, signal };
  return agent.turn(request, context);
}

async function startNew({ item, message }: Work, deps: ItemDeps): Promise<void> {
  const { store, migrations, clock } = deps.host;
  const { sender, conversation } = message;
  const say = sayIn(sender.language);
  const transcript = await transcriptOf(message, deps.host);
  const { entries } = await store.transcripts.read(transcript);
  const isOwner = await deps.people.users.isOwner(sender.id);
  const said = entries.map(({ entry }) => entry);
  if (!canReset(message, isOwner, said))
    return deps.chat.replies.answer(message, say(cannotReset), { done: item.key });
  const known = await taintAround(store.transcripts, transcript);
  await recordTaint(store, roomOf(transcript), known, clock.now());
  await deps.capabilities.callOff(sender.id, conversation);
  await store.transcripts.archive(conversationKey(await migrations.original(conversation)));
  const text = say`New conversation. The previous one is archived.`;
  await deps.chat.replies.answer(message, text, { done: item.key });
}

const cannotReset = fixed`Others have talked with me here too, so only an owner can start a new conversation. In a direct message you always can.`;

/**
 * Whether the sender may use `/new`: always in direct messages; in groups owners, and senders who were the only ones to
 * talk with the bot since the last `/new` (I3).
 */
export function canReset(
  { chatType, sender }: Pick<Message, 'chatType' | 'sender'>,
  isOwner: boolean,
  entries: readonly Entry[],
): boolean {
  if (chatType === 'private' || isOwner) return true;
  return entries.every((entry) => {
    if (entry.kind === 'summary') return entry.senders?.every((id) => id === sender.id) ?? false;
    return entry.kind !== 'user' || entry.sender === undefined || entry.sender === sender.id;
  });
}

async function isStillAdmitted(message: Message, { people, host }: ItemDeps): Promise<boolean> {
  const decision = await people.users.decide(message);
  if (!decision.allowed)
    host.log.info(
      { message: message.id, code: decision.code, reason: decision.reason },
      'a message is no longer admitted; it is not answered',
    );
  return decision.allowed;
}
