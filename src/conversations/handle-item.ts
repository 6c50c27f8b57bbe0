import type { App } from '../app.ts';
import { recordTaint, roomOf, taintAround } from '../access/taint-of.ts';
import { stillWaiting } from '../agent/watch-silence.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import type { QueuedTask } from '../core/feature.ts';
import { repliesTo, type Message } from '../core/message.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import { labelled } from '../lib/text/escape-labels.ts';
import { partKey } from '../replies/replies.ts';
import { runTask, taskProgress, taskSteps, tellResult, type RunTask } from '../runs/tasks.ts';
import type { InboxItem } from '../store/inbox.ts';
import type { Commands } from './commands.ts';
import { transcriptOf, wasStarted } from './inbox-worker.ts';
import { joinTurn, type JoinDeps } from './join-turn.ts';
import { completeChat, type Judged, type JudgeMessage } from './judge-message.ts';
import type { FeatureParts } from './parts-of-features.ts';
import type { KeptWords } from './kept-words.ts';
import { showProgress, unseen, type Progress } from './progress.ts';
import { removePlaceholder } from './placeholder.ts';
import type { CreateTurnContext } from './turn-context.ts';
import type { Turn } from './turn.ts';

const apology = fixed`Sorry, I couldn’t answer that. My operator can see why. Please try again later.`;
const gaveUp = labelled('host', 'It was interrupted too often, so it was cancelled without a result.');

export type ItemDeps = App &
  Readonly<{
    features: FeatureParts;
    commands: Commands;
    judge: JudgeMessage;
    turn: Turn;
    createContext: CreateTurnContext;
    questions: JoinDeps['questions'];
    keptWords: KeptWords;
    onFailed(key: string): void;
  }>;

type Work = Readonly<{ item: InboxItem; message: Message; signal: AbortSignal }>;

/** Answers one queued item. May be repeated after a crash at any point (Q5). */
export async function handleItem(item: InboxItem, signal: AbortSignal, deps: ItemDeps): Promise<void> {
  try {
    await answerItem(item, signal, deps);
  } finally {
    if (!isShuttingDown(signal)) await deps.workStates.refresh(item.message.conversation);
  }
}

async function answerItem(item: InboxItem, signal: AbortSignal, deps: ItemDeps): Promise<void> {
  const { store, features } = deps;
  const message = await completeChat(item.message, deps.channels);
  const work = { item, message, signal };
  const handler = message.task && features.task(message.task.kind);
  if (handler !== undefined) return handler.handle(taskOf(work, deps));
  if (message.task?.kind === 'routine') return store.commit({ done: item.key });
  if (!(await isStillAdmitted(message, deps))) return removePlaceholder(item, store, { done: item.key });
  if (message.task?.kind === 'run') return runQueuedCall(work, message.task, deps);
  // Work that was started is finished, even if a budget has run out since (Q5, U9).
  const isNew = message.task?.kind !== 'result' && !wasStarted(item);
  const judged = await deps.judge(message, { isNew });
  if (judged.kind === 'turn') return answerByTurn(work, judged, deps);
  if (judged.kind === 'answer') return answerItself(work, judged, deps);
  if (judged.name === 'new' || judged.name === 'clear') return startNew(work, deps);
  // The message was edited into another command, or its skill is gone.
  await deps.commands.atOnce(message);
  await removePlaceholder(item, store, { done: item.key });
}

/** Tells the person that an item is dead-lettered. May be repeated. */
export async function giveUp(item: InboxItem, error: unknown, deps: ItemDeps): Promise<void> {
  const { task, sender } = item.message;
  if (task?.kind === 'run') return tellResult(item, task, { content: gaveUp, isError: true }, deps);
  const text = sayIn(sender.language)(error instanceof ModelError ? error.sentence : apology);
  const handler = task && deps.features.task(task.kind);
  if (handler !== undefined) return handler.giveUp(item, text);
  // The apology has its own key, because an answer may still come after `inbox retry`.
  const key = `${item.key}!dead`;
  const { outbox } = deps.store;
  const shown = await outbox.shown(partKey(item.key, 0));
  if (shown !== undefined) {
    await outbox.show(partKey(key, 0), shown);
    await outbox.show(partKey(item.key, 0), undefined);
  }
  await deps.replies.answer(item.message, text, { key });
}

/** What a feature gets of an item that it put into the queue. */
function taskOf(work: Work, deps: ItemDeps): QueuedTask {
  const { key } = work.item;
  return {
    key,
    message: work.message,
    wasStarted: wasStarted(work.item),
    async think(message, skill) {
      const invocation = skill === undefined ? undefined : { skill, args: message.text };
      const answer = await think({ ...work, message }, { kind: 'turn', invocation, shown: {} }, unseen, deps);
      if (answer.failed) deps.onFailed(key);
      return answer;
    },
  };
}

async function runQueuedCall({ item, message, signal }: Work, task: RunTask, deps: ItemDeps): Promise<void> {
  const { callTool } = await deps.createContext({
    item,
    message,
    use: await deps.accessOf(message),
    transcript: task.parent,
    progress: taskProgress(task.id, signal, deps),
    step: taskSteps(task.id, deps),
  });
  await runTask(item, task, { callTool, signal }, deps);
}

