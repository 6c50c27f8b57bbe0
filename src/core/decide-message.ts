import type { AccessLevel, AccessSettings } from './access-settings.ts';
import { listsId, meansId } from './chat-id.ts';
import { chatIdOf } from './conversation.ts';
import type { Decision } from './decision.ts';
import type { Message } from './message.ts';

/** `NOT_ADDRESSED`: an admitted person spoke, but not to the bot. `STRANGER`: may ask for pairing. */
export type MessageDenial =
  'STRANGER' | 'NOT_ALLOWED' | 'NOT_ADDRESSED' | 'CHAT_NOT_ALLOWED' | 'OUTSIDER' | 'BOT';

type Speaker = Pick<Message, 'conversation' | 'chatType' | 'sender' | 'addressed'>;

/** Who may talk at all, before any skill (A9). Closed by default; decided again when the turn starts and at delivery. */
export function decideMessage(
  message: Speaker,
  settings: AccessSettings,
  known: Readonly<{
    paired: boolean;
    /** Ids the chat had before, qualified (A6). */ formerChatIds: readonly string[];
  }>,
): Decision<MessageDenial> {
  const { conversation, chatType, sender, addressed } = message;
  const chatIds = [chatIdOf(conversation), ...known.formerChatIds];
  const level = effectiveLevel(settings, conversation.channel, chatIds);
  const named = listsId(settings.owners, sender.id) || listsId(level.users ?? [], sender.id);
  if (sender.kind === 'bot' && !named)
    return deny('BOT', `${sender.id} is a bot and not listed in [access] users`);
  if (sender.kind === 'guest' && !settings.allowExternal) {
    return deny('OUTSIDER', `${sender.id} belongs to another workspace: [slack] allow_external is false`);
  }
  const everybody = sender.kind === 'person' && (level.users ?? []).includes(`${conversation.channel}:*`);
  const isUser = named || everybody || known.paired;
  if (chatType === 'private') {
    if (isUser || level.dm === 'open') return { allowed: true };
    return level.dm === 'allowlist'
      ? deny('NOT_ALLOWED', `${sender.id} is not in [access] users`)
      : deny('STRANGER', `${sender.id} is not in [access] users and not paired`);
  }
  if (level.groupsMode !== 'open' && !chatIds.some((id) => listsId(level.groups ?? [], id))) {
    return deny('CHAT_NOT_ALLOWED', `${chatIds[0]} is not in [access] groups`);
  }
  if (!maySpeakInGroup(level, sender.id, isUser, listsId(settings.owners, sender.id))) {
    return deny('NOT_ALLOWED', `${sender.id} may not talk to the bot in ${chatIds[0]}`);
  }
  if (!addressed && level.mention !== 'always') return deny('NOT_ADDRESSED', 'the bot was not addressed');
  return { allowed: true };
}

function maySpeakInGroup(level: AccessLevel, sender: string, isUser: boolean, isOwner: boolean): boolean {
  if (level.groupUsers === undefined) return isUser;
  return isOwner || level.groupUsers.includes('*') || listsId(level.groupUsers, sender);
}

/** General rules, overridden key by key by the channel's, then by the chat's. */
function effectiveLevel(settings: AccessSettings, channel: string, chatIds: readonly string[]): AccessLevel {
  const ofChat = [...settings.chats].find(([entry]) => chatIds.some((id) => meansId(entry, id)));
  const levels = [settings.general, settings.channels.get(channel), ofChat?.[1]];
  return levels.reduce<AccessLevel>((above, level) => ({ ...above, ...withoutAbsent(level) }), {});
}

function withoutAbsent(level: AccessLevel | undefined): AccessLevel {
  return Object.fromEntries(Object.entries(level ?? {}).filter(([, value]) => value !== undefined));
}

function deny(code: MessageDenial, reason: string): Decision<MessageDenial> {
  return { allowed: false, code, reason };
}
