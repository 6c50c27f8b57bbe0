import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { AccessContext } from '../access/decide-skill.ts';
import type { Users } from '../access/users.ts';
import { createStillAdmitted } from '../access/while-admitted.ts';
import type { Approvals } from '../approvals/approvals.ts';
import { createJudgeCalls } from '../approvals/judge-calls.ts';
import type { StandingRules } from '../approvals/standing-rules.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { createReadEarlier } from '../conversations/read-earlier.ts';
import { createReceiveFiles } from '../conversations/receive-files.ts';
import { createTranscribe } from '../conversations/transcribe.ts';
import { createTurnContexts, type CreateTurnContext } from '../conversations/turn-context.ts';
import { createHeard } from '../conversations/heard.ts';
import { takeTurn, type Turn, type TurnMeans } from '../conversations/turn.ts';
import type { Channel, WriteCommand } from '../core/channel.ts';
import { systemZone } from '../core/local-time.ts';
import type { Meter } from '../core/meter.ts';
import type { Tool } from '../core/tool.ts';
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
import { createChainedSkills, type ChainedSkills } from '../runs/chained-skills.ts';
import { createHasStarted } from '../runs/run-journal.ts';
import { createQuestions } from '../runs/questions.ts';
import { createSeeing, type ReceivedFiles } from '../runs/received-files.ts';
import { createAvailability, createRequirements } from '../runs/requirements.ts';
import { createRunContext } from '../runs/run-context.ts';
import type { Host, SkillSupply, ToolSupply } from '../runs/work-deps.ts';
import { createRunSkill } from '../runs/run-skill.ts';
import { createTasks, createWaitForTask, type Tasks } from '../runs/tasks.ts';
import type { AvailablePackages } from '../sandbox/packages/available-packages.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ChatAgent } from '../settings/chat-agent.ts';
import type { ChatSettings } from '../settings/chat-settings.ts';
import { createSettings, type Settings } from '../settings/create-settings.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Store } from '../store/store.ts';
import { createListTools, type ListTools } from '../tools/list-tools.ts';
import { createOutsideTools, type OutsideTools } from '../tools/outside-tools.ts';
import { createWebTools } from '../tools/web/create-web-tools.ts';

/** What thinks: the main agent's turn with what it is given, and the runs it begins. It knows people and chats by name only. */
export type Agent = Readonly<{ turn: Turn; createContext: CreateTurnContext; tasks: Tasks }>;

export function createAgent(options: {
  host: Host;
  users: Pick<Users, 'mayAct'>;
  accessOf: AccessContext;
  skills: Omit<SkillSupply, 'availability' | 'requirements'> &
    Readonly<{ available(): AvailablePackages; capabilities: Pick<Capabilities, 'lacking'> }>;
  tools: Omit<ToolSupply, 'seeing'> & Readonly<{ outside: OutsideTools }>;
  /** What people are asked, and what they may be asked to pay. */
  limits: Readonly<{ approvals: Approvals; rules: Pick<StandingRules, 'covers'>; budgets: Budgets }>;
  /** What the agent learns of chats, and by which it reaches them. */
  chats: Readonly<{
    agent: Pick<ChatAgent, 'of'>;
    channels: ReadonlyMap<string, Pick<Channel, 'fetchFile' | 'readEarlier'>>;
    received: Pick<ReceivedFiles, 'keep' | 'read'>;
    writeCommand: WriteCommand;
  }>;
  process: Readonly<{
    meter: Meter;
    env: Readonly<Record<string, string | undefined>>;
    /** Aborted when the process is to end. */
    stopping: AbortSignal;
  }>;
}): Agent {
  const { host, accessOf, chats, limits } = options;
  const { runtime, store, clock, log } = host;
  const { budgets } = limits;
  const { meter, env, stopping } = options.process;
  const stillAdmitted = createStillAdmitted(options.users);
  const { outside, deliverArtifacts } = options.tools;
  const judgeCalls = createJudgeCalls({ ...host, ...limits, outside, deliverArtifacts, stillAdmitted });
  const gates = { accessOf, stillAdmitted, judgeCalls };
  const tools = { ...options.tools, seeing: createSeeing({ received: chats.received, log }) };
  const skills = supplySkills(options.skills, runtime);
  const hasStarted = createHasStarted(store);
  const questions = createQuestions({ store, clock });
  // Not asked for before a message needs it, and then once: Intl takes long to load, and to answer.
  let machineZone: string | undefined;
  const zone = (): string => runtime().config.bot.timezone ?? (machineZone ??= systemZone());

  // A run may start further runs: the one knot of the bot, tied here.
  const chained: ChainedSkills = (...of) => chain(...of);
  const runs = createRunSkill({
    store,
    zone,
    questions,
    createContext: measureRunCalls(
      (input) => createRunContext(input, { host, gates, skills, tools, questions, chained }),
      meter,
    ),
    costOf: (model, tokens) => costOf(runtime().config, model.alias, tokens),
    clock,
    log,
  });
  const runSkill = measureRuns(auditRuns(runs, host.audit), meter);
  const chain = createChainedSkills({ host, skills, accessOf, runSkill, hasStarted, budgets });

  const tasks = createTasks({
    store,
    clock,
    onSignalFault: (error) => log.warn({ err: error }, 'the progress of a run could not be told'),
  });
  const waitForTask = createWaitForTask({ store, stopping, clock });
  const createContext = createTurnContexts({
    ...{ host, gates, skills, tools, chatAgent: chats.agent, writeCommand: chats.writeCommand },
    runs: { runSkill, hasStarted, tasks, waitForTask, budgets },
  });
  const { channels, received } = chats;
  const transcribe = createTranscribe({ env, log });
  const means: TurnMeans = {
    ...{ store, questions, audit: host.audit, zone, clock, log },
    receive: createReceiveFiles({ ...host, sandbox: skills.sandbox, channels, received, transcribe }),
    heard: createHeard({
      store,
      readEarlier: createReadEarlier({ ...host, channels, users: options.users }),
      most: () => runtime().config.agent.backgroundMessages,
      clock,
    }),
  };
  const turn: Turn = (request, context) => takeTurn(request, context, means);
  return { turn, createContext: measureTurnCalls(createContext, meter), tasks };
}

function supplySkills(
  {
    available,
    capabilities,
    ...given
  }: Omit<SkillSupply, 'availability' | 'requirements'> &
    Readonly<{ available(): AvailablePackages; capabilities: Pick<Capabilities, 'lacking'> }>,
  runtime: Host['runtime'],
): SkillSupply {
  const requirements = createRequirements({
    config: () => runtime().config,
    mode: given.sandbox.mode,
    available,
    lackingCapabilities: capabilities.lacking,
  });
  return { ...given, requirements, availability: createAvailability(available) };
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
