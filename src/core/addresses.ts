import type { Message } from './message.ts';

import { withoutEnd } from '../lib/text/text.ts';

/** Addresses of one message that are remembered, and the characters of one. */
const most = 50;
const longest = 2_000;

/**
 * An http(s) address as two that ask for the same are equal: scheme, host, port, path and query, without the part that is not
 * sent. Nothing for what is none, or names a user.
 */
export function addressOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url.href;
}

/** Those that a person wrote where they could see them: a link behind other words may be one they only pasted (S7). */
export function addressesTyped({
  text,
  hiddenLinks = [],
}: Pick<Message, 'text' | 'hiddenLinks'>): readonly string[] {
  return addressesIn(hiddenLinks.reduce((left, link) => left.replaceAll(`(${link})`, ''), text));
}

/** The whole http(s) addresses in a text that a person wrote, as `addressOf` gives them: also without the marks that end a sentence. */
export function addressesIn(text: string): readonly string[] {
  const written = (text.match(/https?:\/\/[^\s<>"]+/gi) ?? []).filter(({ length }) => length <= longest);
  const meant = written.slice(0, most).flatMap((each) => [each, withoutEnd(each, ".,;:!?'*_`|~)]}")]);
  return [...new Set(meant.flatMap((each) => addressOf(each) ?? []))];
}
