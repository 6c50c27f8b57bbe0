import type { WriteCommand } from '../core/channel.ts';
import { z } from 'zod';
import { mainPrompt } from './main-prompt.ts';
import { runIdOf, type HasStarted } from '../runs/run-journal.ts';
import { notWaiting, type RunSkill } from '../runs/run-skill.ts';
import { invocationId, type TurnContext } from './turn.ts';
import { createUseSkill, runningTask, type Requirements } from '../runs/use-skill.ts';
import { decideSkill, type SkillUse } from '../access/decide-skill.ts';
import { fail, succeed, type Envelope } from '../core/envelope.ts';
import type { Log } from '../lib/log.ts';
import type { Message } from '../core/message.ts';
import type { Skill } from '../core/skill.ts';
import type { CallTool } from '../core/tool-call.ts';
import type { DeliverArtifacts, Tool } from '../core/tool.ts';
import { catalogueBudget } from '../skills/catalogue.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { InboxItem } from '../store/inbox.ts';
import { createCallTool, type JudgedCall } from '../tools/call-tool.ts';
import { allToolsAllowed, type AllowedTools } from '../tools/allowed-tools.ts';
import { auditOfCall } from '../audit/audit-event.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { WaitForTask, Tasks } from '../runs/tasks.ts';
import type { Budgets } from '../limits/budgets.ts';
import { createActiveSkills } from './active-skills.ts';
import type { JudgeCalls } from '../approvals/judge-calls.ts';
import { whileAdmitted, type StillAdmitted } from '../access/while-admitted.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import type { Availability } from '../runs/requirements.ts';
import { createReportDenial } from '../runs/chained-skills.ts';
import { chatFolder } from '../tools/built-in/run-folders.ts';
import type { Seeing } from '../runs/received-files.ts';
import type { ChatAgent } from '../settings/chat-agent.ts';
import type { SettingsInForce } from '../settings/settings-in-force.ts';
import type { SkillAuthoring } from '../authoring/skill-authoring.ts';
import { turnBash, turnFileTools } from './turn-tools.ts';
import { viewersOf } from './viewers-of.ts';
import { wasStarted } from './inbox-worker.ts';
import { requesterOf } from '../core/requester-of.ts';

type Attend = NonNullable<Parameters<typeof createUseSkill>[0]['attend']>;

export type CreateTurnContext = (
  item: InboxItem,
  message: Message,
  use: SkillUse,
  /** Id of the transcript of the turn. */
  transcript: string,
  progress: (text: string) => void,
) => Promise<TurnContext>;

