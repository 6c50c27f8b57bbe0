import type { Channel, Placeholder } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { WorkStep } from '../core/plan.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { closeMarks } from '../lib/markdown/close-marks.ts';
import { oneLine } from '../lib/text/text.ts';
import { createPlaceholder } from './placeholder.ts';
import { createWorkPlan, type WorkPlan } from './work-plan.ts';
import type { KeptWords } from './kept-words.ts';
import type { Outbox } from '../store/outbox.ts';

export type ProgressWork = Readonly<{
  conversation: Conversation;
  /** Outbox key of the answer's first part, which replaces the placeholder (Q6). */
  part: string;
  /** `platformId` of the message that the answer replies to. */
  replyTo?: string;
  /** `platformId` of the message that is worked on. */
  asked?: string;
  /** Language of the person whom the work is for (H14). */
  language?: string | undefined;
  /** True if a process ended during this work before. */
  resumed: boolean;
  /** Whether the person may still read the answer; they may have been removed meanwhile (A9). */
  mayRead(): Promise<boolean>;
  /** Aborted when the work is stopped or lost: then nothing new is shown. */
  signal: AbortSignal;
}>;

export type Progress = Readonly<{
  progress(text: string): void;
  /** Shows a step of the work where the platform shows plans (U18). */
  step(step: WorkStep): void;
  onText(more: string): void;
  /** Call when the model is silent: `note` is shown below its words until it continues. */
  onSilence(note: string): void;
  /** Call when the model's text is complete. `final` is false if tool calls follow. */
  onWritten(final: boolean): void;
  /** Takes the words so far back, because a message has joined, and shows a line. */
  onJoin(line: string): void;
  /** Ends all showing. Call it before storing the answer. Never rejects. */
  end(): Promise<void>;
}>;

/** The progress of work that nobody watches. */
export const unseen: Progress = {
  progress: () => undefined,
  step: () => undefined,
  onText: () => undefined,
  onSilence: () => undefined,
  onWritten: () => undefined,
  onJoin: () => undefined,
  end: async () => undefined,
};

type ProgressDeps = Readonly<{
  channels: ReadonlyMap<string, Channel>;
  outbox: Outbox;
  /** Keeps what is shown, in case the process dies before the turn stores it. */
  words: KeptWords;
  clock: Clock;
  log: Log;
}>;

const instantMs = 300;
/** With sending, the first words appear 300 ms after the model wrote them (H6). */
const firstWordsMs = 250;
const wordsEveryMs = 250;
const longestSaid = 200;
const quietMs = 3_000;
/** A string, because creating an Error with its stack takes time on every turn. */
const isOver = 'the work is over';

type Showing = {
  readonly work: ProgressWork;
  readonly channel: Channel;
  readonly placeholder: Placeholder;
  readonly deps: ProgressDeps;
  readonly over: AbortController;
  line?: string;
  /** What the model said before the calls that it makes now. */
  said: string;
  lineDue: boolean;
  words: string;
  /** When the first of the words came. */
  wordsFrom: number;
  note?: string | undefined;
  wordsDue: boolean;
  wordsAlarm: AbortController;
  wordsShown: boolean;
  /** Undefined where the channel shows no plans. */
  readonly plan: WorkPlan | undefined;
  /** Whether the placeholder shows the plan. Once it does, it always will. */
  planShown: boolean;
  /** Resolves once the newest steps are stored. */
  keeping: Promise<void>;
};

/** Shows that the bot is typing, then a status line (U13, H7), then the answer as it is written (H6). */
export function showProgress(work: ProgressWork, deps: ProgressDeps): Progress {
  const channel = deps.channels.get(work.conversation.channel);
  if (channel === undefined) return unseen;
  const { clock } = deps;
  const began = clock.now();
  const isQuick = (): boolean => clock.now() - began < quietMs;
  const showing = openShowing(work, channel, deps);
  if (work.resumed) resumePlan(showing).catch((error: unknown) => complain(error, showing));
  let ended: Promise<void> | undefined;
  showTyping(showing);
  showLineIn(quietMs, showing);
  return {
    progress(text) {
      showing.line = showing.said === '' ? text : `${showing.said} · ${text}`;
      if (!isQuick()) showLine(showing);
    },
    step(step) {
      if (showing.plan === undefined) return;
      showing.plan.add(step);
      if (showing.planShown) keepPlan(showing);
      if (!isQuick()) showLine(showing);
    },
    onText(more) {
      if (showing.words === '') showing.wordsFrom = clock.now();
      showing.words += more;
      showing.note = undefined;
      showWordsIn(firstWordsMs, showing);
    },
    onSilence(note) {
      showing.note = note;
      showing.line = note;
      if (showing.wordsShown) showWordsIn(0, showing);
      else showLine(showing);
    },
    onWritten: (final) => endWords(final, showing),
    onJoin(line) {
      endWords(false, showing);
      showing.said = '';
      showing.line = line;
      if (!isQuick()) showLine(showing);
    },
    end: () => (ended ??= finish(showing)),
  };
}

function openShowing(work: ProgressWork, channel: Channel, deps: ProgressDeps): Showing {
  return {
    work,
    channel,
    placeholder: createPlaceholder(work, channel, deps.outbox),
    deps,
    over: new AbortController(),
    lineDue: false,
    said: '',
    words: '',
    wordsFrom: 0,
    wordsDue: false,
    wordsAlarm: new AbortController(),
    wordsShown: false,
    plan: channel.showsPlan?.(work.conversation) === true ? createWorkPlan(work.language) : undefined,
    planShown: false,
    keeping: Promise.resolve(),
  };
}

