import { createHash } from 'node:crypto';
import { placeOf } from '../audit/audit-event.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Clock } from '../lib/clock.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry, ActiveSkill } from '../core/entry.ts';
import { ModelError } from '../core/errors.ts';
import { labelled } from '../lib/text/escape-labels.ts';
import type { Log } from '../lib/log.ts';
import type { Message } from '../core/message.ts';
import { requesterOf } from '../core/requester-of.ts';
import type { Model } from '../core/model.ts';
import { nothingReceived, type Receive } from '../core/received.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { CallTool } from '../core/tool-call.ts';
import type { Tool } from '../core/tool.ts';
import { bounds } from '../store/bounds.ts';
import type { Store } from '../store/store.ts';
import type { Question, Questions } from '../runs/questions.ts';
import { askedAgain, nothingToRetry } from './ask-again.ts';
import { contextForRun } from '../runs/context-for-run.ts';
import { runLoop, type RunLoopOptions } from '../agent/run-loop.ts';
import { activatedBy, activeInTurn, invocationEnd, type Viewer } from '../agent/show-to.ts';
import { hostCallPrefix } from '../agent/models/anthropic-request.ts';
import { useOfEntry } from '../runs/run-journal.ts';
import { lastSaidAt, userEntry } from './user-entry.ts';
import { fixed, sayIn } from '../core/texts/say.ts';

/** What the host hands the main agent for one message. */
export type TurnContext = Readonly<{
  model: Model;
  system: RunLoopOptions['system'];
  /** Everything it may have in this turn. */
  tools: readonly Tool[];
  /** What of it may be called now: less once the instructions of a skill are followed (T6). */
  shown(): readonly Tool[];
  callTool: CallTool;
  /** Told of each skill whose instructions stand in this turn's transcript: `shown` and `callTool` are bound by it. */
  follow(followed: ActiveSkill): void;
  /** Told which runs this turn's message may answer: no other is gone on with (U14). */
  answers(runs: readonly string[]): void;
  maxTurns: number;
  /** In a chat of several people: what the requester, and what everybody there may know of (A8, A11). */
  viewers?: Readonly<{ requester: Viewer; everybody: Viewer }>;
}>;

/** A skill that a person started by name (I6). */
export type Invocation = Readonly<{ skill: string; args: string }>;

export type TurnRequest = Readonly<{
  /** The inbox item's key. */
  key: string;
  message: Message;
  /** Id of the transcript it belongs to. */
  transcript: string;
  invocation: Invocation | undefined;
  /** The message only asks for another answer to the person's last question. */
  again?: true;
  /** Sees the answer as it is written, where somebody watches. */
  watcher?: Pick<RunLoopOptions, 'onText' | 'onWritten'>;
  /** Absent where nothing may join. */
  joining?: Joining | undefined;
  signal: AbortSignal;
}>;

/** What the person writes while their turn is running (H11). */
export type Joining = Readonly<{
  /**
   * The next message that joins, if it came after `since`; once the answer is there, only an edit of what it answers or what continues with it. It is
   * taken: the turn stores it and finishes its item in one step.
   */
  next(since: number, answered: boolean): Promise<Message | undefined>;
}>;

/** The answer to the person, as Markdown; never empty. `failed`: it only says that the model failed for good. */
export type Turn = (
  request: TurnRequest,
  grant: TurnContext,
) => Promise<Readonly<{ text: string; failed: boolean }>>;

const nothingToSay = fixed`I couldn’t come up with an answer. Could you rephrase?`;
const stopped = fixed`Stopped.`;

/**
 * Answers one message from its transcript. It can be called again for the same message at any point and continues where
 * it was (Q5). Throws ModelError for a fault that passes by itself, so that the message is tried again later (Q3).
 */
