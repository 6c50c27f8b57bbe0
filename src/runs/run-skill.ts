import type { Clock } from '../lib/clock.ts';
import { createDeadline, type Deadline } from '../lib/async/deadline.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Log } from '../lib/log.ts';
import { noTokens, type Model, type Tokens } from '../core/model.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { Skill } from '../core/skill.ts';
import type { SkillResult } from '../core/skill-result.ts';
import { oneLine, truncate } from '../lib/text/text.ts';
import { sayIn } from '../core/texts/say.ts';
import type { CallTool } from '../core/tool-call.ts';
import type { Tool, ToolContext } from '../core/tool.ts';
import type { Store } from '../store/store.ts';
import { filesSent } from '../agent/files-sent.ts';
import { markAround } from '../access/taint-of.ts';
import type { Questions } from './questions.ts';
import { runIdOf, runJournal } from './run-journal.ts';
import { localTime } from '../core/local-time.ts';
import { runLoop } from '../agent/run-loop.ts';
import { runPrompt } from './run-prompt.ts';
import { isHostCall } from '../agent/models/unique-call-ids.ts';
import { useOfEntry } from './use-of-entry.ts';
import type { SkillRequest } from './use-skill.ts';

/** What the host grants one run: everything it can reach is in here. */
export type RunGrant =
  | Readonly<{
      ok: true;
      /** What the skill gives is private (S7). */
      sensitive: boolean;
      model: Model;
      maxIterations: number;
      timeoutSeconds: number;
      /** What its profile adds to the system prompt (U11). */
      profile?: string;
      /** The body with its arguments filled in; `filled` when text of a person or model is in it. */
      body: Readonly<{ text: string; filled: boolean }>;
      files: readonly string[];
      filesCut: boolean;
      tools: readonly Tool[];
      callTool: CallTool;
      /** Clears away what the run leaves behind; not called for one that goes on later. */
      clear(): Promise<void>;
    }>
  | Readonly<{ ok: false; result: Pick<SkillResult, 'code' | 'text'> }>;

/** Where a run stands. */
export type RunPlace = Readonly<{
  id: string;
  /** Id of its journal. */
  transcript: string;
  /** Its time limit, not yet begun. */
  deadline: Deadline;
  /** Skills whose runs this one is inside of, the outermost first (U7). */
  chain: readonly string[];
}>;

/** Characters of a result that reach the main agent: with its envelope they stay within the 30,000 of any tool (U4, M3). */
const resultLimit = 29_000;

export type RunSkill = (
  skill: Skill,
  request: SkillRequest,
  context: ToolContext,
  /** Id of the transcript that asked, so that the run's own journal is found again after a crash. */
  parent: string,
  /** Skills whose runs it is inside of, the outermost first (U7). */
  chain?: readonly string[],
) => Promise<SkillResult>;

/**
 * A run is a fresh loop over its own journal (U2): no main history, no other skill. Called again with the same parent
 * and tool use it goes on where it was (Q5); so does one that asked a person, called to `resume` with the answer (U14).
 */
