import type { Config } from '../config/complete-config.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Log } from '../lib/log.ts';
import type { SettingValues } from '../core/tool-settings.ts';
import type { Tool } from '../core/tool.ts';
import { layerSettings, type LayeredSettings } from './layer-settings.ts';
import type { ChatSettings } from './chat-settings.ts';

type NamedTool = Pick<Tool, 'name' | 'settings'>;

/** A tool's settings as they hold in a chat: defaults, over them `[tools.NAME]`, over that what the chat says (X3). */
export type SettingsInForce = Readonly<{
  of(conversation: Conversation, tool: NamedTool): Promise<LayeredSettings>;
  /** What a call of it is given. A value that can't be used is told in the log, once. */
  forCall(conversation: Conversation): (tool: NamedTool) => Promise<SettingValues>;
}>;

export function createSettingsInForce(options: {
  config: () => Pick<Config, 'tools'>;
  chats: Pick<ChatSettings, 'of' | 'know'>;
  log: Log;
}): SettingsInForce {
  const { config, chats, log } = options;
  const reported = new Set<string>();

  async function of(conversation: Conversation, tool: NamedTool): Promise<LayeredSettings> {
    if (tool.settings === undefined) return { values: {}, from: new Map(), problems: [] };
    const layered = layerSettings(
      tool.settings,
      tableOf(config(), tool.name),
      await chats.of(conversation, tool),
    );
    // Config may hold a secret under a name that speaks of none: only its tool tells.
    for (const { key, secret } of tool.settings.fields)
      if (secret && layered.from.get(key) === 'config')
        chats.know(tool.name, key, String(layered.values[key]));
    return layered;
  }

  return {
    of,
    forCall: (conversation) => async (tool) => {
      const { values, problems } = await of(conversation, tool);
      for (const problem of problems) {
        const told = JSON.stringify([tool.name, problem]);
        if (!reported.has(told))
          log.warn(
            { tool: tool.name, ...problem },
            'a setting of a tool can not be used: what is below it holds',
          );
        reported.add(told);
      }
      return values;
    },
  };
}

/** `[tools.NAME]` as it stands in config. */
export function tableOf({ tools }: Pick<Config, 'tools'>, name: string): SettingValues {
  return Object.hasOwn(tools, name) ? { ...tools[name] } : {};
}
