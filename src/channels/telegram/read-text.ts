import type { MessageEntity } from 'grammy/types';

/** Who the bot is, as `getMe` says. */
export type Me = Readonly<{
  id: number;
  username: string;
  /**
   * Names that `/name` without `@bot` means this bot by in a group; as long as they are not known every `/name` does.
   */
  commands?: ReadonlySet<string>;
}>;

/** A text as the model reads it, with what its entities tell. */
export type ReadText = Readonly<{
  /** Without the bot's own mention; the address of a link stands behind its words. */
  text: string;
  mentioned: boolean;
  /** Addresses behind words that are not they. */
  hiddenLinks: readonly string[];
}>;

/**
 * Reads a text by its entities. Only they count, so a mention inside code is none; offsets are UTF-16 units, as the
 * platform counts and as strings are indexed.
 */
export function readText(text: string, entities: readonly MessageEntity[], me: Me): ReadText {
  const own = entities.filter((entity) => isOwn(text, entity, me));
  const links = entities
    .filter((entity) => entity.type === 'text_link')
    .filter((entity) => isHidden(text, entity));
  // From the end on, so that what is before stays where it is.
  const changes = [...own, ...links].sort((a, b) => b.offset - a.offset);
  const rest = changes.reduce((left, entity) => {
    const end = entity.offset + entity.length;
    if (entity.type !== 'text_link') return cut(left, entity.offset, end);
    return `${left.slice(0, end)} (${entity.url})${left.slice(end)}`;
  }, text);
  const hiddenLinks = links.flatMap((entity) => (entity.type === 'text_link' ? [entity.url] : []));
  return { text: rest.trim(), mentioned: own.length > 0, hiddenLinks };
}

/** The words of a link are not its address. */
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

/** Takes the name out, with one neighbouring space, or with the comma or colon of an address: `@bot, hello`. */
function cut(text: string, start: number, end: number): string {
  const before = text.slice(0, start);
  const after = text.slice(end);
  if (before.trim() === '') return after.replace(/^\s*[,:]?\s*/, '');
  return /\s$/.test(before) ? before + after.replace(/^[^\S\n]/, '') : before + after;
}
