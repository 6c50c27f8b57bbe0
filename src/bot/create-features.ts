import { createApprovals, type Approvals } from '../approvals/approvals.ts';
import { createStandingRules, type StandingRules } from '../approvals/standing-rules.ts';
import { createSkillAuthoring, type SkillAuthoring } from '../authoring/skill-authoring.ts';
import { createCapabilities, type Capabilities } from '../capabilities/create-capabilities.ts';
import { createBudgets, type Budgets } from '../limits/budgets.ts';
import { memorySwitch } from '../memory/open-memory.ts';
import { createShowMemory, type ShowMemory } from '../memory/show-memory.ts';
import { createTurnMemory, type MemoryOfTurns } from '../memory/turn-memory.ts';
import { createMcp } from '../mcp/create-mcp.ts';
import type { KeptFiles } from '../operator/kept-files.ts';
import { createPluginCalls } from '../plugins/plugin-calls.ts';
import { createDeliverArtifacts } from '../replies/artifacts.ts';
import type { DeliverArtifacts, Tool } from '../core/tool.ts';
import type { BookDeps } from '../routines/define-routine.ts';
import { createChatAgent, type ChatAgent } from '../settings/chat-agent.ts';
import { createSettings, type Settings } from '../settings/settings-talk.ts';
import { createListTools, type ListTools } from '../tools/list-tools.ts';
import { createOutsideTools, type OutsideTools } from '../tools/outside-tools.ts';
import { createWebTools } from '../tools/web/create-web-tools.ts';
import type { BotParts } from './bot.ts';
import type { Base } from './create-base.ts';

export type Features = Readonly<{
  authoring: SkillAuthoring;
  approvals: Approvals;
  rules: StandingRules;
  capabilities: Capabilities;
  budgets: Budgets;
  tools: Toolbox;
  chatAgent: ChatAgent;
  routines: BookDeps;
  files: KeptFiles & Readonly<{ deliverArtifacts: DeliverArtifacts }>;
}>;

/** Tools of the web, of plugins and of MCP servers, with their settings (X1-X7). */
type Toolbox = Readonly<{
  web: () => readonly Tool[];
  outside: OutsideTools;
  mcp: ReturnType<typeof createMcp>;
  settings: Settings;
  listTools: ListTools;
  memory: MemoryOfTurns;
  showMemory: ShowMemory;
}>;

export function createFeatures(base: Base, parts: BotParts): Features {
  const { host, people, chat } = base;
  const { runtime, store, audit, clock } = host;
  const { library, plugins } = parts;
  const { users } = people;
  const { env, stopping } = base.process;
  const deliverArtifacts = createDeliverArtifacts({
    ...chat,
    store,
    outgoing: base.files.outgoing,
    clean: base.clean,
  });
  const rules = createStandingRules({ stored: store.keyed('standing-rules'), audit });
  const budgets = createBudgets({ config: () => runtime().config, store, clock });
  const tools = createToolbox(base, parts, budgets);
  return {
    authoring: createSkillAuthoring({
      ...host,
      library,
      users,
      accessOf: people.accessOf,
      writeCommand: chat.writeCommand,
      replies: chat.replies,
      otherTools: tools.outside.names,
    }),
    approvals: createApprovals(
      {
        rules,
        replies: chat.replies,
        approvers: () => runtime().config.policy.approvers,
        isOwner: users.isOwner,
        canAsk: parts.terminals?.canAsk ?? (() => true),
        stopping: stopping.signal,
      },
      host,
    ),
    rules,
    capabilities: createCapabilities({ ...chat, plugins, env }, host),
    budgets,
    tools,
    chatAgent: createChatAgent({ ...host, users, chats: chat.settings }),
    routines: { ...host, library, accessOf: people.accessOf, users },
    files: { ...base.files, deliverArtifacts },
  };
}

function createToolbox({ host, people, chat, process }: Base, parts: BotParts, budgets: Budgets): Toolbox {
  const { plugins, library, skillSandbox, folders } = parts;
  const { users, accessOf } = people;
  const { sandbox } = skillSandbox;
  const config = () => host.runtime().config;
  const web = createWebTools({ ...host, config });
  const mcp = createMcp({ ...host, replies: chat.replies, env: process.env });
  const calls = createPluginCalls({ library, sandbox, folders, users, budgets }, host);
  const outside = createOutsideTools({
    sources: [plugins.source(config, calls), mcp.tools],
    isOwner: users.isOwner,
    accessOf,
    log: host.log,
  });
  const own = (): readonly Tool[] => [...web(), ...(config().memory.enabled ? [memorySwitch] : [])];
  const settings = createSettings({ chats: chat.settings, web: own, outside, users }, { ...host, chat });
  const ofMemory = { ...host, users, accessOf, settings };
  return {
    web,
    outside,
    mcp,
    settings,
    memory: createTurnMemory({ ...ofMemory, channels: chat.channels, botName: () => config().bot.name }),
    showMemory: createShowMemory(ofMemory),
    listTools: createListTools({ ...host, library, accessOf, sandbox, outside }),
  };
}
