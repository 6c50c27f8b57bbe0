import type { Chat, ExternalReplyInfo, Message, MessageOrigin, MessageEntity } from 'grammy/types';
import { textsIn } from '../texts-in.ts';
import { inFront, markEdits, type Edit } from './mark-edits.ts';
import type { Quote, QuotedWords } from '../../core/message.ts';

type Content = Partial<Message> | ExternalReplyInfo;

type Author = Omit<Quote, 'text' | 'note'>;

/** Who wrote a forwarded message. Hidden accounts have only a name. */
export function authorOf(origin: MessageOrigin, me: Me): Author {
  switch (origin.type) {
    case 'user': {
      const { id, first_name, last_name } = origin.sender_user;
      const name = [first_name, last_name].filter(Boolean).join(' ');
      return id === me.id ? { name, own: true } : { name, own: false, sender: `telegram:${id}` };
    }
    case 'hidden_user':
      return { name: origin.sender_user_name, own: false };
    case 'chat':
      return ofChat(origin.sender_chat);
    case 'channel':
      return ofChat(origin.chat);
  }
}

/** Marks words of the bot that somebody passed on. */
export function relayedBy(origin: MessageOrigin | undefined, me: Me): Pick<Quote, 'relayed'> {
  return origin !== undefined && authorOf(origin, me).own ? { relayed: true } : {};
}

function ofChat(chat: Chat): Author {
  return { name: titleOf(chat), own: false, sender: `telegram:${chat.id}` };
}

function titleOf(chat: Chat): string {
  return chat.title ?? chat.first_name ?? String(chat.id);
}

export function thingOf(content: Content): QuotedWords | undefined {
  const { venue, location, contact, poll, dice, checklist, game, invoice, story, paid_media: paid } = content;
  if (venue !== undefined)
    return said('place', `${venue.title}, ${venue.address} (${placeOf(venue.location)})`);
  if (location !== undefined)
    return said(location.live_period === undefined ? 'location' : 'live location', placeOf(location));
  if (contact !== undefined) {
    const name = [contact.first_name, contact.last_name].filter(Boolean).join(' ');
    return said('contact', `${name}, ${contact.phone_number}`);
  }
  if (poll !== undefined)
    return said('poll', [poll.question, ...poll.options.map(({ text }) => `- ${text}`)]);
  if (dice !== undefined) return said('dice', `${dice.emoji} ${dice.value}`);
  if (checklist !== undefined) {
    const tasks = checklist.tasks.map(
      ({ text, completion_date: done }) => `- [${done === undefined ? ' ' : 'x'}] ${text}`,
    );
    return said('checklist', [checklist.title, ...tasks]);
  }
  if (game !== undefined) return said('game', [game.title, game.description]);
  if (invoice !== undefined) {
    const price = `${invoice.total_amount} of the smallest unit of ${invoice.currency}`;
    return said('invoice', [invoice.title, invoice.description, price]);
  }
  if (story !== undefined) return said('story', `A story of ${titleOf(story.chat)}. Bots can't see stories.`);
  if (paid !== undefined) return said('paid media', `Media for ${paid.star_count} stars, not shown to bots.`);
  return 'chat' in content && 'date' in content ? serviceThingOf(content) : undefined;
}

function serviceThingOf(content: Partial<Message>): QuotedWords | undefined {
  const { users_shared: users, chat_shared: chat, web_app_data: app, rich_message: rich } = content;
  if (users !== undefined) {
    const each = users.users.map(({ user_id, first_name, last_name, username }) =>
      [first_name, last_name, username && `@${username}`, `telegram:${user_id}`].filter(Boolean).join(' '),
    );
    return said('shared people', each);
  }
  if (chat !== undefined) return said('shared chat', `${chat.title ?? ''} telegram:${chat.chat_id}`.trim());
  if (app !== undefined) return said('web app data', [app.button_text, app.data]);
  if (rich !== undefined) return said('rich message', textsIn(rich.blocks) || 'No text in it can be read.');
  const kind = Object.keys(content).find((key) => !envelope.has(key) && !isNotice.test(key));
  if (content.chat?.type !== 'private' || kind === undefined) return undefined;
  return said(kind.replaceAll('_', ' '), 'The content of this kind of message cannot be read here.');
}