export function createRunSkill(options: {
  store: Pick<Store, 'transcripts' | 'commit'>;
  /** In which dates and times are told: an IANA name. */
  zone(): string;
  questions: Pick<Questions, 'take'>;
  grant(skill: Skill, request: SkillRequest, context: ToolContext, run: RunPlace): Promise<RunGrant>;
  /** In the config's currency; nothing where no price is set. */
  costOf(model: Model, tokens: Tokens): number | undefined;
  clock: Clock;
  log: Log;
}): RunSkill {
  const { store, questions, grant, costOf, clock, log } = options;

  return async (skill, request, context, parent, chain = []) => {
    const call = runIdOf(parent, context.toolUseId);
    const runId = request.resume ?? call;
    const transcript = runJournal(parent, runId);
    if (request.resume !== undefined) {
      const of = { transcript, skill: skill.name, requester: context.requester, call };
      if (!(await questions.take(of, request.message))) return failed('ARGUMENTS_INVALID', notWaiting(runId));
    }
    const began = clock.now();
    const deadline = createDeadline(clock);
    const say = sayIn(context.requester.language);
    let step = say`step ${1}`;
    const show = (...words: readonly string[]): void =>
      context.progress(`${skill.name}: ${[...words, step].join(' · ')}`);
    const shown = { ...context, progress: (line: string) => show(oneLine(line, 80)) };
    const granted = await grant(skill, request, shown, { id: runId, transcript, deadline, chain });
    if (!granted.ok) return failed(granted.result.code, granted.result.text);
    const user = {
      sender: context.requester.sender,
      conversation: conversationKey(context.requester.conversation),
      skill: skill.name,
      model: granted.model.alias,
    };
    const append = (entry: Entry): Promise<void> =>
      store.commit({ entries: [{ transcript, entry }], usage: useOfEntry(entry, user) });
    const prompt = runPrompt({
      skill,
      profile: granted.profile,
      body: granted.body.text,
      filled: granted.body.filled,
      files: granted.files,
      cut: granted.filesCut,
      today: localTime(began, options.zone()),
      person: context.requester.name,
      message: request.message,
      context: request.context,
      isLabelled: isHostCall(context.toolUseId),
      args: request.args ?? request.message,
    });
    const { entries: stored } = await store.transcripts.read(transcript);
    const entries = stored.map(({ entry }) => entry);
    if (entries.length === 0) {
      const turn = await store.transcripts.read(parent);
      const said = turn.entries.map(({ entry }) => entry);
      const files = filesSent(said, context.requester.sender, context.toolUseId);
      const first: Entry = {
        kind: 'user',
        sender: context.requester.sender,
        content: prompt.firstMessage,
        ...(files === undefined ? {} : { files }),
        ...(granted.sensitive ? { marks: skill.name } : {}),
        at: began,
      };
      await append(first);
      entries.push(first);
    }
    deadline.start(granted.timeoutSeconds * 1_000);
    const ended = await runLoop({
      model: granted.model,
      system: prompt.system,
      entries,
      tools: () => granted.tools,
      callTool: granted.callTool,
      limits: { maxIterations: granted.maxIterations },
      journal: { append },
      signal: AbortSignal.any([context.signal, deadline.signal]),
      onCompaction: (compaction) => log.info({ transcript, ...compaction }, 'a transcript was compacted'),
      onIteration(iteration) {
        step = say`step ${iteration}`;
        show();
      },
      clock,
    });
    deadline.end();
    if (!isShuttingDown(context.signal) && ended.status !== 'needs_input') await granted.clear();
    const { text, truncated } = truncate(ended.text, resultLimit);
    const durationMs = clock.now() - began;
    const { status, code, iterations, tokens } = ended;
    const { requester } = context;
    const cost = costOf(granted.model, tokens);
    // Its result may come to a conversation that was begun afresh.
    const marks = await markAround(store.transcripts, transcript);
    log.info(
      {
        run: runId,
        skill: skill.name,
        origin: skill.origin,
        sender: requester.sender,
        conversation: conversationKey(requester.conversation),
        status,
        code,
        iterations,
        tokens,
        cost,
        durationMs,
      },
      'a run ended',
    );
    return {
      status,
      ...(code === undefined ? {} : { code }),
      text,
      iterations,
      durationMs,
      tokens,
      artifacts: ended.artifacts,
      ...(status === 'needs_input' ? { resume: runId } : {}),
      ...(marks === undefined ? {} : { marks }),
      truncated,
    };
  };
}

function failed(code: SkillResult['code'], text: string): SkillResult {
  const nothing = { iterations: 0, durationMs: 0, tokens: noTokens, artifacts: [], truncated: false };
  return { status: 'error', ...(code === undefined ? {} : { code }), text, ...nothing };
}

/** What a model is told that goes on with a run that asked nothing, or whose time is over. */
export function notWaiting(run: string): string {
  return `no run ${run} of this skill waits for an answer of this person: start again, without resume`;
}
