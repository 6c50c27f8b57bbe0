import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { AccessContext } from '../access/decide-skill.ts';
import type { Users } from '../access/users.ts';
import { createStillAdmitted } from '../access/while-admitted.ts';
import type { Approvals } from '../approvals/approvals.ts';
import { createJudgeCalls } from '../approvals/judge-calls.ts';
import type { StandingRules } from '../approvals/standing-rules.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { SkillAuthoring } from '../authoring/skill-authoring.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { createReadEarlier } from '../conversations/read-earlier.ts';
import { createReceiveFiles } from '../conversations/receive-files.ts';
import { createTranscribe } from '../conversations/transcribe.ts';
import { createTurnContexts, type CreateTurnContext } from '../conversations/turn-context.ts';
import { createTurn, type Turn } from '../conversations/turn.ts';
import type { Channel, WriteCommand } from '../core/channel.ts';
import { systemZone } from '../core/local-time.ts';
import type { Meter } from '../core/meter.ts';
import type { DeliverArtifacts, Tool } from '../core/tool.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { costOf, type Budgets } from '../limits/budgets.ts';
import { createMcp } from '../mcp/create-mcp.ts';
import {
  auditRuns,
  measureRunCalls,
  measureRuns,
  measureTurnCalls,
} from '../operator/health/measure-work.ts';
import { createPluginCalls } from '../plugins/plugin-calls.ts';
import type { Plugins } from '../plugins/plugins.ts';
import type { Replies } from '../replies/replies.ts';
import { createChainedSkills } from '../runs/chained-skills.ts';
import { createHasStarted } from '../runs/run-journal.ts';
import { createQuestions } from '../runs/questions.ts';
import { createSeeing, type ReceivedFiles } from '../runs/received-files.ts';
import { createAvailability, createRequirements } from '../runs/requirements.ts';
import { createRunContexts } from '../runs/run-context.ts';
import { createRunSkill, type RunSkill } from '../runs/run-skill.ts';
import { createTasks, createWaitForTask, type Tasks } from '../runs/tasks.ts';
import type { AvailablePackages } from '../sandbox/packages/available-packages.ts';
import type { ScriptPackages } from '../sandbox/packages/script-packages.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ChatAgent } from '../settings/chat-agent.ts';
import type { ChatSettings } from '../settings/chat-settings.ts';
import { createSettings, type Settings } from '../settings/create-settings.ts';
import type { SettingsInForce } from '../settings/settings-in-force.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Store } from '../store/store.ts';
import { createListTools, type ListTools } from '../tools/list-tools.ts';
import { createOutsideTools, type OutsideTools } from '../tools/outside-tools.ts';
import { createWebTools } from '../tools/web/create-web-tools.ts';

/** What thinks: the main agent's turn with what it is granted, and the runs it begins. It knows people and chats by name only. */
export type Agent = Readonly<{ turn: Turn; grant: CreateTurnContext; tasks: Tasks }>;

export function createAgent(options: {
  runtime: () => RuntimeConfig;
  store: Store;
  library: SkillLibrary;
  sandbox: Sandbox;
  available(): AvailablePackages;
  packages: ScriptPackages;
  accessOf: AccessContext;
  authoring: SkillAuthoring;
  approvals: Approvals;
  rules: Pick<StandingRules, 'covers'>;
  budgets: Budgets;
  /** Tools that reach the internet, as config has them now. */
  web: () => readonly Tool[];
  outside: OutsideTools;
  capabilities: Pick<Capabilities, 'tools' | 'lacking'>;
  migrations: Pick<ChatMigrations, 'original'>;
  deliverArtifacts: DeliverArtifacts;
  channels: ReadonlyMap<string, Pick<Channel, 'fetchFile' | 'readEarlier'>>;
  received: Pick<ReceivedFiles, 'keep' | 'read'>;
  writeCommand: WriteCommand;
  users: Pick<Users, 'mayAct'>;
  settings: Pick<SettingsInForce, 'forCall'>;
  chatAgent: Pick<ChatAgent, 'of'>;
  audit: Pick<Audit, 'record'>;
  meter: Meter;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is to end. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}): Agent {
  const { runtime, store, sandbox, available, meter, clock, log } = options;
  const questions = createQuestions({ store, clock });
  const stillAdmitted = createStillAdmitted(options.users);
  const judgeCalls = createJudgeCalls({ ...options, stillAdmitted });
  const requirements = createRequirements({
    config: () => runtime().config,
    mode: sandbox.mode,
    available,
    lackingCapabilities: options.capabilities.lacking,
  });
  const availability = createAvailability(available);
  const zone = (): string => runtime().config.bot.timezone ?? systemZone();
  const seeing = createSeeing(options);
  const hasStarted = createHasStarted(store);
  const chained = createChainedSkills({
    ...options,
    availability,
    requirements,
    runSkill: (...of) => runSkill(...of),
    hasStarted,
  });
  const runs = auditRuns(
    createRunSkill({
      store,
      zone,
      questions,
      grant: measureRunCalls(
        createRunContexts({ ...options, judgeCalls, stillAdmitted, questions, chained, seeing }),
        meter,
      ),
      costOf: (model, tokens) => costOf(runtime().config, model.alias, tokens),
      clock,
      log,
    }),
    options.audit,
  );
  const runSkill: RunSkill = measureRuns(runs, meter);
  const tasks = createTasks({
    store,
    clock,
    onSignalFault: (error) => log.warn({ err: error }, 'the progress of a run could not be told'),
  });
  const grant = createTurnContexts({
    ...options,
    availability,
    requirements,
    runSkill,
    hasStarted,
    tasks,
    waitForTask: createWaitForTask({ store, stopping: options.stopping, clock }),
    judgeCalls,
    stillAdmitted,
    seeing,
  });
  const background = () => runtime().config.agent.backgroundMessages;
  return {
    turn: createTurn({
      store,
      questions,
      receive: createReceiveFiles({ ...options, transcribe: createTranscribe(options) }),
      readEarlier: createReadEarlier(options),
      zone,
      background,
      audit: options.audit,
      clock,
      log,
    }),
    grant: measureTurnCalls(grant, meter),
    tasks,
  };
}

/** The tools that come with no turn or run: of the web, of plugins, of MCP servers; with what people set and see of them (X1-X7). */
type Toolbox = Readonly<{
  /** As config has them now. */
  web: () => readonly Tool[];
  outside: OutsideTools;
  mcp: ReturnType<typeof createMcp>;
  settings: Settings;
  listTools: ListTools;
}>;

export function createToolbox(options: {
  runtime: () => RuntimeConfig;
  store: Store;
  library: SkillLibrary;
  sandbox: Sandbox;
  plugins: Pick<Plugins, 'source'>;
  users: Pick<Users, 'isOwner' | 'mayAct'>;
  accessOf: AccessContext;
  migrations: ChatMigrations;
  budgets: Budgets;
  chats: ChatSettings;
  channels: ReadonlyMap<string, Channel>;
  writeCommand: WriteCommand;
  replies: Replies;
  audit: Pick<Audit, 'record'>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
}): Toolbox {
  const { runtime, plugins, users, accessOf, log } = options;
  const config = () => runtime().config;
  const web = createWebTools({ ...options, config });
  const mcp = createMcp(options);
  const outside = createOutsideTools({
    sources: [plugins.source(config, createPluginCalls(options)), mcp.tools],
    isOwner: users.isOwner,
    accessOf,
    log,
  });
  return {
    web,
    outside,
    mcp,
    settings: createSettings({ ...options, web, outside }),
    listTools: createListTools({ ...options, web, outside }),
  };
}
