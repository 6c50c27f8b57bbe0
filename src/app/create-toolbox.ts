import type { Channel, WriteCommand } from '../core/channel.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Store } from '../stores/store.ts';
import type { Audit } from './audit/create-audit.ts';
import type { Budgets } from './gates/budgets.ts';
import type { ChatSettings } from './settings/chat-settings.ts';
import { createMcp } from './create-mcp.ts';
import { createSettings, type Settings } from './settings/create-settings.ts';
import { createWebTools } from './create-web-tools.ts';
import { createListTools, type ListTools } from './list-tools.ts';
import type { Live } from './live.ts';
import type { MovedChats } from './moved-chats.ts';
import { createOutsideTools, type OutsideTools } from './outside-tools.ts';
import type { People } from './door/people.ts';
import { createPluginCalls } from './plugin-calls.ts';
import type { Plugins } from './plugins.ts';
import type { UseOf } from './use-of.ts';
import type { Voice } from './voice.ts';

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
