import { auditOfCall } from '../audit/audit-event.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { WriteCommand } from '../core/channel.ts';
import type { CallTool } from '../core/tool-call.ts';
import type { Tool } from '../core/tool.ts';
import type { Skill } from '../core/skill.ts';
import type { Log } from '../lib/log.ts';
import { createReportDenial } from '../runs/chained-skills.ts';
import type { HasStarted } from '../runs/run-journal.ts';
import type { RunSkill } from '../runs/run-skill.ts';
import type { Tasks, WaitForTask } from '../runs/tasks.ts';
import { createUseSkill, type OnDenied } from '../runs/use-skill.ts';
import type { Gates, Host, SkillSupply, ToolSupply } from '../runs/work-deps.ts';
import type { ChatAgent } from '../settings/chat-agent.ts';
import { catalogueBudget } from '../skills/catalogue.ts';
import { allToolsAllowed, type AllowedTools } from '../tools/allowed-tools.ts';
import { createCallTool } from '../tools/call-tool.ts';
import { createActiveSkills, type ActiveSkills } from './active-skills.ts';
import { wasStarted } from './inbox-worker.ts';
import { mainPrompt } from './main-prompt.ts';
import { openTurn, type OpenTurn, type TurnInput } from './open-turn.ts';
import { createQueuedCalls, type QueuedCalls } from './queued-calls.ts';
import { turnBash, turnFileTools } from './turn-tools.ts';
import type { TurnContext } from './turn.ts';
import { viewersOf } from './viewers-of.ts';

export type TurnDeps = Readonly<{
  host: Host;
  gates: Gates;
  skills: SkillSupply;
  tools: ToolSupply;
  chatAgent: Pick<ChatAgent, 'of'>;
  writeCommand: WriteCommand;
  runs: Readonly<{
    runSkill: RunSkill;
    hasStarted: HasStarted;
    tasks: Pick<Tasks, 'setUp'>;
    waitForTask: WaitForTask;
    budgets: Pick<Budgets, 'ofRun' | 'atOnce'>;
  }>;
}>;

export type CreateTurnContext = (input: TurnInput) => Promise<TurnContext>;

/** What the main agent gets for one message: catalogue and tools of the skills it may use here now (P6, A8). */
export function createTurnContexts(deps: TurnDeps): CreateTurnContext {
  const activeSkills = createActiveSkills(deps);
  const onDenied = createReportDenial(deps.host);
  const reportShortage = createReportShortage(deps.host.log);

  return async (input) => {
    const turn = await openTurn(input, deps);
    // Filled below, before any call.
    const names: string[] = [];
    const active = activeSkills({ visible: turn.visible, byPerson: turn.use, names: () => names });
    const queue = createQueuedCalls(turn, { ...deps.runs, runtime: deps.host.runtime });
    const useSkill = useSkillOf(turn, { active, queue, onDenied }, deps);
    const tools = await toolsOf(turn, { active, queue, useSkill }, deps);
    names.push(...tools.all.map(({ name }) => name));
    const { restriction } = active;
    return {
      viewers: await viewersHere(turn, deps),
      model: turn.model,
      system: systemOf(turn, { listsSkills: tools.all.includes(useSkill), reportShortage }, deps),
      tools: tools.all,
      shown: () => shownTools(turn, tools, active),
      callTool: callToolOf(turn, { useSkill, tools, active, queue }, deps),
      follow: restriction.follow,
      answers: (runs) => runs.forEach((run) => turn.answers.add(run)),
      maxTurns: deps.host.runtime().config.agent.maxTurns,
    };
  };
}

function useSkillOf(
  turn: OpenTurn,
  { active, queue, onDenied }: Readonly<{ active: ActiveSkills; queue: QueuedCalls; onDenied: OnDenied }>,
  { host, skills, runs }: TurnDeps,
): Tool {
  const { library, requirements } = skills;
  const isMessage = turn.task === undefined;
  return createUseSkill({
    skills: {
      visible: turn.visible,
      find: async (name) => library.current().get(name) ?? (await library.rescan()).get(name),
    },
    access: {
      rules: () => host.runtime().rules,
      use: (id) => (turn.byPerson && id === turn.ownCall ? turn.use : turn.byModel),
      onDenied,
    },
    requirements,
    run: (skill, request, context) => runs.runSkill(skill, request, context, turn.transcript),
    hasStarted: (call) => runs.hasStarted(turn.transcript, call),
    runQueued: isMessage ? queue.runSkill : undefined,
    inline: isMessage ? active.inline : undefined,
    command: turn.command,
  });
}

/** In the order in which the model sees them. */
type TurnTools = Readonly<{
  all: readonly Tool[];
  /** Those without skills. */
  others: readonly Tool[];
  /** Their calls are made and judged in a queue beside the conversation. */
  queued: ReadonlySet<Tool>;
}>;

