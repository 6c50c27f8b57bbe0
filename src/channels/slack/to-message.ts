import { blocksMarkup } from './blocks-markup.ts';
import { plainSlackText, noNames, slackName, type Names } from './plain-text.ts';
import type { SlackPayload, SharedMessage, SaidFile } from './payloads.ts';
import type { SlackIdentity } from './slack-options.ts';
import type { Conversation, SeenChatType } from '../../core/conversation.ts';
import {
  parseAddressed,
  parseCommand,
  type MessageCommand,
  type Message,
  type Quote,
  type Sender,
  type Attachment,
} from '../../core/message.ts';

type Place = Readonly<{
  chat: string;
  channelType?: string | null;
  external: boolean;
  quoted?: SlackPayload;
  own?: true;
}>;

export type ConvertedMessage = Readonly<{
  message: Message;
  /** True if it mentions nobody, so that `thread_follow` applies. */
  followable: boolean;
  people: readonly string[];
}>;

/**
 * Reads a message. Both events of one message give the same result except for the chat type (Q2). `names` are only
 * shown (A9).
 */
export function fromSlackMessage(
  said: SlackPayload,
  place: Place,
  me: SlackIdentity,
  names: Names = noNames,
): ConvertedMessage | Readonly<{ ignored: string }> {
  const own = isOwn(said, me);
  if (own && place.own !== true) return { ignored: 'own message' };
  const ts = said.ts;
  if (ts === undefined || ts === null) return { ignored: 'message without ts' };
  // An app may post in the name of a person, whose rights it doesn't get (S17).
  const author = (own ? undefined : said.bot_id) || said.user || said.bot_id;
  if (!author) return { ignored: 'message without sender' };
  const chatType = slackChatType(place.channelType);
  const { text, commandText, mentioned, mentionsOthers, hiddenLinks, people } = plainSlackText(
    markupOf(said),
    me.user,
    names,
  );
  const sender = toSender(author, said, place.external, me, names);
  const isReply = typeof said.thread_ts === 'string' && said.thread_ts !== ts;
  const attachments = toAttachments(said.files);
  const shared = [...sharedOf(said, me, names)];
  if (text === '' && attachments.length === 0 && shared.length === 0 && !mentioned)
    shared.push({ name: sender.name, own: false, sender: sender.id, note: 'message', text: unreadable });
  const quoted = place.quoted === undefined ? undefined : toQuote(place.quoted, me, names);
  const command = mentioned ? parseAddressed(commandText) : commandIn(commandText);
  const message: Message = {
    id: messageId(me.team, place.chat, ts),
    conversation: toConversation(place.chat, said.thread_ts ?? undefined, ts, chatType, me.agentView),
    chatType,
    external: place.external || sender.kind === 'guest',
    sender: own ? { ...sender, kind: 'bot', own } : sender,
    text,
    addressed: mentioned || chatType === 'private',
    command,
    attachments,
    shared: shared.length === 0 ? undefined : shared,
    hiddenLinks: hiddenLinks.length === 0 ? undefined : hiddenLinks,
    replyTo: quoted?.quote,
    platformId: ts,
    sentAt: millisecondsOf(ts),
  };
  return {
    message,
    followable: isReply && !mentionsOthers && sender.kind !== 'bot',
    people: [...(toldName(said) === undefined ? [author] : []), ...people, ...(quoted?.people ?? [])],
  };
}

const unreadable = 'The content of this kind of message cannot be read here.';

/** The id of a message, which is the same for its event, twin, retry and edit (Q2). */
function messageId(team: string, chat: string, ts: string): string {
  return `slack:${team}:${chat}:${ts}`;
}

/**
 * The conversation of a message. Direct messages have threads only with the agent view, or if a person began one (H4).
 */
export function toConversation(
  chat: string,
  thread: string | undefined,
  ts: string,
  chatType: SeenChatType,
  agentView = false,
): Conversation {
  const isDirect = chatType === 'private' || chat.startsWith('D');
  const place = thread ?? (isDirect && !agentView ? undefined : ts);
  return { channel: 'slack', chat, thread: place };
}

