import type { Channel, WriteCommand } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Store } from '../store/store.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { ChatSettings } from '../settings/chat-settings.ts';
import { createMcp } from '../mcp/create-mcp.ts';
import { createSettings, type Settings } from '../settings/create-settings.ts';
import { createWebTools } from '../tools/web/create-web-tools.ts';
import { createListTools, type ListTools } from '../tools/list-tools.ts';
import type { Live } from '../config/runtime-config.ts';
import type { MovedChats } from '../access/chat-migrations.ts';
import { createOutsideTools, type OutsideTools } from '../tools/outside-tools.ts';
import type { People } from '../access/users.ts';
import { createPluginCalls } from '../plugins/plugin-calls.ts';
import type { Plugins } from '../plugins/plugins.ts';
import type { UseOf } from '../access/access-context.ts';
import type { Voice } from '../replies/replies.ts';

/** The tools that come with no turn or run: of the web, of plugins, of MCP servers; with what people set and see of them (X1-X7). */
export type Toolbox = Readonly<{
  /** As config has them now. */
  web: () => readonly Tool[];
  outside: OutsideTools;
  mcp: ReturnType<typeof createMcp>;
  settings: Settings;
  listTools: ListTools;
}>;

export function createToolbox(options: {
  live: () => Live;
  store: Store;
  library: SkillLibrary;
  sandbox: Sandbox;
  plugins: Pick<Plugins, 'source'>;
  people: Pick<People, 'isOwner' | 'mayAct'>;
  useOf: UseOf;
  moved: MovedChats;
  budgets: Budgets;
  chats: ChatSettings;
  channels: ReadonlyMap<string, Channel>;
  writeCommand: WriteCommand;
  voice: Voice;
  audit: Pick<Audit, 'record'>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
}): Toolbox {
  const { live, plugins, people, useOf, log } = options;
  const config = () => live().config;
  const web = createWebTools({ ...options, config });
  const mcp = createMcp(options);
  const outside = createOutsideTools({
    sources: [plugins.source(config, createPluginCalls(options)), mcp.tools],
    isOwner: people.isOwner,
    useOf,
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