async function answerItself(
  { item, message }: Work,
  { text, more, notice }: Extract<Judged, { kind: 'answer' }>,
  deps: ItemDeps,
): Promise<void> {
  const told = { kind: 'notice', text: notice ?? '', at: deps.clock.now() } as const;
  const entries =
    notice === undefined ? [] : [{ transcript: await transcriptOf(message, deps), entry: told }];
  await deps.answered.add(message);
  await deps.replies.answer(message, text, { ...more, entries, done: item.key });
}

async function answerByTurn(
  work: Work,
  judged: Extract<Judged, { kind: 'turn' }>,
  deps: ItemDeps,
): Promise<void> {
  const { item, message, signal } = work;
  const { store, users, replies } = deps;
  deps.workStates.working(message);
  const shown = showProgress(
    {
      conversation: message.conversation,
      part: partKey(item.key, 0),
      replyTo: repliesTo(message),
      asked: message.platformId,
      language: message.sender.language,
      resumed: wasStarted(item),
      mayRead: async () => (await users.decide(message)).allowed,
      signal,
    },
    { ...deps, outbox: store.outbox, words: deps.keptWords },
  );
  try {
    const { text, failed, question, rateable } = await think(work, judged, shown, deps);
    if (failed) deps.onFailed(item.key);
    await shown.end();
    // A person who was removed meanwhile gets no answer (A9).
    if (!(await isStillAdmitted(message, deps)))
      return await removePlaceholder(item, store, { done: item.key });
    const answer = await deps.sendLargeTables(message, text);
    if (question === undefined) return await replies.answer(message, answer, { ...rateable, done: item.key });
    await replies.answer(message, answer, rateable);
    const { text: asked, buttons } = question;
    await replies.answer(message, asked, { key: `${item.key}!question`, buttons, done: item.key });
  } finally {
    await shown.end();
  }
}

async function think(
  { item, message, signal }: Work,
  { invocation, again }: Extract<Judged, { kind: 'turn' }>,
  shown: Progress,
  deps: ItemDeps,
): ReturnType<Turn> {
  const transcript = await transcriptOf(message, deps);
  const use = await deps.accessOf(message);
  const { progress, step } = shown;
  const context = await deps.createContext({ item, message, use, transcript, progress, step });
  // The words of a try before this one, which a restart cut off.
  const restoreWords = (): Promise<string> =>
    deps.keptWords.restore(partKey(item.key, 0), { transcript, model: context.model.alias });
  // The words shown so far answer the old question only, so they are taken back.
  const onJoin = (): void => shown.onJoin(sayIn(message.sender.language)`I’ve seen your new message.`);
  const isCall = invocation !== undefined;
  const joining = joinTurn({ item, transcript, isCall, onJoin }, deps);
  // Ephemeral messages can't be edited, so nothing is shown in them on the way.
  const onSilence = (): void => shown.onSilence(sayIn(message.sender.language)(stillWaiting));
  const watcher = message.ephemeral === true ? undefined : { ...shown, onSilence };
  const request = {
    key: item.key,
    message,
    transcript,
    invocation,
    again,
    joining,
    watcher,
    signal,
    restoreWords,
  };
  return deps.turn(request, context);
}

async function startNew({ item, message }: Work, deps: ItemDeps): Promise<void> {
  const { store, migrations, clock } = deps;
  const { sender, conversation } = message;
  const say = sayIn(sender.language);
  const transcript = await transcriptOf(message, deps);
  const { entries } = await store.transcripts.read(transcript);
  const isOwner = await deps.users.isOwner(sender.id);
  const said = entries.map(({ entry }) => entry);
  if (!canReset(message, isOwner, said))
    return deps.replies.answer(message, say(cannotReset), { done: item.key });
  const known = await taintAround(store.transcripts, transcript);
  await recordTaint(store, roomOf(transcript), known, clock.now());
  await deps.features.stopped({ sender: sender.id, conversation, cancelled: [] });
  await store.transcripts.archive(conversationKey(await migrations.original(conversation)));
  const text = say`New conversation. The previous one is archived.`;
  await deps.replies.answer(message, text, { done: item.key });
}

const cannotReset = fixed`Others have talked with me here too, so only an owner can start a new conversation. In a direct message you always can.`;

/**
 * Whether the sender may use `/new`: always in direct messages; in groups owners, and senders who were the only ones to
 * talk with the bot since the last `/new` (I3).
 */
export function canReset(
  { chatType, sender }: Message,
  isOwner: boolean,
  entries: readonly Entry[],
): boolean {
  if (chatType === 'private' || isOwner) return true;
  return entries.every((entry) => {
    if (entry.kind === 'summary') return entry.senders?.every((id) => id === sender.id) ?? false;
    return entry.kind !== 'user' || entry.sender === undefined || entry.sender === sender.id;
  });
}

async function isStillAdmitted(message: Message, { users, log }: ItemDeps): Promise<boolean> {
  const decision = await users.decide(message);
  if (!decision.allowed)
    log.info(
      { message: message.id, code: decision.code, reason: decision.reason },
      'a message is no longer admitted; it is not answered',
    );
  return decision.allowed;
}