/** The type of a chat. An unknown type denies (A1, A3). */
export function slackChatType(channelType: string | null | undefined): SeenChatType {
  if (channelType === 'im' || channelType === 'app_home') return 'private';
  if (channelType === 'mpim' || channelType === 'group') return 'group';
  return channelType === 'channel' ? 'channel' : 'unknown';
}

/** Whether a sender is a guest. Without a team they are, except in events of the home workspace (A9). */
export function senderKind(
  team: string | null | undefined,
  external: boolean,
  me: SlackIdentity,
): 'person' | 'guest' {
  if (!team) return external ? 'guest' : 'person';
  return team === me.team ? 'person' : 'guest';
}

/** Reads a command written as `!name rest`, because slash commands do not work in threads (I1). */
function commandIn(text: string): MessageCommand | undefined {
  const command = parseCommand(text.replace(/^!/, '/'));
  return command === undefined ? undefined : { name: command.name, args: command.args };
}

function isOwn(said: SlackPayload, me: SlackIdentity): boolean {
  if (said.user === me.user) return true;
  if (me.botId !== undefined && said.bot_id === me.botId) return true;
  return me.appId !== undefined && said.bot_profile?.app_id === me.appId;
}

function toSender(
  author: string,
  said: SlackPayload,
  external: boolean,
  me: SlackIdentity,
  names: Names,
): Sender {
  const isBot = Boolean(said.bot_id) || said.subtype === 'bot_message' || author === 'USLACKBOT';
  const team = said.user_team || said.user_profile?.team || said.source_team || said.team;
  return {
    id: `slack:${author}`,
    name: nameOf(author, said, names),
    kind: isBot ? 'bot' : senderKind(team, external, me),
  };
}

function nameOf(author: string, said: SlackPayload, names: Names): string {
  return toldName(said) ?? names.get(author) ?? slackName(said.user_profile?.name) ?? author;
}

function toldName({ user_profile, username, bot_profile }: SlackPayload): string | undefined {
  return slackName(user_profile?.display_name, user_profile?.real_name, username, bot_profile?.name);
}

function toQuote(
  said: SlackPayload,
  me: SlackIdentity,
  names: Names,
): Readonly<{ quote: Quote; people: readonly string[] }> {
  const { text: words, people } = plainSlackText(markupOf(said), me.user, names);
  const attachments = toAttachments(said.files);
  const shared = sharedOf(said, me, names);
  const text = [...attachments.map(({ name }) => `[${name}]`), words, ...shared.map((each) => each.text)]
    .filter(Boolean)
    .join('\n');
  const own = isOwn(said, me);
  const author = said.user || said.bot_id || 'somebody';
  return {
    quote: {
      name: nameOf(author, said, names),
      text,
      own,
      ...(shared.some(({ relayed }) => relayed) ? { relayed: true } : {}),
      sender: own ? undefined : `slack:${author}`,
      attachments: attachments.length === 0 ? undefined : attachments,
    },
    people: own || toldName(said) !== undefined ? people : [author, ...people],
  };
}

