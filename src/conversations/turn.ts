/**
 * How one message gets its answer. `handle-item.ts` calls `takeTurn` with the message and what this turn may see and use.
 * First the message becomes an entry of the transcript, with what is needed to understand it: background, files, notes.
 * If the person named a skill, that skill is started without asking the model. Then `agent/run-loop.ts` asks the model,
 * makes its tool calls, and lets new messages of the same person join, until the model answers or a limit ends the loop.
 * Each entry is stored before its effect, so a turn that a crash cut off is taken again and continues behind its last
 * entry (Q5). The result is text, perhaps with a footer about what the turn keeps; the caller stores it in the outbox.
 * An error that may pass is thrown, so that the queue retries; any other becomes a sentence for the person.
 */
import { placeOf } from '../audit/audit-event.ts';
import type { AuditWriter } from '../audit/create-audit.ts';
import type { Clock } from '../lib/clock.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry, ActiveSkill } from '../core/entry.ts';
import type { Log } from '../lib/log.ts';
import { requesterOf, type Message } from '../core/message.ts';
import type { Model } from '../core/model.ts';
import type { Receive } from '../core/received.ts';
import type { CallTool } from '../core/tool-call.ts';
import type { Tool } from '../core/tool.ts';
import type { Store } from '../store/store.ts';
import type { Questions } from '../runs/questions.ts';
import { contextForRun } from '../runs/run-prompt.ts';
import type { LoopWatcher } from '../agent/loop-watcher.ts';
import { runLoop, type LoopInput } from '../agent/run-loop.ts';
import { activatedBy, activeInTurn, type Viewer } from '../agent/show-to.ts';
import type { LoopResult } from '../agent/next-step.ts';
import { useOfEntry } from '../runs/run-journal.ts';
import type { Footer, Rateable, TurnPart } from '../core/feature.ts';
import { answerAfter, stoppedByPerson } from './answer-after.ts';
import { heardBefore, heardSince, type HeardDeps } from './heard.ts';
import {
  askedAgain,
  invocationItem,
  invoke,
  nothingToRetry,
  userEntry,
  type Invocation,
} from './user-entry.ts';
import { sayIn } from '../core/texts/say.ts';

export type TurnContext = Readonly<{
  model: Model;
  system: LoopInput['system'];
  tools: readonly Tool[];
  /** The tools that the model is shown now. Skills that it follows shorten the list (T6). */
  shown(): readonly Tool[];
  callTool: CallTool;
  activate(activeSkill: ActiveSkill): void;
  /** Call with the ids of the runs that this message may answer; others can't be resumed (U14). */
  answers(runs: readonly string[]): void;
  maxTurns: number;
  /** In groups, what the requester and everybody may know of; undefined in direct messages (A8, A11). */
  viewers?: Readonly<{ requester: Viewer; everybody: Viewer }>;
  /** What the features bring to this turn; its last two get all entries of the transcript. */
  parts?: Omit<TurnPart, 'tools'>;
}>;

type TurnRequest = Readonly<{
  key: string;
  message: Message;
  transcript: string;
  invocation: Invocation | undefined;
  again?: true;
  watcher?: LoopWatcher;
  joining?: Joining | undefined;
  signal: AbortSignal;
  /**
   * Stores what people saw of an answer before a restart, if the turn is stopped before it has shown anything new, and
   * returns it; empty if there is nothing (U15).
   */
  restoreWords?(): Promise<string>;
}>;

export type Joining = Readonly<{
  /** The next message that joins, sent after `since` (Unix ms). Once answered, only an edit or a continuation does. */
  next(since: number, answered: boolean): Promise<Message | undefined>;
}>;

/** `text` is Markdown and never empty. `failed` means that retrying would not help. */
type TurnAnswer = Readonly<{
  text: string;
  failed: boolean;
  question?: Footer['question'];
  rateable?: Rateable | undefined;
}>;

export type Turn = (request: TurnRequest, context: TurnContext) => Promise<TurnAnswer>;

