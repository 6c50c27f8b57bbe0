import type { SeenChatType } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Writer } from './access-decisions.ts';

/** Who asks for what, and where. Ids are qualified. */
export type AccessQuestion = Readonly<{
  who: string;
  /** The chat. Undefined: the person's direct message. */
  where?: string;
  /** The kind of chat. Undefined: what the form of its id suggests. */
  chatType?: SeenChatType;
  /** True if people of other companies read along. */
  external?: boolean;
  /** True if the message does not mention the bot. */
  unaddressed?: boolean;
}>;

/** The writer that would be judged. Throws OperatorError if the ids are of two channels. */
export function toWriter(question: AccessQuestion): Writer {
  const { who, where = who, external = false, unaddressed = false } = question;
  const [channel = ''] = split(who);
  const [of, chat = ''] = where.includes(':') ? split(where) : [channel, where];
  if (of !== channel)
    throw new OperatorError(
      `${who} and ${where} are of two channels: write both ids of one, such as telegram:42.`,
    );
  const chatType = question.chatType ?? (where === who ? 'private' : likelyType(`${channel}:${chat}`));
  const kind = channel === 'slack' && external ? 'guest' : 'person';
  return { sender: who, kind, channel, chat, chatType, external, addressed: !unaddressed };
}

function split(id: string): readonly [string, string] {
  const colon = id.indexOf(':');
  return [id.slice(0, colon), id.slice(colon + 1)];
}

/** The kind of chat that an id suggests. Slack's public and private channels have ids of the same form. */
export function likelyType(id: string): SeenChatType {
  if (/^(telegram:-|slack:G|terminal:group$)/.test(id)) return 'group';
  return /^(slack:C|terminal:channel$)/.test(id) ? 'channel' : 'private';
}
