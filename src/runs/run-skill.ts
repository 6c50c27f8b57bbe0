import { taintAround } from '../access/taint-of.ts';
import { isHostCall } from '../agent/models/anthropic-request.ts';
import type { LoopResult } from '../agent/next-step.ts';
import { runLoop } from '../agent/run-loop.ts';
import { stillWaiting } from '../agent/watch-silence.ts';
import { filesSent } from '../agent/with-files.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import { localDay, localTime } from '../core/local-time.ts';
import { noTokens, type Model, type Tokens } from '../core/model.ts';
import type { Skill, SkillResult } from '../core/skill.ts';
import { sayIn } from '../core/texts/say.ts';
import type { CallTool } from '../core/tool-call.ts';
import type { Tool, ToolContext } from '../core/tool.ts';
import { createDeadline, type Deadline } from '../lib/async/deadline.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { oneLine, truncate } from '../lib/text/text.ts';
import type { Questions } from './questions.ts';
import { runPrompt } from './run-prompt.ts';
import { runIdOf, runJournal, useOfEntry } from './run-journal.ts';
import type { SkillRequest } from './use-skill.ts';
import type { Step, Store } from '../store/store.ts';

export type RunContext =
  | Readonly<{
      ok: true;
      sensitive: boolean;
      model: Model;
      maxIterations: number;
      timeoutSeconds: number;
      profile?: string;
      /** `filled`: the text has words of a person or model in it. */
      body: Readonly<{ text: string; filled: boolean }>;
      files: readonly string[];
      filesCut: boolean;
      tools: readonly Tool[];
      callTool: CallTool;
      /** Removes the scratch folder. Not called for a run that continues later. */
      clear(): Promise<void>;
    }>
  | Readonly<{ ok: false; result: Pick<SkillResult, 'code' | 'text'> }>;

export type RunPlace = Readonly<{
  id: string;
  transcript: string;
  deadline: Deadline;
  /** Names of the skills around this run, the outermost first (U7). */
  chain: readonly string[];
  /** Name of the run's scratch folder. */
  scratch: string;
  /** Set if this is a subagent. */
  part: PartOfRun | undefined;
}>;

/** What a subagent shares with the run that it works for (U7). */
export type PartOfRun = Readonly<{ scratch: string; deadline: Deadline; maxIterations: number }>;

export type RunInput = Readonly<{
  skill: Skill;
  request: SkillRequest;
  context: ToolContext;
  run: RunPlace;
}>;

export type CreateRunContext = (input: RunInput) => Promise<RunContext>;

/** Characters of a result. Together with its envelope it stays below the 30,000 that a tool may return (U4, M3). */
const resultLimit = 29_000;

export type RunSkill = (
  skill: Skill,
  request: SkillRequest,
  context: ToolContext,
  /** Transcript of the caller. Together with the call's id it finds the journal again after a crash. */
  parent: string,
  chain?: readonly string[],
  part?: PartOfRun,
) => Promise<SkillResult>;

type RunSkillDeps = Readonly<{
  store: Store;
  /** IANA time zone for people whose own is unknown. */
  zone(): string;
  questions: Questions;
  createContext: CreateRunContext;
  costOf(model: Model, tokens: Tokens): number | undefined;
  clock: Clock;
  log: Log;
}>;

/**
 * Runs a skill as a loop over its own journal (U2). A repeated call resumes it (Q5), and so does an answer through
 * `resume` (U14).
 */
export function createRunSkill(deps: RunSkillDeps): RunSkill {
  const { store, questions, createContext, clock } = deps;
  return async (skill, request, context, parent, chain = [], part) => {
    const call = runIdOf(parent, context.toolUseId);
    const id = request.resume ?? call;
    const transcript = runJournal(parent, id);
    if (request.resume !== undefined) {
      const of = { transcript, skill: skill.name, requester: context.requester, call };
      if (!(await questions.take(of, request.message))) return failedRun('ARGUMENTS_INVALID', notWaiting(id));
    }
    const began = clock.now();
    const steps = showSteps(skill, context);
    const { scratch, deadline } = part ?? { scratch: id, deadline: createDeadline(clock) };
    const run = { id, transcript, deadline, chain, scratch, part };
    const input = { skill, request, context: { ...context, progress: steps.progress }, run };
    const count = countsRun(input, began, deps);
    const granted = await createContext(input);
    if (!granted.ok) {
      const failed = failedRun(granted.result.code, granted.result.text);
      await store.commit({ runs: count('', failed) });
      return failed;
    }
    const ended = await loopOver(input, { granted, parent, began, steps, count }, deps);
    const continues = isShuttingDown(context.signal);
    const over = !continues && ended.status !== 'needs_input';
    if (!continues) await store.commit({ runs: count(granted.model.alias, ended) });
    if (over && part === undefined) await granted.clear();
    const { status, code, iterations, tokens, artifacts } = ended;
    const result: SkillResult = {
      status,
      code,
      iterations,
      tokens,
      artifacts,
      ...truncate(ended.text, resultLimit),
      durationMs: clock.now() - began,
      resume: status === 'needs_input' ? id : undefined,
      // Read from the store, because the conversation may have been reset meanwhile.
      taint: await taintAround(store.transcripts, transcript),
    };
    logEnd(input, { result, model: granted.model }, deps);
    return result;
  };
}