/** A timestamp in milliseconds. A counter follows the seconds, so it is not a floating point number. */
export function millisecondsOf(ts: string): number {
  const [seconds = '0', fraction = ''] = ts.split('.');
  return Number(seconds) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/**
 * What a message or an attachment says in Slack's markup: its text, or else the words of its blocks. The text of an app
 * may be a short notice of what its blocks say in full.
 */
export function markupOf({
  text,
  blocks,
  bot_id: app,
}: Partial<Pick<SlackPayload, 'text' | 'blocks' | 'bot_id'>>): string {
  if (text && !app) return text;
  const words = blocksMarkup(blocks);
  return text && text.length >= words.length ? text : words;
}

/** The quotes of a message: what others wrote, and what an app attached to its own message (M11). */
function sharedOf(said: SlackPayload, me: SlackIdentity, names: Names): readonly Quote[] {
  return (said.attachments ?? []).flatMap((each) => {
    const text = textOf(each, me, names);
    const attachments = toAttachments(each.files);
    const files = attachments.length === 0 ? {} : { attachments };
    return text === '' ? [] : [{ ...authorOf(each, said, me, names), text, note: noteOf(each), ...files }];
  });
}

/**
 * The words of an attachment. `fallback` is Slack's plain summary of the other fields, so it counts only if they are
 * empty.
 */
function textOf(each: SharedMessage, me: SlackIdentity, names: Names): string {
  const { pretext, title, title_link: link, fields, footer, fallback, message_blocks: messages } = each;
  const forwarded = (messages ?? []).map(({ message }) => markupOf({ blocks: message?.blocks }));
  const isMessage = each.is_share === true || each.is_msg_unfurl === true;
  const parts = [
    pretext,
    title && link ? `<${link}|${title}>` : title,
    markupOf(each) || forwarded.filter((one) => one !== '').join('\n'),
    ...(fields ?? []).map((field) => [field.title, field.value].filter(Boolean).join(': ')),
    // For a message, it only names the place.
    isMessage ? '' : footer,
  ].filter(Boolean);
  const words = parts.length === 0 ? [fallback] : parts;
  const plain = words.map((piece) => plainSlackText(piece ?? '', me.user, names).text);
  const carried = toAttachments(each.files).map(({ name }) => `[${name}]`);
  return [...plain, ...carried].filter((piece) => piece !== '').join('\n');
}

/** Who wrote an attachment. If nobody is named, it is the app that wrote the message. */
function authorOf(
  each: SharedMessage,
  said: SlackPayload,
  me: SlackIdentity,
  names: Names,
): Omit<Quote, 'text'> {
  const { author_id: id, author_name: name, service_name: service } = each;
  const shown = slackName(name, names.get(id ?? ''), service) ?? (id || undefined);
  if (id && id === me.user) return { name: shown ?? id, own: true, relayed: true };
  if (shown !== undefined) return { name: shown, own: false, sender: id ? `slack:${id}` : undefined };
  const app = said.bot_id && noteOf(each) === byApp ? said.user || said.bot_id : undefined;
  if (app === undefined) return { name: 'somebody', own: false };
  return { name: nameOf(app, said, names), own: false, sender: `slack:${app}` };
}

const byApp = 'attached by an app';

function noteOf({ is_share: share, is_msg_unfurl: linked, from_url: url }: SharedMessage): string {
  if (share) return 'shared message';
  if (linked) return 'linked message';
  return url ? `preview of ${url}` : byApp;
}

/** Files of a message. Those of other organizations have only an id, and what was deleted leaves a stub. */
function toAttachments(files: readonly SaidFile[] | null | undefined): readonly Attachment[] {
  return (files ?? []).map((file) => {
    const mime = file.mimetype || undefined;
    return {
      kind: kindOf(mime),
      name: file.name || file.title || 'file',
      mime,
      size: typeof file.size === 'number' ? file.size : undefined,
      ref: file.id || undefined,
      missing: missingOf(file),
      transcript: transcriptOf(file),
    };
  });
}

function missingOf({ mode, file_access: access }: SaidFile): Attachment['missing'] {
  if (mode === 'hidden_by_limit') return 'hidden';
  return mode === 'tombstone' || access === 'file_not_found' ? 'deleted' : undefined;
}

/** What Slack heard in a voice or video clip. */
function transcriptOf({ transcription }: SaidFile): Attachment['transcript'] {
  const heard = transcription?.preview?.content?.trim() ?? '';
  return heard === '' ? undefined : { text: heard, whole: transcription?.preview?.has_more !== true };
}

function kindOf(mime: string | undefined): Attachment['kind'] {
  const family = mime?.split('/')[0];
  if (family === 'image') return 'photo';
  if (family === 'audio' || family === 'video') return family;
  return mime === undefined ? 'other' : 'document';
}