export function createTurn(options: {
  store: Pick<Store, 'transcripts' | 'commit' | 'overheard'>;
  questions: Pick<Questions, 'open'>;
  receive: Receive;
  /** What was said before the bot was asked into a conversation (H10). */
  readEarlier(message: Message): Promise<readonly Message[]>;
  /** In which dates and times are told to people whose own is not known: an IANA name. */
  zone(): string;
  /** Messages of background at most (M10). */
  background: () => number;
  audit: Pick<Audit, 'record'>;
  clock: Clock;
  log: Log;
}): Turn {
  const { store, questions, receive, readEarlier, zone, background, audit, clock, log } = options;

  return async ({ key, message, transcript, invocation, again, watcher, joining, signal }, grant) => {
    const say = sayIn(message.sender.language);
    const read = await store.transcripts.read(transcript);
    if (read.damaged > 0)
      log.warn({ transcript, damaged: read.damaged }, 'damaged transcript entries were left out');
    const entries = read.entries.map(({ entry }) => entry);
    const user = {
      sender: message.sender.id,
      conversation: conversationKey(message.conversation),
      skill: '',
      model: grant.model.alias,
    };
    const append = async (entry: Entry, settles?: string): Promise<void> => {
      await store.commit({
        entries: [{ transcript, entry }],
        usage: useOfEntry(entry, user),
        done: settles,
      });
      const followed = activatedBy(entry);
      if (followed !== undefined) grant.follow(followed);
    };
    // An item that was set aside and is tried again comes after what was said since: it is said again.
    const last = entries.findLast((entry) => entry.kind === 'user' && entry.item !== undefined);
    const under = last?.kind === 'user' ? (last.joins ?? last.item) : undefined;

    const isNew = under !== key && under !== skillItem(key);
    const invokes = invocation !== undefined && under !== skillItem(key);
    const heard = isNew ? await heardBefore(message, entries, transcript) : [];
    const received = isNew ? await receive(message, heard, signal) : nothingReceived;
    if (isNew && again) {
      const entry = askedAgain(entries, { key, sender: message.sender.id, at: clock.now() });
      if (entry === undefined) return { text: say(nothingToRetry), failed: false };
      await audit.record({ event: 'asked_again', ...placeOf(requesterOf(message)) });
      await store.commit({ entries: [{ transcript, entry }] });
      entries.push(entry);
    } else if (isNew) {
      const waiting = await questionsTo(message, transcript, invocation);
      const context =
        invocation &&
        contextForRun(message, {
          words: invocation.args,
          entries,
          background: heard,
          viewer: grant.viewers?.requester,
          received,
        });
      const entry = await userEntry(
        { key, message, transcript, invokesSkill: invocation !== undefined, context },
        { before: entries, heard, received, waiting },
        { store, zone: zone(), clock },
      );
      await store.commit({ entries: [{ transcript, entry }] });
      entries.push(entry);
    }
    const own = entries[ownIndex(entries, key)];
    if (own?.kind === 'user' && own.unread !== undefined) return { text: own.unread, failed: false };
    // What was loaded before the process died binds as before (T6).
    for (const followed of activeInTurn(entries)) grant.follow(followed);
    grant.answers(answeredBy(entries, key));
    if (invokes) {
      const context = own?.kind === 'user' ? own.context : undefined;
      const { entry, settles } = await invoke(key, { ...invocation, context }, grant.callTool, signal);
      await append(entry, settles);
      entries.push(entry);
    }
    const turnStart = entries.findLastIndex(
      (each) => each.kind === 'user' && (each.item === key || each.item === skillItem(key)),
    );
    const begunAt = entries.findLast((each) => each.kind === 'user' && each.item === key)?.at ?? clock.now();
    const ended = await runLoop({
      model: grant.model,
      system: grant.system,
      entries,
      turnStart: turnStart < 0 ? undefined : turnStart,
      join: async (now, answered) => {
        const next = await joining?.next(begunAt, answered);
        if (next === undefined) return undefined;
        const said = await heardSince(next, now);
        const files = await receive(next, said, signal);
        const entry = await userEntry(
          { key: next.id, message: next, transcript, invokesSkill: false, joins: key, unsent: answered },
          { before: now, heard: said, received: files, waiting: [] },
          { store, zone: zone(), clock },
        );
        return { entry, settles: next.id };
      },
      tools: grant.shown,
      callTool: grant.callTool,
      viewers: grant.viewers,
      audience: grant.tools.map(({ name }) => name).join(' '),
      limits: { maxIterations: grant.maxTurns },
      journal: { append },
      say,
      signal,
      ...watcher,
      onCompaction: (compaction) => log.info({ transcript, ...compaction }, 'a transcript was compacted'),
      clock,
    });
    if (isShuttingDown(signal)) throw signal.reason;
    if (ended.passing === true) throw new ModelError(ended.text, { sentence: ended.text, passing: true });
    if (ended.code === 'CANCELLED' || ended.code === 'TIMEOUT') {
      await append({ kind: 'notice', text: 'The person stopped the work on this.', at: clock.now() });
      return { text: ended.text === '' ? say(stopped) : `${ended.text}\n\n${say(stopped)}`, failed: false };
    }
    const failed = ended.code === 'MODEL_ERROR';
    // What a failure says is one of the bot's own sentences.
    if (failed) return { text: say(ended.text), failed };
    return { text: ended.text.trim() === '' ? say(nothingToSay) : ended.text, failed };
  };

  /** A command is no answer, nor is what nobody wrote (U14). */
  async function questionsTo(
    { conversation, sender, task }: Message,
    transcript: string,
    invocation: Invocation | undefined,
  ): Promise<readonly Question[]> {
    if (task !== undefined || invocation !== undefined) return [];
    return questions.open({ conversation, sender: sender.id, transcript });
  }

  /** What was overheard; where nobody spoke with the bot here before, also what the platform tells (H10). */
  async function heardBefore(
    message: Message,
    entries: readonly Entry[],
    transcript: string,
  ): Promise<readonly Message[]> {
    const heard = await heardSince(message, entries);
    // What `/new` archived is not read again.
    const isFirst = entries.length === 0 && transcript === conversationKey(message.conversation);
    if (!isFirst || background() === 0 || message.chatType === 'private') return heard;
    const read = await readEarlier(message);
    const known = new Set(read.map(({ id }) => id));
    return [...read, ...heard.filter(({ id }) => !known.has(id))].sort((a, b) => a.sentAt - b.sentAt);
  }

  /** What was overheard since somebody last spoke with the bot (M10). */
  async function heardSince(message: Message, entries: readonly Entry[]): Promise<readonly Message[]> {
    if (message.chatType === 'private') return [];
    const since = Math.max(clock.now() - bounds.overheardKeptMs, lastSaidAt(entries) ?? 0);
    return store.overheard.recent(conversationKey(message.conversation), background(), since);
  }

  /** The skill a person began without asking a model first: its result, or its instructions, stand in the conversation (I6). */
  async function invoke(
    key: string,
    { skill, args, context }: Invocation & Readonly<{ context: string | undefined }>,
    callTool: CallTool,
    signal: AbortSignal,
  ): Promise<Readonly<{ entry: Entry; settles: string | undefined }>> {
    const message = args === '' ? `Run ${skill}.` : args;
    const call = {
      id: invocationId(key),
      name: 'use_skill',
      input: { skill, message, args, context },
    };
    const outcome = await callTool(call, signal);
    if (isShuttingDown(signal)) throw signal.reason;
    const { follows, settles, marks } = outcome;
    const started = labelled('host', `The person started the skill ${skill}.`);
    const bare = args === '' ? `\n${message}` : '';
    const content =
      follows === undefined
        ? `${started}\n${outcome.content}`
        : `[Skill: ${skill}]\n${outcome.content}${bare}`;
    const entry: Entry = {
      kind: 'user',
      item: skillItem(key),
      content,
      about: skill,
      follows,
      marks,
      at: clock.now(),
    };
    return { entry, settles };
  }
}

/** Where the message of this item stands. */
function ownIndex(entries: readonly Entry[], key: string): number {
  return entries.findLastIndex((each) => each.kind === 'user' && each.item === key);
}

function answeredBy(entries: readonly Entry[], key: string): readonly string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'user' && entry.item === key ? (entry.answers ?? []) : [],
  );
}

/** The id of the `use_skill` call that a person's own command stands behind. */
export function invocationId(key: string): string {
  return `${hostCallPrefix}${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
}

/** The item under which the result of a person's own skill call stands. */
function skillItem(key: string): string {
  return `${key}${invocationEnd}`;
}