type Steps = Readonly<{ progress(line: string): void; step(iteration: number): void; silent(): void }>;

function showSteps(skill: Skill, context: ToolContext): Steps {
  const say = sayIn(context.requester.language);
  let step = say`step ${1}`;
  const show = (...words: readonly string[]): void =>
    context.progress(`${skill.name}: ${[...words, step].join(' · ')}`);
  return {
    progress: (line) => show(oneLine(line, 80)),
    step(iteration) {
      step = say`step ${iteration}`;
      show();
    },
    silent: () => show(say(stillWaiting)),
  };
}

type Granted = Extract<RunContext, { ok: true }>;

async function loopOver(
  { skill, request, context, run }: RunInput,
  {
    granted,
    parent,
    began,
    steps,
    count,
  }: Readonly<{ granted: Granted; parent: string; began: number; steps: Steps; count: CountRun }>,
  { store, zone, clock, log }: RunSkillDeps,
): Promise<LoopResult> {
  const { requester } = context;
  const { transcript, deadline } = run;
  const user = {
    sender: requester.sender,
    conversation: conversationKey(requester.conversation),
    skill: skill.name,
    model: granted.model.alias,
  };
  const append = (entry: Entry): Promise<void> =>
    store.commit({ entries: [{ transcript, entry }], usage: useOfEntry(entry, user, zone()) });
  const today = localTime(began, requester.timezone ?? zone());
  const prompt = promptOf({ skill, request, context, run }, granted, today);
  const { entries: stored } = await store.transcripts.read(transcript);
  const entries = stored.map(({ entry }) => entry);
  if (entries.length === 0) {
    const turn = await store.transcripts.read(parent);
    const said = turn.entries.map(({ entry }) => entry);
    const first: Entry = {
      kind: 'user',
      sender: requester.sender,
      content: prompt.firstMessage,
      files: filesSent(said, requester.sender, context.toolUseId),
      taint: granted.sensitive ? skill.name : undefined,
      at: began,
    };
    await store.commit({ entries: [{ transcript, entry: first }], runs: count(user.model) });
    entries.push(first);
  }
  if (run.part === undefined) deadline.start(granted.timeoutSeconds * 1_000);
  const { maxIterations } = granted;
  const input = { system: prompt.system, entries, maxIterations, effort: skill.effort };
  const ended = await runLoop(input, {
    model: granted.model,
    tools: () => granted.tools,
    callTool: granted.callTool,
    append,
    watcher: {
      onCompaction: (compaction) => log.info({ transcript, ...compaction }, 'a transcript was compacted'),
      onIteration: steps.step,
      onSilence: steps.silent,
    },
    signal: AbortSignal.any([context.signal, deadline.signal]),
    clock,
  });
  if (run.part === undefined) deadline.end();
  return ended;
}

function promptOf(
  { skill, request, context, run }: RunInput,
  granted: Granted,
  today: string,
): ReturnType<typeof runPrompt> {
  return runPrompt({
    skill,
    part: run.part !== undefined,
    profile: granted.profile,
    instructions: { ...granted.body, files: granted.files, cut: granted.filesCut },
    today,
    person: context.requester.name,
    request: {
      message: request.message,
      context: request.context,
      isLabelled: isHostCall(context.toolUseId),
      args: request.args ?? request.message,
    },
  });
}

type CountRun = (model: string, ended?: Pick<SkillResult, 'status' | 'code' | 'iterations'>) => Step['runs'];

/**
 * Makes the row that counts a run. A subagent is a part of its run, so it is not counted. A run that was stopped has
 * not failed (U10).
 */
function countsRun(
  { skill, context: { requester }, run }: RunInput,
  began: number,
  { zone, clock }: RunSkillDeps,
): CountRun {
  if (run.part !== undefined) return () => [];
  const { sender } = requester;
  const of = { id: run.id, sender, conversation: conversationKey(requester.conversation), skill: skill.name };
  const day = localDay(began, zone());
  return (model, { status, code, iterations } = { status: 'running', iterations: 0 }) => {
    const failed = status === 'error' && code !== 'CANCELLED';
    return [{ ...of, day, model, steps: iterations, failed, at: clock.now() }];
  };
}

function logEnd(
  { skill, context: { requester }, run }: RunInput,
  { result, model }: Readonly<{ result: SkillResult; model: Model }>,
  { costOf, log }: RunSkillDeps,
): void {
  const { status, code, iterations, tokens, durationMs } = result;
  log.info(
    {
      run: run.id,
      skill: skill.name,
      origin: skill.origin,
      sender: requester.sender,
      conversation: conversationKey(requester.conversation),
      status,
      code,
      iterations,
      tokens,
      cost: costOf(model, tokens),
      durationMs,
    },
    'a run ended',
  );
}

export function failedRun(code: SkillResult['code'], text: string): SkillResult {
  const nothing = { iterations: 0, durationMs: 0, tokens: noTokens, artifacts: [], truncated: false };
  return { status: 'error', code, text, ...nothing };
}

export function notWaiting(run: string): string {
  return `no run ${run} of this skill waits for an answer of this person: start again, without resume`;
}
