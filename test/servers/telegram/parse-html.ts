import { badRequest } from './bot-api-error.ts';
import { decodeCharacter } from './decode-character.ts';
import { checkedLink } from './checked-link.ts';
import { sortEntities, type Entity } from './entity.ts';

export type Formatted = Readonly<{ text: string; entities: readonly Entity[] }>;

const simpleTags: Readonly<Record<string, Entity['type']>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
};
const otherTags = ['a', 'code', 'pre', 'blockquote', 'tg-emoji', 'tg-time'];

type Open = Readonly<{ tag: string; offset: number; attributes: ReadonlyMap<string, string> }>;

/**
 * Parses `parse_mode=HTML` as the Bot API does: offsets and lengths in UTF-16 units, errors with the platform's own
 * words and byte offsets. Throws BotApiError.
 */
export function parseHtml(input: string): Formatted {
  const source = createSource(input);
  const open: Open[] = [];
  const entities: Entity[] = [];
  let text = '';
  while (!source.atEnd()) {
    const character = source.peek();
    if (character === '<') {
      const start = source.bytes();
      if (source.peek(1) === '/') {
        const ended = open.pop();
        readEndTag(source, start, ended?.tag);
        if (ended !== undefined) addEntity(entities, ended, text);
      } else {
        const { tag, attributes } = readStartTag(source, start);
        open.push({ tag, attributes, offset: text.length });
      }
    } else {
      text += source.takeCharacter();
    }
  }
  const left = open.at(-1);
  if (left !== undefined) throw parseError(`Can't find end tag corresponding to start tag "${left.tag}"`);
  return { text, entities: sortEntities(entities.map(withoutLanguage)) };
}

type Source = ReturnType<typeof createSource>;

/** Reads characters and knows how many bytes it has passed. */
function createSource(input: string) {
  const characters = [...input];
  const state = { at: 0, bytes: 0 };
  const peek = (ahead = 0): string => characters[state.at + ahead] ?? '';
  const next = (): string => {
    const character = peek();
    state.at += 1;
    state.bytes += Buffer.byteLength(character);
    return character;
  };
  return {
    peek,
    next,
    atEnd: () => state.at >= characters.length,
    bytes: () => state.bytes,
    takeWhile(wanted: (character: string) => boolean): string {
      let taken = '';
      while (peek() !== '' && wanted(peek())) taken += next();
      return taken;
    },
    /** One character of text, `&lt;` and the like decoded. */
    takeCharacter(): string {
      const decoded = peek() === '&' ? decodeCharacter(characters.slice(state.at, state.at + 16)) : undefined;
      if (decoded === undefined) return next();
      for (let step = 0; step < decoded.length; step++) next();
      return decoded.character;
    },
  };
}

function readStartTag(
  source: Source,
  start: number,
): Readonly<{ tag: string; attributes: Map<string, string> }> {
  source.next();
  const tag = source.takeWhile((c) => !isSpace(c) && c !== '>').toLowerCase();
  if (source.atEnd()) throw parseError(`Unclosed start tag at byte offset ${start}`);
  if (!(tag in simpleTags) && !otherTags.includes(tag)) {
    throw parseError(`Unsupported start tag "${tag}" at byte offset ${start}`);
  }
  const attributes = new Map<string, string>();
  for (;;) {
    source.takeWhile(isSpace);
    if (source.atEnd()) throw parseError(`Unclosed start tag "${tag}" at byte offset ${start}`);
    if (source.peek() === '>') break;
    const name = source.takeWhile((c) => !isSpace(c) && c !== '=' && c !== '>').toLowerCase();
    if (name === '') throw parseError(`Empty attribute name in the tag "${tag}" at byte offset ${start}`);
    source.takeWhile(isSpace);
    if (source.peek() !== '=') {
      attributes.set(name, '');
      continue;
    }
    source.next();
    attributes.set(name, readValue(source, tag, start));
    // A list separator is skipped as the platform does.
    if (source.peek() === ',') source.next();
  }
  source.next();
  if (tag === 'span' && attributes.get('class') !== 'tg-spoiler') {
    throw parseError(`Tag "span" must have class "tg-spoiler" at byte offset ${start}`);
  }
  if (tag === 'tg-time') checkTimeFormat(attributes.get('format') ?? '');
  return { tag, attributes };
}

