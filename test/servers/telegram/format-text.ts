import { badRequest } from './bot-api-error.ts';
import { detectEntities } from './detect-entities.ts';
import { sortEntities, type Entity } from './entity.ts';
import { parseHtml, type Formatted } from './parse-html.ts';

/** UTF-16 units after entities parsing. */
const longestText = 4096;
/** Bytes as sent. */
const longestRawText = 32_768;

/** UTF-16 units after entities parsing. */
const longestCaption = 1024;

/** What becomes of the text of a message: parsed, trimmed, entities found. Throws BotApiError as the platform would. */
export function formatText(raw: string, parseMode: string | undefined): Formatted {
  const formatted = format(raw, parseMode);
  if (formatted.text === '') throw badRequest('message text is empty');
  if (formatted.text.length > longestText) throw badRequest('message is too long');
  return formatted;
}

/** The same for what stands below a file, which may be nothing. */
export function formatCaption(raw: string, parseMode: string | undefined): Formatted {
  const formatted = format(raw, parseMode);
  if (formatted.text.length > longestCaption) throw badRequest('message caption is too long');
  return formatted;
}

function format(raw: string, parseMode: string | undefined): Formatted {
  if (Buffer.byteLength(raw) > longestRawText) throw badRequest('text is too long');
  const clean = raw
    .replaceAll('\r', '')
    .replace(/\p{Cc}/gu, (one) => (one === '\n' || one === '\t' ? one : ' '));
  return trimmed(parse(clean, parseMode));
}

/** What a person types: no parse mode, entities found by the platform. */
export function withEntities(text: string, given: readonly Entity[] = []): Formatted {
  const isCovered = (entity: Entity): boolean => given.some((other) => overlap(entity, other));
  const found = detectEntities(text).filter((entity) => !isCovered(entity));
  return { text, entities: sortEntities([...given, ...found]) };
}

function parse(text: string, parseMode: string | undefined): Formatted {
  const mode = parseMode?.toLowerCase() ?? '';
  if (mode === '') return withEntities(text);
  if (mode !== 'html') throw badRequest('unsupported parse_mode');
  const parsed = parseHtml(text);
  const opaque = parsed.entities.filter(({ type }) => ['code', 'pre', 'text_link'].includes(type));
  const found = detectEntities(parsed.text).filter((entity) => !opaque.some((o) => overlap(entity, o)));
  return { text: parsed.text, entities: sortEntities([...parsed.entities, ...found]) };
}

function trimmed({ text, entities }: Formatted): Formatted {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  const kept = entities.flatMap((entity) => {
    const from = Math.max(start, entity.offset);
    const to = Math.min(end, entity.offset + entity.length);
    return to > from ? [{ ...entity, offset: from - start, length: to - from }] : [];
  });
  return { text: text.slice(start, Math.max(start, end)), entities: kept };
}

function overlap(a: Entity, b: Entity): boolean {
  return a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}
