import { z } from 'zod';
import { fail, succeed, type Envelope } from '../core/envelope.ts';
import type { Tool, ToolContext } from '../core/tool.ts';
import { runIdOf } from '../runs/run-journal.ts';
import { notWaiting } from '../runs/run-skill.ts';
import { setUpTask, waitForTask, type NewTask, type RefuseTask } from '../runs/tasks.ts';
import { runningTask, type EnqueueSkill } from '../runs/use-skill.ts';
import type { JudgedCall } from '../tools/call-tool.ts';
import { mainTools } from '../tools/main-tools.ts';
import { deniesEveryCall, letsModelCall } from '../tools/policy.ts';
import type { LentTools } from '../tools/tool-restriction.ts';
import type { ActiveSkills } from './active-skills.ts';
import { wasStarted } from './inbox-worker.ts';
import { folderTools } from './folder-tools.ts';
import type { OpenTurn } from './open-turn.ts';
import type { TurnDeps } from './turn-context.ts';

/** The tools of a turn, in the order in which the model is shown them. */
export type TurnTools = Readonly<{
  all: readonly Tool[];
  /** All tools but those that start or read skills. */
  others: readonly Tool[];
  /** Tools that only the person starts, by their commands. */
  commanded: readonly Tool[];
  /** Tools whose calls run in a queue of their own. */
  queued: ReadonlySet<Tool>;
}>;

export async function toolsOf(
  turn: OpenTurn,
  {
    active,
    useSkill,
    ofFeatures,
    lent,
  }: Readonly<{ active: ActiveSkills; useSkill: Tool; ofFeatures: readonly Tool[]; lent: LentTools }>,
  deps: TurnDeps,
): Promise<TurnTools> {
  const wanted = new Set(mainTools(deps.runtime().config, deps.builtInTools));
  const seesSkills = turn.seen.length > 0;
  const offered = [useSkill, ...active.tools].filter(({ name }) => wanted.has(name));
  // Without visible skills, only the tool that reads files stays, for a skill that the person started.
  const ofSkills = seesSkills ? offered : offered.filter(({ name }) => name === 'skills_read_file');
  // A turn that resumes still needs `use_skill`, to wait for a run that it started before (D7).
  const toEnd = !seesSkills && wasStarted(turn.item) ? offered.filter((tool) => tool === useSkill) : [];
  const built = [...folderTools(turn, active, deps), ...ofFeatures];
  const offeredTo = async (to: 'main' | 'person'): Promise<readonly Tool[]> => {
    const outside = await deps.outside.offered(turn.requester, to);
    return turn.task === undefined ? outside.map((tool) => queuedTool(tool, turn, active, deps)) : outside;
  };
  const fromOutside = await offeredTo('main');
  const commanded = await offeredTo('person');
  const others = [...toEnd, ...built.filter(({ name }) => wanted.has(name)), ...fromOutside];
  const queued = new Set(turn.task === undefined ? [...fromOutside, ...commanded] : []);
  const borrowed = built.filter(({ name }) => lent.names.has(name));
  return { all: [...ofSkills, ...others, ...borrowed], others, commanded, queued };
}

export function shownTools(
  { seen, model, requester }: OpenTurn,
  { all, others }: TurnTools,
  { restriction, activeSkills }: ActiveSkills,
  { runtime }: TurnDeps,
): readonly Tool[] {
  const skillsAtHand = seen.length > 0 || activeSkills().length > 0;
  const { policy } = runtime().config;
  const of = { requester, activeSkills: activeSkills() };
  const [isDenied, mayCall] = [deniesEveryCall(policy, of), letsModelCall(policy, of)];
  const allowed = new Set(restriction.names);
  // No door sees the calls of a model's server, so such a tool is offered only where all its calls may pass.
  const own = (skillsAtHand ? all : others).filter(
    (tool) => !isDenied(tool) && (tool.byModel !== true || (allowed.has(tool.name) && mayCall(tool))),
  );
  // These models need an unchanged list; `callTool` refuses what is not allowed (T6, M13).
  if (model.bindsThinking === true) return own;
  return own.filter(({ name }) => allowed.has(name));
}

/** Runs the tool's calls in a queue of their own, so that they may take long (U9). */
function queuedTool(tool: Tool, turn: OpenTurn, active: ActiveSkills, deps: TurnDeps): Tool {
  return {
    ...tool,
    // Repeating the call is safe: it finds the work that it queued before.
    traits: { ...tool.traits, idempotent: true },
    labelsOutput: true,
    run: (input, context) =>
      enqueue(turn, toolCall(tool, input, context.toolUseId, active), { what: tool.name, context }, deps),
  };
}

/** Moves a call that waits for approval into a queue of its own, so that the turn can continue. */
export function continueLater(
  { id, tool, input }: JudgedCall,
  turn: OpenTurn,
  active: ActiveSkills,
  deps: TurnDeps,
): Promise<Envelope> {
  return enqueue(turn, toolCall(tool, input, id, active), { what: tool.name }, deps);
}

function toolCall({ name }: Tool, input: unknown, toolUseId: string, { activeSkills }: ActiveSkills): Call {
  return {
    skill: name,
    tool: name,
    by: 'model',
    toolUseId,
    activeSkills: activeSkills(),
    input: z.record(z.string(), z.unknown()).parse(input),
  };
}

export async function enqueueSkill(
  turn: OpenTurn,
  [skill, request, background, context]: Parameters<EnqueueSkill>,
  deps: TurnDeps,
): Promise<Envelope> {
  const { budgets } = deps;
  const { requester, transcript } = turn;
  const { toolUseId } = context;
  // Only an answer of the person resumes a run, not the model by itself (U14).
  if (request.resume !== undefined && !turn.answers.has(request.resume))
    return fail('ARGUMENTS_INVALID', notWaiting(request.resume));
  // A run counts against the budget once, when it starts.
  const over =
    request.resume === undefined
      ? await budgets.ofRun(requester, skill, runIdOf(transcript, toolUseId))
      : undefined;
  const atOnce = budgets.atOnce(requester, skill);
  const by = toolUseId === turn.callWithoutModel ? 'person' : 'model';
  return enqueue(
    turn,
    { skill, tool: 'use_skill', input: request, by, toolUseId },
    {
      what: `the skill ${skill}`,
      context,
      background,
      refuse: (underWay) => over ?? atOnce(underWay),
    },
    deps,
  );
}

type Call = Omit<NewTask, 'parent'>;

async function enqueue(
  turn: OpenTurn,
  call: Call,
  how: Readonly<{
    what: string;
    context?: ToolContext;
    background?: boolean;
    refuse?: RefuseTask;
  }>,
  deps: TurnDeps,
): Promise<Envelope> {
  const { message, transcript, command } = turn;
  const { what, context, background, refuse } = how;
  const set = await setUpTask(message, { ...call, parent: transcript }, refuse, deps);
  if ('refused' in set) return fail('LIMIT_REACHED', set.refused);
  const patienceMs = background === true ? 0 : deps.runtime().config.agent.detachAfterSeconds * 1_000;
  const waiting = { id: set.id, conversation: message.conversation, patienceMs };
  const told = context && (await waitForTask(waiting, context, deps));
  return told ?? { ...succeed(runningTask(what, set.id, command)), apart: true };
}