export type TakeTurnDeps = Readonly<{
  store: Store;
  questions: Questions;
  receive: Receive;
  heard: HeardDeps['heard'];
  /** IANA time zone for people whose own is unknown. */
  zone(): string;
  audit: AuditWriter;
  clock: Clock;
  log: Log;
}>;

const cutShort: ReadonlySet<string | undefined> = new Set(['CANCELLED', 'TIMEOUT', 'LIMIT_REACHED']);

/** Answers one message; after a crash, where it stopped (Q5). Throws ModelError if the turn should be retried (Q3). */
export async function takeTurn(
  request: TurnRequest,
  context: TurnContext,
  deps: TakeTurnDeps,
): Promise<TurnAnswer> {
  const { key, message, signal } = request;
  const transcript = await openTranscript(request, context, deps);
  const { entries } = transcript;
  const isAnswered = transcript.under === invocationItem(key);
  if (transcript.under !== key && !isAnswered) {
    const { parts } = context;
    const of = { entries, parts, viewer: context.viewers?.requester };
    const entry = await entryOf(request, of, deps);
    if (entry === undefined) return { text: sayIn(message.sender.language)(nothingToRetry), failed: false };
    const searchable = await parts?.searchable?.(entry, entries);
    await deps.store.commit({ entries: [{ transcript: request.transcript, entry }], searchable });
    entries.push(entry);
    transcript.all.push(entry);
  }
  const own = entries.findLast((each) => each.kind === 'user' && each.item === key);
  const said = own?.kind === 'user' ? own : undefined;
  if (said?.unread !== undefined) return { text: said.unread, failed: false };
  // Restrictions by active skills must survive a restart (T6).
  for (const activeSkill of activeInTurn(entries)) context.activate(activeSkill);
  context.answers(
    entries.flatMap((each) => (each.kind === 'user' && each.item === key ? (each.answers ?? []) : [])),
  );
  if (request.invocation !== undefined && !isAnswered) {
    const { callTool } = context;
    const of = { key, context: said?.context };
    const by = { callTool, signal, clock: deps.clock };
    const { entry, finishesItem } = await invoke(request.invocation, of, by);
    await transcript.append(entry, finishesItem);
    entries.push(entry);
  }
  const ended = await think(request, { transcript, context, since: said?.at }, deps);
  const answer = await answerAfter(ended, {
    ...{ language: message.sender.language, signal, restoreWords: request.restoreWords },
    noteStop: () => transcript.append({ kind: 'notice', text: stoppedByPerson, at: deps.clock.now() }),
  });
  const { text, question }: Footer = (await context.parts?.footer?.(transcript.all)) ?? { text: '' };
  const isAnswer = ended.status !== 'error' && !cutShort.has(ended.code);
  const rateable = isAnswer ? await context.parts?.rateable?.(transcript.all) : undefined;
  return { ...answer, text: `${answer.text}${text}`, question, rateable };
}

type OpenTranscript = Readonly<{
  entries: Entry[];
  /** Like `entries`, but also with entries that were appended since. */
  all: Entry[];
  under: string | undefined;
  append(entry: Entry, settles?: string): Promise<void>;
}>;

async function openTranscript(
  { message, transcript }: TurnRequest,
  context: TurnContext,
  { store, zone, log }: TakeTurnDeps,
): Promise<OpenTranscript> {
  const read = await store.transcripts.read(transcript);
  if (read.damaged > 0)
    log.warn({ transcript, damaged: read.damaged }, 'left out damaged transcript entries');
  const entries = read.entries.map(({ entry }) => entry);
  const all = [...entries];
  // After `inbox retry` the message is said again, behind later messages.
  const last = entries.findLast((entry) => entry.kind === 'user' && entry.item !== undefined);
  const user = {
    sender: message.sender.id,
    conversation: conversationKey(message.conversation),
    skill: '',
    model: context.model.alias,
  };
  return {
    entries,
    all,
    under: last?.kind === 'user' ? (last.joins ?? last.item) : undefined,
    async append(entry, settles) {
      await store.commit({
        entries: [{ transcript, entry }],
        usage: useOfEntry(entry, user, zone()),
        searchable: await context.parts?.searchable?.(entry, all),
        done: settles,
      });
      all.push(entry);
      const activeSkill = activatedBy(entry);
      if (activeSkill !== undefined) context.activate(activeSkill);
    },
  };
}