async function toolsOf(
  turn: OpenTurn,
  { active, queue, useSkill }: Readonly<{ active: ActiveSkills; queue: QueuedCalls; useSkill: Tool }>,
  { host, skills, tools }: TurnDeps,
): Promise<TurnTools> {
  const { config } = host.runtime();
  const wanted = new Set(config.agent.tools);
  const seesSkills = turn.seen.length > 0;
  const offered = [useSkill, ...active.tools].filter(({ name }) => wanted.has(name));
  // Without skills for the model, this one is left for a skill that the person starts.
  const ofSkills = seesSkills ? offered : offered.filter(({ name }) => name === 'skills_read_file');
  // The turn waits for a run that it began, though no skill is left (D7).
  const toEnd = !seesSkills && wasStarted(turn.item) ? offered.filter((tool) => tool === useSkill) : [];
  const bash = turnBash({
    sandbox: skills.sandbox,
    workspace: config.bot.workspace,
    chat: turn.chat,
    simple: () => active.restriction.commands !== undefined,
  });
  const files = turnFileTools(turn.chat, skills.sandbox, config.sandbox.diskMb * 1024 * 1024);
  const outside = await tools.outside.offered(turn.requester, 'main');
  const fromOutside = turn.task === undefined ? outside.map(queue.queued) : outside;
  const others = [
    ...toEnd,
    ...[bash, ...files, ...tools.web()].filter(({ name }) => wanted.has(name)),
    ...fromOutside,
  ];
  const queued = new Set(turn.task === undefined ? fromOutside : []);
  return { all: [...ofSkills, ...others], others, queued };
}

/** Fewer once it follows a skill (T6). */
function shownTools(
  { seen, model }: OpenTurn,
  { all, others }: TurnTools,
  { restriction }: ActiveSkills,
): readonly Tool[] {
  const skillsAtHand = seen.length > 0 || restriction.followed().length > 0;
  const own = skillsAtHand ? all : others;
  // There `callTool` alone refuses the rest (T6, M13).
  if (model.bindsThinking === true) return own;
  const allowed = new Set(restriction.names);
  return own.filter(({ name }) => allowed.has(name));
}

function callToolOf(
  turn: OpenTurn,
  of: Readonly<{ useSkill: Tool; tools: TurnTools; active: ActiveSkills; queue: QueuedCalls }>,
  { host, gates, tools }: TurnDeps,
): CallTool {
  const { useSkill, active, queue } = of;
  const { requester, task, ownCall } = turn;
  const judge = gates.judgeCalls({
    transcript: turn.transcript,
    mayGoOn: async () => ({ allowed: true }),
    waiting: (asking) => asking(),
    later: task === undefined ? queue.later : undefined,
    run: task?.id,
  });
  const door = (
    own: readonly Tool[],
    ceiling: Pick<AllowedTools, 'names' | 'commands' | 'allows'>,
  ): CallTool =>
    createCallTool(
      { tools: own, allowed: ceiling, requester, turn: turn.item.key },
      {
        // Queued calls are judged where they are made.
        decide: async (call, signal) =>
          of.tools.queued.has(call.tool) ? { allowed: true } : judge(call, signal),
        settings: tools.settings.forCall(requester.conversation),
        deliverArtifacts: tools.deliverArtifacts,
        audit: (call) => host.audit.record(auditOfCall(call, {}, host.runtime().config.audit.arguments)),
        redact: (text) => host.runtime().redact(text),
        onProgress: turn.progress,
        log: host.log,
      },
    );
  const ofModel = door(of.tools.all, active.restriction);
  // A person may start a skill that the model can't see: that call has its own door.
  const isModels = task !== undefined && task.tool !== useSkill.name;
  const ofPerson = isModels ? ofModel : door([useSkill], allToolsAllowed([useSkill.name]));
  return (call, signal, begin) => (call.id === ownCall ? ofPerson : ofModel)(call, signal, begin);
}

function systemOf(
  { seen, registry, model, here, message }: OpenTurn,
  { listsSkills, reportShortage }: Readonly<{ listsSkills: boolean; reportShortage: ReportShortage }>,
  { host }: TurnDeps,
): TurnContext['system'] {
  const { config } = host.runtime();
  const listed = new Set<Skill>(listsSkills ? seen : []);
  const catalogue = registry.catalogue((skill) => listed.has(skill), {
    format: config.prompt.skillsFormat,
    budgetChars: catalogueBudget(model.contextWindow, config.prompt.skillsBudgetChars),
    includeLocation: config.prompt.includeLocation,
  });
  reportShortage(catalogue);
  // Models are asked without secrets, whatever stands here.
  return mainPrompt({
    name: config.bot.name,
    persona: here.persona === '' ? undefined : here.persona,
    catalogue: catalogue.text,
    chatType: message.chatType,
  });
}

function viewersHere(
  { requester, use, registry }: OpenTurn,
  { host, tools }: TurnDeps,
): Promise<TurnContext['viewers']> {
  return viewersOf(requester, {
    use,
    registry,
    rules: () => host.runtime().rules,
    builtIn: new Set(host.runtime().config.agent.tools),
    outside: (whose) => tools.outside.offered(whose, 'main'),
  });
}

type ReportShortage = (catalogue: Readonly<{ shortened: number; hidden: number }>) => void;

/** Logs a catalogue over its budget once (P4). */
function createReportShortage(log: Log): ReportShortage {
  let last: string | undefined;
  return ({ shortened, hidden }) => {
    const shortage = `${shortened}/${hidden}`;
    if ((shortened === 0 && hidden === 0) || shortage === last) return;
    last = shortage;
    log.warn(
      { shortened, hidden },
      'the catalogue of skills is over its budget: raise [prompt] skills_budget_chars or switch skills off',
    );
  };
}
