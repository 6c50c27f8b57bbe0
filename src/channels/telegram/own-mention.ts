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

/**
 * Whether a text mentions the bot, and the text without it. Only entities count, so a mention inside code is none;
 * offsets are UTF-16 units, as the platform counts and as strings are indexed.
 */
export function takeOwnMention(
  text: string,
  entities: readonly MessageEntity[],
  me: Me,
): Readonly<{ text: string; mentioned: boolean }> {
  const own = entities.filter((entity) => isOwn(text, entity, me)).sort((a, b) => b.offset - a.offset);
  const rest = own.reduce((left, { offset, length }) => cut(left, offset, offset + length), text);
  return { text: rest.trim(), mentioned: own.length > 0 };
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
