/** A piece of formatting; offset and length in UTF-16 units. */
export type Entity = Readonly<{
  type:
    | 'mention'
    | 'bot_command'
    | 'url'
    | 'bold'
    | 'italic'
    | 'underline'
    | 'strikethrough'
    | 'spoiler'
    | 'blockquote'
    | 'expandable_blockquote'
    | 'code'
    | 'pre'
    | 'text_link'
    | 'text_mention'
    | 'custom_emoji'
    | 'date_time';
  offset: number;
  length: number;
  url?: string;
  language?: string;
  custom_emoji_id?: string;
  user?: Readonly<{ id: number; is_bot: boolean; first_name: string }>;
}>;

/** Outer before inner where two begin together and are as long: quotes, code, links, then letter shapes. */
const order: readonly Entity['type'][] = [
  'blockquote',
  'expandable_blockquote',
  'pre',
  'code',
  'text_link',
  'text_mention',
  'mention',
  'bot_command',
  'url',
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'custom_emoji',
  'date_time',
];

/** In the platform's order: by offset, the longer first, then by kind. */
export function sortEntities(entities: readonly Entity[]): readonly Entity[] {
  return [...entities].sort(
    (a, b) => a.offset - b.offset || b.length - a.length || order.indexOf(a.type) - order.indexOf(b.type),
  );
}