function readValue(source: Source, tag: string, start: number): string {
  source.takeWhile(isSpace);
  if (source.atEnd()) throw parseError(`Unclosed start tag "${tag}" at byte offset ${start}`);
  const quote = source.peek();
  let value = '';
  if (quote === '"' || quote === "'") {
    source.next();
    while (!source.atEnd() && source.peek() !== quote) value += source.takeCharacter();
    if (!source.atEnd()) source.next();
  } else {
    const tokenStart = source.bytes();
    value = source.takeWhile((c) => /[A-Za-z0-9.-]/.test(c)).toLowerCase();
    if (source.peek() !== '>' && !isSpace(source.peek())) {
      throw parseError(`Unexpected end of name token at byte offset ${tokenStart}`);
    }
  }
  if (source.atEnd()) throw parseError(`Unclosed start tag at byte offset ${start}`);
  return value;
}

function readEndTag(source: Source, start: number, expected: string | undefined): void {
  if (expected === undefined) throw parseError(`Unexpected end tag at byte offset ${start}`);
  source.next();
  source.next();
  const tag = source.takeWhile((c) => !isSpace(c) && c !== '>').toLowerCase();
  source.takeWhile(isSpace);
  if (source.peek() !== '>') throw parseError(`Unclosed end tag at byte offset ${start}`);
  source.next();
  if (tag !== '' && tag !== expected) {
    throw parseError(
      `Unmatched end tag at byte offset ${start}, expected "</${expected}>", found "</${tag}>"`,
    );
  }
}

function addEntity(entities: Entity[], { tag, offset, attributes }: Open, text: string): void {
  const length = text.length - offset;
  if (length === 0) return;
  const last = entities.at(-1);
  const inside = last?.offset === offset && last.length === length ? last : undefined;
  const simple = simpleTags[tag];
  if (simple !== undefined) entities.push({ type: simple, offset, length });
  else if (tag === 'blockquote') {
    const type = attributes.has('expandable') ? 'expandable_blockquote' : 'blockquote';
    entities.push({ type, offset, length });
  } else if (tag === 'a') {
    const link = checkedLink(attributes.get('href') || text.slice(offset));
    if (link !== undefined) entities.push({ type: 'text_link', offset, length, url: link });
  } else if (tag === 'tg-emoji') {
    entities.push({
      type: 'custom_emoji',
      offset,
      length,
      custom_emoji_id: attributes.get('emoji-id') ?? '',
    });
  } else if (tag === 'tg-time') {
    entities.push({ type: 'date_time', offset, length });
  } else if (tag === 'pre') {
    if (inside?.type === 'code' && inside.language)
      entities[entities.length - 1] = { ...inside, type: 'pre' };
    else entities.push({ type: 'pre', offset, length });
  } else {
    const language = /^language-(.+)$/s.exec(attributes.get('class') ?? '')?.[1];
    const marked = language === undefined ? {} : { language };
    if (inside?.type === 'pre' && language) entities[entities.length - 1] = { ...inside, ...marked };
    else entities.push({ type: 'code', offset, length, ...marked });
  }
}

/** A language belongs to `pre` only. */
function withoutLanguage({ language, ...entity }: Entity): Entity {
  return entity.type === 'pre' && language !== undefined ? { ...entity, language } : entity;
}

function checkTimeFormat(format: string): void {
  if (!/^(r|w?[dD]?[tT]?)$/i.test(format)) throw parseError('Invalid date format used');
}

function isSpace(character: string): boolean {
  return /^[ \t\n\r\v\f\0]$/.test(character);
}

function parseError(reason: string): Error {
  return badRequest(`can't parse entities: ${reason}`);
}