/** What the main agent gets for one message: the catalogue and tools of the skills it may use here, made again (P6, A8). */
export function createTurnContexts(options: {
  runtime: () => RuntimeConfig;
  library: SkillLibrary;
  sandbox: Sandbox;
  authoring: Pick<SkillAuthoring, 'asItStands'>;
  availability: Availability;
  requirements: Requirements;
  runSkill: RunSkill;
  hasStarted: HasStarted;
  budgets: Pick<Budgets, 'ofRun' | 'atOnce'>;
  tasks: Pick<Tasks, 'setUp'>;
  waitForTask: WaitForTask;
  judgeCalls: JudgeCalls;
  stillAdmitted: StillAdmitted;
  web: () => readonly Tool[];
  outside: Pick<OutsideTools, 'offered' | 'names'>;
  migrations: Pick<ChatMigrations, 'original'>;
  deliverArtifacts: DeliverArtifacts;
  seeing: Seeing;
  writeCommand: WriteCommand;
  settings: Pick<SettingsInForce, 'forCall'>;
  chatAgent: Pick<ChatAgent, 'of'>;
  audit: Pick<Audit, 'record'>;
  log: Log;
}): CreateTurnContext {
  const {
    runtime,
    library,
    availability,
    requirements,
    runSkill,
    tasks,
    waitForTask,
    judgeCalls,
    deliverArtifacts,
    log,
  } = options;
  const { sandbox, migrations, writeCommand, audit, budgets, settings, hasStarted } = options;
  const followInTurn = createActiveSkills(options);
  const onDenied = createReportDenial({ audit, log });
  let lastShortage: string | undefined;

  return async (item, message, use, transcript, progress) => {
    const { config, models, redact } = runtime();
    const { conversation, chatType } = message;
    const requester = requesterOf(message);
    const byModel: SkillUse = { ...use, by: 'model' };
    const visibleNow = (): readonly Skill[] => {
      const now = runtime();
      return library
        .current()
        .available(availability())
        .filter((skill) => decideSkill(skill, now.rules, byModel).allowed);
    };
    const visible = visibleNow();
    const registry = library.current();
    const chat = chatFolder(config.bot.workspace, await migrations.original(conversation));
    const here = await options.chatAgent.of(conversation);
    const seen = options.seeing(models.get(here.model), chat);
    const model = whileAdmitted(seen, requester, options.stillAdmitted);
    // The one call that no model makes: behind a person's command, or in the background.
    const task = message.task?.kind === 'run' ? message.task : undefined;
    const ownCall = task?.toolUseId ?? invocationId(item.key);
    const byPerson = task === undefined || task.by === 'person';
    const answers = new Set<string>();
    const attend: Attend = async (skill, input, background, context) => {
      const { toolUseId } = context;
      // Nobody answers for the person, in the turn that is to ask them least of all (U14).
      if (input.resume !== undefined && !answers.has(input.resume))
        return fail('ARGUMENTS_INVALID', notWaiting(input.resume));
      const by = toolUseId === ownCall ? 'person' : 'model';
      // A run that a person answers was counted when it started.
      const over =
        input.resume === undefined
          ? await budgets.ofRun(requester, skill, runIdOf(transcript, toolUseId))
          : undefined;
      const atOnce = budgets.atOnce(requester, skill);
      const call = { tool: 'use_skill', input, by, parent: transcript, toolUseId } as const;
      const set = await tasks.setUp(message, { skill, ...call }, (underWay) => over ?? atOnce(underWay));
      if ('refused' in set) return fail('LIMIT_REACHED', set.refused);
      const { id } = set;
      const patienceMs = background ? 0 : runtime().config.agent.detachAfterSeconds * 1_000;
      return (await waitForTask(id, conversation, patienceMs, context)) ?? { running: id };
    };
    const following = followInTurn({ visible: visibleNow, byPerson: use, names: () => names });
    const { contraction } = following;
    const command = (name: string, args?: string): string => writeCommand(conversation, name, args);
    const useSkill = createUseSkill({
      command,
      visible: visibleNow,
      find: async (name) => library.current().get(name) ?? (await library.rescan()).get(name),
      rules: () => runtime().rules,
      use: (id) => (byPerson && id === ownCall ? use : byModel),
      requirements,
      run: (skill, request, context) => runSkill(skill, request, context, transcript),
      hasStarted: (call) => hasStarted(transcript, call),
      attend: task === undefined ? attend : undefined,
      inline: task === undefined ? following.inline : undefined,
      onDenied,
    });
    const wanted = new Set(config.agent.tools);
    const offered = [useSkill, ...following.tools].filter(({ name }) => wanted.has(name));
    // Where the model may use no skill, what is left is for one that the person starts.
    const ofSkills = visible.length > 0 ? offered : offered.filter(({ name }) => name === 'skills_read_file');
    // A run that this turn began before has an end of its own, which the turn waits for, though no skill is left (D7).
    const toEnd = visible.length === 0 && wasStarted(item) ? offered.filter((tool) => tool === useSkill) : [];
    const files = turnFileTools(chat, sandbox, config.sandbox.diskMb * 1024 * 1024);
    const { workspace } = config.bot;
    const bash = turnBash({ sandbox, workspace, chat, simple: () => contraction.commands !== undefined });
    const work = (tool: string, toolUseId: string, input: unknown): ReturnType<Tasks['setUp']> =>
      tasks.setUp(message, {
        ...{ skill: tool, tool, by: 'model', parent: transcript, toolUseId },
        input: z.record(z.string(), z.unknown()).parse(input),
      });
    /** A tool that others bring may take long: its call is work of a queue beside the conversation, waited for like a run (U9). */
    const asWork = (tool: Tool): Tool => ({
      ...tool,
      // Made again, it finds its own work.
      traits: { ...tool.traits, idempotent: true },
      labelsOutput: true,
      async run(input, context) {
        const set = await work(tool.name, context.toolUseId, input);
        if ('refused' in set) return fail('LIMIT_REACHED', set.refused);
        const patienceMs = runtime().config.agent.detachAfterSeconds * 1_000;
        const told = await waitForTask(set.id, conversation, patienceMs, context);
        return told ?? succeed(runningTask(tool.name, set.id, command));
      },
    });
    const offeredOutside = await options.outside.offered(requester, 'main');
    const fromOutside = task === undefined ? offeredOutside.map(asWork) : offeredOutside;
    const others = [
      ...toEnd,
      ...[bash, ...files, ...options.web()].filter(({ name }) => wanted.has(name)),
      ...fromOutside,
    ];
    const tools = [...ofSkills, ...others];
    const names = tools.map(({ name }) => name);
    const shown = (): readonly Tool[] => {
      const skillsAtHand = visible.length > 0 || contraction.followed().length > 0;
      const own = skillsAtHand ? tools : others;
      // There the skill's result says what may be called, and `callTool` refuses the rest (T6, M13).
      if (model.bindsThinking === true) return own;
      const allowed = new Set(contraction.names);
      return own.filter(({ name }) => allowed.has(name));
    };
    /** A call that nobody has answered yet continues by itself, like a run (U9). */
    const later = async ({ id, tool, input }: JudgedCall): Promise<Envelope> => {
      const set = await work(tool.name, id, input);
      if ('refused' in set) return fail('LIMIT_REACHED', set.refused);
      return succeed(runningTask(tool.name, set.id, command));
    };
    const judge = judgeCalls({
      transcript,
      mayGoOn: async () => ({ allowed: true }),
      waiting: (asking) => asking(),
      later: task === undefined ? later : undefined,
      run: task?.id,
    });
    const works = new Set<Tool>(task === undefined ? fromOutside : []);
    const door = (
      own: readonly Tool[],
      ceiling: Pick<AllowedTools, 'names' | 'commands' | 'allows'>,
    ): CallTool =>
      createCallTool({
        tools: own,
        ceiling,
        // What is work of its own is judged where it is done.
        decide: async (call, signal) => (works.has(call.tool) ? { allowed: true } : judge(call, signal)),
        requester,
        redact: (text) => runtime().redact(text),
        log,
        onProgress: progress,
        turn: item.key,
        settings: settings.forCall(conversation),
        deliverArtifacts,
        audit: (call) => audit.record(auditOfCall(call, {}, runtime().config.audit.arguments)),
      });
    const ofModel = door(tools, contraction);
    // A person may start a skill that the model is offered nothing of: that one call has a door of its own.
    const isModels = task !== undefined && task.tool !== useSkill.name;
    const ofPerson = isModels ? ofModel : door([useSkill], allToolsAllowed([useSkill.name]));
    const callTool: CallTool = (call, signal, begin) =>
      (call.id === ownCall ? ofPerson : ofModel)(call, signal, begin);
    const listed = new Set(tools.includes(useSkill) ? visible : []);
    const catalogue = registry.catalogue((skill) => listed.has(skill), {
      format: config.prompt.skillsFormat,
      budgetChars: catalogueBudget(model.contextWindow, config.prompt.skillsBudgetChars),
      includeLocation: config.prompt.includeLocation,
    });
    reportShortage(catalogue);
    const system = mainPrompt({
      name: config.bot.name,
      persona: here.persona === '' ? undefined : redact(here.persona),
      catalogue: redact(catalogue.text),
      chatType,
    });
    const viewers = await viewersOf(requester, {
      ...{ use, registry, rules: () => runtime().rules, builtIn: wanted },
      outside: (whose) => options.outside.offered(whose, 'main'),
    });
    return {
      viewers,
      model,
      system,
      tools,
      shown,
      callTool,
      follow: contraction.follow,
      answers: (runs) => runs.forEach((run) => answers.add(run)),
      maxTurns: config.agent.maxTurns,
    };
  };

  /** P4: a catalogue over its budget is logged once. */
  function reportShortage({ shortened, hidden }: Readonly<{ shortened: number; hidden: number }>): void {
    const shortage = `${shortened}/${hidden}`;
    if ((shortened === 0 && hidden === 0) || shortage === lastShortage) return;
    lastShortage = shortage;
    log.warn(
      { shortened, hidden },
      'the catalogue of skills is over its budget: raise [prompt] skills_budget_chars or switch skills off',
    );
  }
}
