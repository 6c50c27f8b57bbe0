import { conversationKey, type Conversation, type SeenChatType } from '../core/conversation.ts';
import { fixed } from '../core/texts/say.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import type { Tool } from '../core/tool.ts';
import { layerSettings } from './layer-settings.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { ChatSettings } from './chat-settings.ts';
import { tableOf } from './settings-in-force.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';

/** Where something is set and by whom. `person`: whose direct messages it is. */
export type SettingPlace = Readonly<{ conversation: Conversation; by: string; person?: string }>;

/** A person in a chat. */
export type Who = Readonly<{
  conversation: Conversation;
  chatType: SeenChatType;
  sender: string;
  language?: string | undefined;
}>;

export function placeOf({ conversation, chatType, sender }: Who): SettingPlace {
  return { conversation, by: sender, person: chatType === 'private' ? sender : undefined };
}

/** Sets a setting in a chat, or (without a value) unsets it; gives what is wrong with it instead of setting it. Written down in the audit, without the value. */
export type ChangeSetting = (
  place: SettingPlace,
  tool: Tool,
  field: SettingField,
  value: SettingValue | undefined,
) => Promise<string | undefined>;

export function createChangeSetting(options: {
  config: () => RuntimeConfig['config'];
  chats: Pick<ChatSettings, 'of' | 'set'>;
  audit: Pick<Audit, 'record'>;
}): ChangeSetting {
  const { config, chats, audit } = options;

  return async ({ conversation, by, person }, tool, field, value) => {
    const { settings, name } = tool;
    if (settings === undefined) return fixed`choose another tool: this one has no settings`;
    if (value !== undefined) {
      const checked = settings.check(field.key, value);
      if (!checked.ok) return checked.problem;
      const chat = { ...(await chats.of(conversation, tool)), [field.key]: checked.value };
      const { problems } = layerSettings(settings, tableOf(config(), name), chat);
      if (problems.some(({ layer, key }) => layer === 'chat' && key === undefined))
        return fixed`choose another value: this one can’t be combined with the other settings`;
    }
    await chats.set(conversation, name, field, value, person);
    await audit.record({
      event: 'setting_changed',
      verdict: value === undefined ? 'unset' : 'set',
      tool: name,
      key: field.key,
      conversation: conversationKey(conversation),
      by,
    });
    return undefined;
  };
}
