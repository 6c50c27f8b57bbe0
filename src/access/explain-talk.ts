import { listsId } from './chat-migrations.ts';
import type { Decision, MessageDenial, Speaker } from './decide-message.ts';
import type { KeyPath } from '../config/section.ts';
import { terminalOwnerId, type AccessLevel, type AccessSettings } from '../core/access-settings.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { Say } from '../core/texts/say.ts';
import type { Rule, Ruling } from './ruling.ts';

type Around = Readonly<{
  settings: AccessSettings;
  /** What the bot's store says, as opposed to the config. */
  stored: Readonly<{ owner: boolean; paired: boolean; group: boolean }>;
  ruleAt(key: KeyPath): Rule;
  say: Say;
}>;

/** Whether somebody may talk, as `decision` says, with the rule behind it. */
export function explainTalk(decision: Decision<MessageDenial>, speaker: Speaker, around: Around): Ruling {
  if (!decision.allowed) {
    const { code, reason } = decision;
    return { allowed: false, code, reason, ...whyDenied(code, speaker, around) };
  }
  const { stored, say } = around;
  const { reason, rule } = whyAdmitted(speaker, around);
  if (speaker.chatType === 'private') return { allowed: true, reason, rule };
  const also = stored.group
    ? say`${reason}, and an owner allowed the group`
    : say`${reason}, and the group is admitted`;
  return { allowed: true, reason: also, rule };
}

function whyAdmitted(
  { sender: { id }, conversation, chatType }: Speaker,
  { settings, stored, ruleAt, say }: Around,
): Readonly<{ reason: string; rule: Rule }> {
  const chat = chatIdOf(conversation);
  const at = (key: keyof AccessLevel, written: string): Rule =>
    ruleAt([...levelOf(settings, chat, key), written]);
  if (id === terminalOwnerId) return { reason: say`${id} is an owner`, rule: { name: say`the terminal` } };
  if (listsId(settings.owners, id)) return { reason: say`${id} is an owner`, rule: ruleAt(['bot', 'owner']) };
  if (stored.owner) return { reason: say`${id} is the owner by claim`, rule: { name: say`the store` } };
  const groupUsers = effective(settings, chat, 'groupUsers');
  if (chatType !== 'private' && groupUsers !== undefined)
    return {
      reason: say`${id} is among those who may talk in groups`,
      rule: at('groupUsers', 'group_users'),
    };
  const users = effective(settings, chat, 'users') ?? [];
  if (listsId(users, id)) return { reason: say`${id} is listed`, rule: at('users', 'users') };
  if (users.includes(`${conversation.channel}:*`))
    return { reason: say`everybody of the workspace is listed`, rule: at('users', 'users') };
  if (stored.paired) return { reason: say`${id} is paired`, rule: { name: say`the store` } };
  return { reason: say`everybody may write directly`, rule: at('dm', 'dm') };
}

function whyDenied(
  code: MessageDenial,
  { sender: { id }, conversation, chatType }: Speaker,
  { settings, ruleAt, say }: Around,
): Readonly<{ rule: Rule; change: string }> {
  const chat = chatIdOf(conversation);
  const at = (key: keyof AccessLevel, written: string): Rule =>
    ruleAt([...levelOf(settings, chat, key), written]);
  const open = chatType !== 'private' && effective(settings, chat, 'groupUsers') !== undefined;
  const list = open ? at('groupUsers', 'group_users') : at('users', 'users');
  switch (code) {
    case 'STRANGER':
      return {
        rule: list,
        change: say`they write to the bot and you approve their code, or list "${id}" there`,
      };
    case 'NOT_ALLOWED':
      return { rule: list, change: say`list "${id}" there` };
    case 'BOT':
      return { rule: list, change: say`list the bot’s own id there, such as "slack:B0123456789"` };
    case 'CHAT_NOT_ALLOWED':
      return {
        rule: at('groups', 'groups'),
        change: say`list "${chat}" there, or an owner presses ${say`Allow`} when the bot asks`,
      };
    case 'OUTSIDER':
      return {
        rule: ruleAt(['slack', 'allow_external']),
        change: say`write ${'allow_external = true'} under ${'[slack]'}`,
      };
    case 'NOT_ADDRESSED':
      return {
        rule: at('mention', 'mention'),
        change: say`mention the bot, or write ${'mention = "always"'}`,
      };
  }
}

/** The path of the level that decides a key: the chat's, else the channel's, else the general one. */
function levelOf(settings: AccessSettings, chat: string, key: keyof AccessLevel): readonly string[] {
  const channel = chat.slice(0, chat.indexOf(':'));
  const entry = [...settings.chats].find(([id, level]) => listsId([id], chat) && level[key] !== undefined);
  if (entry !== undefined) return ['access', 'chats', entry[0]];
  return settings.channels.get(channel)?.[key] === undefined ? ['access'] : ['access', channel];
}

function effective<Key extends keyof AccessLevel>(
  settings: AccessSettings,
  chat: string,
  key: Key,
): AccessLevel[Key] {
  const [, at, id = ''] = levelOf(settings, chat, key);
  if (at === undefined) return settings.general[key];
  return (at === 'chats' ? settings.chats.get(id) : settings.channels.get(at))?.[key];
}
