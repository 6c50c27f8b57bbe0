import { listsId, meansId } from './chat-migrations.ts';
import type { AccessLevel, AccessSettings } from '../core/access-settings.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { Message, Sender } from '../core/message.ts';
import { sayIn } from '../core/texts/say.ts';

/** Why a message is not answered. `NOT_ADDRESSED`: admitted, but not speaking to the bot. `STRANGER`: may pair. */
export type MessageDenial =
  'STRANGER' | 'NOT_ALLOWED' | 'NOT_ADDRESSED' | 'CHAT_NOT_ALLOWED' | 'OUTSIDER' | 'BOT';

export type Speaker = Pick<Message, 'conversation' | 'chatType' | 'addressed'> &
  Readonly<{ sender: Pick<Sender, 'id' | 'kind'> }>;

/** Senders of these kinds need not be listed. Bots and unknown kinds do. */
const speaksUnlisted: readonly Sender['kind'][] = ['person', 'chat', 'guest'];

/**
 * Matches ids that only bots have. Under any other id a bot may speak in a person's name, and gets none of that
 * person's rights (S17).
 */
const botId = /^slack:B[A-Z0-9]+$/;

/**
 * Decides whether a message may be answered, denied by default. It is decided again for the turn and the delivery (A9).
 * `say` writes the reason.
 */
export function decideMessage(
  message: Speaker,
  settings: AccessSettings,
  known: Readonly<{
    paired: boolean;
    /** Allowed by an owner under any id (H13). */ groupAllowed: boolean;
    formerChatIds: readonly string[];
  }>,
  say = english,
): Decision<MessageDenial> {
  const { conversation, chatType, sender, addressed } = message;
  const chatIds = [chatIdOf(conversation), ...known.formerChatIds];
  const level = effectiveLevel(settings, conversation.channel, chatIds);
  const isBot = !speaksUnlisted.includes(sender.kind);
  const isOwner = !isBot && listsId(settings.owners, sender.id);
  const named = isOwner || listsId(level.users ?? [], sender.id);
  const listed = named || (chatType !== 'private' && listsId(level.groupUsers ?? [], sender.id));
  if (isBot && !botId.test(sender.id)) {
    return deny('BOT', say`a bot speaks as ${sender.id}, which may be the id of a person`);
  }
  if (isBot && !listed) return deny('BOT', say`${sender.id} is a bot and not listed in [access] users`);
  if (sender.kind === 'guest' && !settings.allowExternal) {
    return deny('OUTSIDER', say`${sender.id} belongs to another workspace: [slack] allow_external is false`);
  }
  const everybody = sender.kind === 'person' && (level.users ?? []).includes(`${conversation.channel}:*`);
  const isUser = named || everybody || known.paired;
  if (chatType === 'private') {
    if (isUser || level.dm === 'open') return { allowed: true };
    return level.dm === 'allowlist'
      ? deny('NOT_ALLOWED', say`${sender.id} is not in [access] users`)
      : deny('STRANGER', say`${sender.id} is not in [access] users and not paired`);
  }
  const isListed = known.groupAllowed || chatIds.some((id) => listsId(level.groups ?? [], id));
  if (level.groupsMode !== 'open' && !isListed) {
    return deny('CHAT_NOT_ALLOWED', say`${chatIdOf(conversation)} is not in [access] groups`);
  }
  if (!maySpeakInGroup(level, sender.id, isUser, isOwner)) {
    const list = level.groupUsers === undefined ? 'users' : 'group_users';
    return deny(
      'NOT_ALLOWED',
      say`${sender.id} may not talk to the bot in ${chatIdOf(conversation)} until [access] ${list} lists "${sender.id}"`,
    );
  }
  if (!addressed && level.mention !== 'always') return deny('NOT_ADDRESSED', say`the bot was not addressed`);
  return { allowed: true };
}

function maySpeakInGroup(level: AccessLevel, sender: string, isUser: boolean, isOwner: boolean): boolean {
  if (level.groupUsers === undefined) return isUser;
  return isOwner || level.groupUsers.includes('*') || listsId(level.groupUsers, sender);
}

/** The rules for a chat: its own keys override those of the channel, and these the general ones. */
function effectiveLevel(settings: AccessSettings, channel: string, chatIds: readonly string[]): AccessLevel {
  const levels = [settings.channels.get(channel), levelOfChat(settings, chatIds)];
  return levels
    .filter((level) => level !== undefined)
    .reduce((above, level) => ({ ...above, ...withoutAbsent(level) }), settings.general);
}

/** Rules of the chat itself, by its newest id first, and by a qualified id before a bare one (A6). */
function levelOfChat({ chats }: AccessSettings, chatIds: readonly string[]): AccessLevel | undefined {
  for (const id of chatIds) {
    const entry = chats.has(id) ? id : [...chats.keys()].find((key) => meansId(key, id));
    if (entry !== undefined) return chats.get(entry);
  }
  return undefined;
}

function withoutAbsent(level: AccessLevel): AccessLevel {
  return Object.fromEntries(Object.entries(level).filter(([, value]) => value !== undefined));
}

/** Writes reasons for the log, the audit and the command line. */
export const english = sayIn(undefined);

function deny(code: MessageDenial, reason: string): Decision<MessageDenial> {
  return { allowed: false, code, reason };
}

/** The result of a decision about access. `reason` is for the operator, `hint` for the person. */
export type Decision<Code extends string = string> =
  Readonly<{ allowed: true }> | Readonly<{ allowed: false; code: Code; reason: string; hint?: string }>;