const envelope: ReadonlySet<string> = new Set([
  ...['message_id', 'message_thread_id', 'from', 'sender_chat', 'date', 'chat', 'is_topic_message'],
  ...['sender_tag', 'sender_boost_count', 'sender_business_bot', 'forward_origin', 'reply_to_message'],
  ...['reply_to_checklist_task_id', 'reply_to_poll_option_id', 'reply_to_story', 'external_reply', 'quote'],
  ...['is_paid_post', 'via_bot', 'edit_date', 'has_protected_content', 'is_from_offline', 'media_group_id'],
  ...['author_signature', 'link_preview_options', 'effect_id', 'paid_star_count', 'reply_markup', 'text'],
  ...['photo', 'animation', 'document', 'audio', 'voice', 'video', 'video_note', 'sticker'],
  ...['entities', 'caption', 'caption_entities', 'show_caption_above_media', 'has_media_spoiler'],
]);

/** Matches Telegram's own notices, which nobody said. */
const isNotice =
  /^(?:new_|left_|delete_|group_|supergroup_|channel_|forum_|general_|video_chat_|message_auto_|migrate_|pinned_|chat_|community_|boost_|giveaway|suggested_post_|checklist_tasks_|poll_option_|managed_bot_|proximity_|write_access_|connected_|passport_|successful_|refunded_|gift|unique_gift|direct_message_price_|paid_message_price_)/;

function said(note: string, text: string | readonly string[]): QuotedWords {
  return { note, text: typeof text === 'string' ? text : text.filter((line) => line !== '').join('\n') };
}

function placeOf({ latitude, longitude }: Readonly<{ latitude: number; longitude: number }>): string {
  return `${latitude}, ${longitude}`;
}

export type Me = Readonly<{
  id: number;
  username: string;
  /** Commands that count without `@bot`; undefined means all of them. */
  commands?: ReadonlySet<string>;
}>;

export type MessageText = Readonly<{
  /**
   * The text without the bot's mention. The address of a link follows its words, and marks that change the meaning are
   * Markdown.
   */
  text: string;
  /** The same without marks, for what has to be read literally, such as commands. */
  bare: string;
  mentioned: boolean;
  hiddenLinks: readonly string[];
}>;

/**
 * Reads a text with its entities, whose offsets are UTF-16 units. A mention of the bot does not count inside of code.
 */
export function readMessageText(text: string, entities: readonly MessageEntity[], me: Me): MessageText {
  const own = entities.filter((entity) => isOwn(text, entity, me));
  const links = entities
    .filter((entity) => entity.type === 'text_link')
    .filter((entity) => isHidden(text, entity));
  const needed: readonly Edit[] = [
    ...own.map(({ offset, length }) => ({ at: offset, end: offset + length, write: '', rank: -1 })),
    ...links.map(({ offset, length, url }) => ({
      at: offset + length,
      write: ` (${url})`,
      rank: inFront,
    })),
  ];
  const marks = markEdits(text, entities);
  const bare = edited(text, needed);
  return {
    bare,
    text: marks.length === 0 ? bare : edited(text, [...needed, ...marks]),
    mentioned: own.length > 0,
    hiddenLinks: links.map(({ url }) => url),
  };
}

function edited(text: string, edits: readonly Edit[]): string {
  // Applied from the end, so that offsets stay valid.
  const order = [...edits].sort((a, b) => b.at - a.at || a.rank - b.rank);
  return order
    .reduce(
      (left, { at, end, write }) =>
        end === undefined ? left.slice(0, at) + write + left.slice(at) : cut(left, at, end),
      text,
    )
    .trim();
}

function isHidden(text: string, { offset, length, url }: MessageEntity.TextLinkMessageEntity): boolean {
  const bare = (address: string): string => address.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '');
  return bare(text.slice(offset, offset + length).trim()) !== bare(url);
}

function isOwn(text: string, entity: MessageEntity, me: Me): boolean {
  if (entity.type === 'text_mention') return entity.user.id === me.id;
  if (entity.type !== 'mention') return false;
  const name = text.slice(entity.offset + 1, entity.offset + entity.length);
  return name.toLowerCase() === me.username.toLowerCase();
}

/** Removes a piece, together with a space or comma beside it. */
function cut(text: string, start: number, end: number): string {
  const before = text.slice(0, start);
  const after = text.slice(end);
  if (before.trim() === '') return after.replace(/^\s*[,:]?\s*/, '');
  return /\s$/.test(before) ? before + after.replace(/^[^\S\n]/, '') : before + after;
}
