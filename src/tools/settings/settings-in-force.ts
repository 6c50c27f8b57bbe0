import type { AuditWriter } from '../../audit/create-audit.ts';
import type { Config } from '../../config/complete-config.ts';
import { conversationKey, type Conversation, type SeenChatType } from '../../core/conversation.ts';
import type { SettingField, SettingValue } from '../../core/setting-field.ts';
import { fixed } from '../../core/texts/say.ts';
import type { SettingProblem, SettingValues, ToolSettings } from '../../core/tool-settings.ts';
import type { Log } from '../../lib/log.ts';
import type { ChatSettings, NamedTool } from './chat-settings.ts';

/** Where a value was set. A setting without one has its default (X3). */
type SettingLayer = 'config' | 'chat';

export type LayeredSettings = Readonly<{
  /** Values by key as they were written, without defaults. */
  values: SettingValues;
  from: ReadonlyMap<string, SettingLayer>;
  /** Values that can't be used and that the layer below replaces. Problems never quote them. */
  problems: readonly Readonly<SettingProblem & { layer: SettingLayer }>[];
}>;

export type Who = Readonly<{
  conversation: Conversation;
  chatType: SeenChatType;
  sender: string;
  name?: string | undefined;
  language?: string | undefined;
  /** The direct message from which the person acts for a group (U16). */
  direct?: Conversation | undefined;
}>;

/** The settings that hold in a chat: what the chat has set, otherwise `[tools.NAME]`, otherwise defaults (X3). */
export type SettingsInForce = Readonly<{
  of(conversation: Conversation, tool: NamedTool): Promise<LayeredSettings>;
  /** The values for calls in this conversation. A value that can't be used is logged once. */
  forCall(conversation: Conversation): (tool: NamedTool) => Promise<SettingValues>;
  /**
   * Sets a value; undefined removes it. Returns what is wrong, or undefined if it is done. The audit never gets the
   * value.
   */
  change(
    who: Who,
    tool: NamedTool,
    field: SettingField,
    value: SettingValue | undefined,
  ): Promise<string | undefined>;
}>;

export function createSettingsInForce(options: {
  config: () => Config;
  chats: ChatSettings;
  audit: AuditWriter;
  log: Log;
}): SettingsInForce {
  const { config, chats, audit, log } = options;
  const reported = new Set<string>();

  async function of(conversation: Conversation, tool: NamedTool): Promise<LayeredSettings> {
    if (tool.settings === undefined) return nothing;
    const { settings, name } = tool;
    const layered = layerSettings(settings, tableOf(config(), name), await chats.of(conversation, tool));
    // Only the tool knows that this value of the config is secret.
    for (const { key, secret } of settings.fields)
      if (secret && layered.from.get(key) === 'config') chats.know(name, key, String(layered.values[key]));
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
    async change(who, tool, field, value) {
      const problem = value === undefined ? undefined : await problemOf(who.conversation, tool, field, value);
      if (problem !== undefined) return problem;
      await storeSetting({ chats, audit }, who, { tool: tool.name, field, value });
      return undefined;
    },
  };

  async function problemOf(
    conversation: Conversation,
    tool: NamedTool,
    { key }: SettingField,
    value: SettingValue,
  ): Promise<string | undefined> {
    if (tool.settings === undefined) return fixed`choose another tool: this one has no settings`;
    const checked = tool.settings.check(key, value);
    if (!checked.ok) return checked.problem;
    const chat = { ...(await chats.of(conversation, tool)), [key]: checked.value };
    const { problems } = layerSettings(tool.settings, tableOf(config(), tool.name), chat);
    return problems.some((one) => one.layer === 'chat' && one.key === undefined)
      ? fixed`choose another value: this one can’t be combined with the other settings`
      : undefined;
  }
}

/** Stores a value that was checked before, and records the change without it. */
export async function storeSetting(
  { chats, audit }: Readonly<{ chats: ChatSettings; audit: AuditWriter }>,
  { conversation, chatType, sender }: Who,
  { tool, field, value }: Readonly<{ tool: string; field: SettingField; value: SettingValue | undefined }>,
): Promise<void> {
  await chats.set(conversation, tool, field, value, chatType === 'private' ? sender : undefined);
  await audit.record({
    event: 'setting_changed',
    verdict: value === undefined ? 'unset' : 'set',
    tool,
    key: field.key,
    conversation: conversationKey(conversation),
    by: sender,
  });
}

function tableOf({ tools }: Config, name: string): SettingValues {
  return Object.hasOwn(tools, name) ? { ...tools[name] } : {};
}

/** Lays the chat's values over the config's (X3), without those that the tool refuses. */
export function layerSettings(
  settings: ToolSettings,
  config: SettingValues,
  chat: SettingValues,
): LayeredSettings {
  const below = lay(settings, 'config', config, nothing);
  const above = lay(settings, 'chat', chat, below);
  if (settings.resolve(above.values).ok) return above;
  // The values are invalid only together, so the chat's are dropped first, then the config's.
  const without = (given: LayeredSettings, layer: SettingLayer): LayeredSettings => ({
    ...given,
    problems: [...above.problems, { layer, problem: fixed`its values can’t be combined` }],
  });
  if (settings.resolve(below.values).ok) return without(below, 'chat');
  if (settings.resolve({}).ok) return without(nothing, 'config');
  // A required value is missing, and a call will say which one.
  return above;
}

const nothing: LayeredSettings = { values: {}, from: new Map(), problems: [] };

function lay(
  settings: ToolSettings,
  layer: SettingLayer,
  given: SettingValues,
  below: LayeredSettings,
): LayeredSettings {
  const values: Record<string, unknown> = { ...below.values };
  const from = new Map(below.from);
  const problems = [...below.problems];
  for (const { key } of settings.fields) {
    if (given[key] === undefined) continue;
    const checked = settings.check(key, given[key]);
    if (checked.ok) {
      values[key] = checked.value;
      from.set(key, layer);
    } else problems.push({ layer, key, problem: checked.problem });
  }
  return { values, from, problems };
}