async function entryOf(
  { key, message, transcript, invocation, again, signal }: TurnRequest,
  {
    entries,
    viewer,
    parts,
  }: Pick<TurnContext, 'parts'> & Readonly<{ entries: readonly Entry[]; viewer: Viewer | undefined }>,
  deps: TakeTurnDeps,
): Promise<Entry | undefined> {
  const { questions, receive, audit, clock } = deps;
  if (again) {
    const entry = askedAgain(entries, { key, sender: message.sender.id, at: clock.now() });
    if (entry !== undefined) await audit.record({ event: 'asked_again', ...placeOf(requesterOf(message)) });
    return entry;
  }
  const { conversation, sender, task } = message;
  const heard = await heardBefore(message, entries, transcript, deps);
  const received = await receive(message, heard, signal);
  // Only a person's plain message can answer a run's question (U14).
  const mayAnswer = task === undefined && invocation === undefined;
  const [waiting, notes] = await Promise.all([
    mayAnswer ? questions.open({ conversation, sender: sender.id, transcript }) : [],
    parts?.notes?.(entries),
  ]);
  const started = invocation !== undefined && 'skill' in invocation ? invocation : undefined;
  const context =
    started && contextForRun(message, { words: started.args, entries, background: heard, viewer, received });
  return userEntry(
    { key, message, transcript, invokesSkill: started !== undefined, context, notes },
    { before: entries, heard, received, waiting },
    deps,
  );
}

function think(
  request: TurnRequest,
  of: Readonly<{ transcript: OpenTranscript; context: TurnContext; since: number | undefined }>,
  deps: TakeTurnDeps,
): Promise<LoopResult> {
  const { key, message, joining, watcher, signal } = request;
  const { entries, append } = of.transcript;
  const { context } = of;
  const { clock, log } = deps;
  const since = of.since ?? clock.now();
  const start = entries.findLastIndex(
    (each) => each.kind === 'user' && (each.item === key || each.item === invocationItem(key)),
  );
  const input = {
    system: context.system,
    entries,
    turnStart: start < 0 ? undefined : start,
    maxIterations: context.maxTurns,
    viewers: context.viewers,
    audience: context.tools.map(({ name }) => name).join(' '),
    say: sayIn(message.sender.language),
  };
  return runLoop(input, {
    model: context.model,
    tools: context.shown,
    callTool: context.callTool,
    append,
    join: async (now, answered) => {
      const next = await joining?.next(since, answered);
      return next && joinedEntry(request, { next, entries: now, answered }, deps);
    },
    watcher: {
      ...watcher,
      onCompaction: (compaction) =>
        log.info({ transcript: request.transcript, ...compaction }, 'a transcript was compacted'),
    },
    signal,
    clock,
  });
}

/** The entry of a joining message. Its item is finished in the transaction that stores the entry (H11). */
async function joinedEntry(
  { key, transcript, signal }: TurnRequest,
  { next, entries, answered }: Readonly<{ next: Message; entries: readonly Entry[]; answered: boolean }>,
  deps: TakeTurnDeps,
): Promise<Readonly<{ entry: Entry; settles: string }>> {
  const heard = await heardSince(next, entries, deps);
  const received = await deps.receive(next, heard, signal);
  const entry = await userEntry(
    { key: next.id, message: next, transcript, invokesSkill: false, joins: key, unsent: answered },
    { before: entries, heard, received, waiting: [] },
    deps,
  );
  return { entry, settles: next.id };
}