function showTyping(showing: Showing): void {
  const { work, channel, placeholder, deps, over } = showing;
  const show = async (): Promise<void> => {
    // Words that already appear are a better sign than "typing".
    if (showing.words.trim() !== '') return;
    await channel.status(work.conversation, { kind: 'typing', language: work.language }, placeholder);
  };
  deps.clock.sleep(instantMs, over.signal).then(show, () => undefined);
}

function showLineIn(ms: number, showing: Showing): void {
  if (showing.lineDue) return;
  showing.lineDue = true;
  const wake = (): void => {
    showing.lineDue = false;
    showLine(showing);
  };
  showing.deps.clock.sleep(ms, showing.over.signal).then(wake, () => undefined);
}

function showLine(showing: Showing): void {
  postLine(showing).catch((error: unknown) => complain(error, showing));
}

async function postLine(showing: Showing): Promise<void> {
  const { work, channel, placeholder, over } = showing;
  if ((showing.line ?? showing.plan?.current()) === undefined || over.signal.aborted) return;
  if (await isBehindAnswer(showing)) return showLineIn(quietMs, showing);
  if (over.signal.aborted || showing.wordsShown) return;
  const plan = showing.plan?.current();
  if (plan !== undefined) showing.planShown = true;
  const text = showing.line ?? plan?.title ?? '';
  await channel.status(work.conversation, { kind: 'line', text, plan }, placeholder);
}

/** Continues the plan that a process showed before it died. */
async function resumePlan(showing: Showing): Promise<void> {
  const plan = showing.plan && (await showing.placeholder.posted())?.plan;
  if (plan === undefined) return;
  showing.plan?.resume(plan);
  showing.planShown = true;
}

/** Stores the newest steps, which is how the plan stays when the work is over, also after a crash. */
function keepPlan(showing: Showing): void {
  const { plan, placeholder, work } = showing;
  const keep = async (): Promise<void> => {
    const receipt = await placeholder.posted();
    if (receipt?.plan === undefined || work.signal.aborted) return;
    await placeholder.keep({ ...receipt, plan: plan?.current() ?? receipt.plan });
  };
  showing.keeping = showing.keeping.then(keep).catch((error: unknown) => complain(error, showing));
}

function showWordsIn(ms: number, showing: Showing): void {
  if (showing.wordsDue) return;
  showing.wordsDue = true;
  showing.wordsAlarm = new AbortController();
  const until = AbortSignal.any([showing.over.signal, showing.wordsAlarm.signal]);
  showing.deps.clock.sleep(ms, until).then(
    () => postWords(showing).catch((error: unknown) => complain(error, showing)),
    () => undefined,
  );
}

async function postWords(showing: Showing): Promise<void> {
  const { work, channel, placeholder, over, deps, words: markdown, note } = showing;
  showing.wordsDue = false;
  if (markdown.trim() === '' || !(await work.mayRead())) return;
  if (await isBehindAnswer(showing)) return showWordsIn(quietMs, showing);
  // The text was taken back meanwhile: it was no answer.
  if (over.signal.aborted || !showing.words.startsWith(markdown)) return;
  showing.wordsShown = true;
  await deps.words.keep(work.part, markdown);
  const words = note === undefined ? markdown : `${closeMarks(markdown)}\n\n${note}`;
  const plan = showing.planShown ? showing.plan?.current() : undefined;
  await channel.status(work.conversation, { kind: 'words', markdown: words, plan }, placeholder);
  if (showing.words !== markdown || showing.note !== note) showWordsIn(wordsEveryMs, showing);
}

function endWords(final: boolean, showing: Showing): void {
  // A whole answer is sent anyway, so words that still wait are not shown.
  showing.wordsAlarm.abort(isOver);
  showing.wordsDue = false;
  if (final) return;
  const { wordsShown, words, work, deps } = showing;
  showing.words = '';
  showing.wordsShown = false;
  if (words.trim() === '') return;
  showing.said = oneLine(words, longestSaid);
  showing.line = showing.said;
  showing.plan?.said(words);
  if (!wordsShown) return showSaid(showing);
  deps.words.drop(work.part).catch((error: unknown) => complain(error, showing));
  showLine(showing);
}

/** Shows words that were complete before they were due, unless the answer is there by then (M16). */
function showSaid(showing: Showing): void {
  const { deps, over, work, wordsFrom, said } = showing;
  const show = async (): Promise<void> => {
    if (showing.words !== '' || showing.said !== said) return;
    if (await work.mayRead()) showLine(showing);
  };
  const ms = Math.max(0, wordsFrom + firstWordsMs - deps.clock.now());
  deps.clock.sleep(ms, over.signal).then(show, () => undefined);
}

/** A placeholder that is posted now would appear above an earlier answer that still waits to be sent. */
async function isBehindAnswer({ placeholder, work, deps }: Showing): Promise<boolean> {
  return (await placeholder.posted()) === undefined && (await deps.outbox.pending(work.conversation)) > 0;
}

async function finish(showing: Showing): Promise<void> {
  const { work, channel, placeholder, over, deps } = showing;
  over.abort(isOver);
  await channel.status(work.conversation, undefined, placeholder);
  if (showing.planShown) keepPlan(showing);
  await showing.keeping;
  await deps.words.drop(work.part).catch((error: unknown) => complain(error, showing));
  // After a crash this finds the message that the other process posted.
  if (work.resumed) await placeholder.posted().catch((error: unknown) => complain(error, showing));
}

function complain(error: unknown, { deps, work }: Showing): void {
  deps.log.warn({ err: error, part: work.part }, 'the store does not know the message that shows progress');
}
