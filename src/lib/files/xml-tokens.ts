import type { Budget } from './document-budget.ts';

/** A tag, or the text between two tags. `tag` has no prefix, because prefixes vary. */
export type Token = Readonly<{
  tag?: string;
  closes: boolean;
  empty: boolean;
  attributes: string;
  text: string;
}>;

/** Tags and texts of XML in linear time, until the budget has no tokens left. Comments are left out (S15). */
export function* tokensOf(xml: string, budget: Budget): Iterable<Token> {
  const find = createFinder(xml);
  for (let at = 0; at < xml.length && budget.token();) {
    const open = find('<', at);
    if (open > at) yield { ...nothing, text: unescaped(xml.slice(at, open)) };
    if (open === xml.length) return;
    if (xml.startsWith('<!--', open)) at = find('-->', open) + 3;
    else if (xml.startsWith('<![CDATA[', open)) {
      at = find(']]>', open) + 3;
      yield { ...nothing, text: xml.slice(open + 9, at - 3) };
    } else {
      const close = find('>', open + 1);
      const next = find('<', open + 1);
      at = Math.min(close + 1, next);
      const mark = close < next ? markOf(xml.slice(open + 1, close)) : undefined;
      if (mark !== undefined) yield mark;
    }
  }
}

const nothing = { closes: false, empty: false, attributes: '', text: '' };

/** Looks for each word only once in a stretch, however often it is asked. */
function createFinder(text: string): (word: string, from: number) => number {
  const found = new Map<string, number>();
  return (word, from) => {
    const known = found.get(word);
    if (known !== undefined && known >= from) return known;
    const at = text.indexOf(word, from);
    found.set(word, at === -1 ? text.length : at);
    return at === -1 ? text.length : at;
  };
}

function markOf(inside: string): Token | undefined {
  const [head, slash, tag] = /^(\/?)(?:[\w.-]{1,100}:)?([\w.-]{1,100})(?=[\s/]|$)/.exec(inside) ?? [];
  if (head === undefined || tag === undefined) return undefined;
  const attributes = inside.slice(head.length);
  return { tag, closes: slash === '/', empty: attributes.endsWith('/'), attributes, text: '' };
}

/** The value of an attribute, or empty. `name` matches with any prefix. */
export function attributeOf(attributes: string, name: string): string {
  const found = new RegExp(`(?:^|\\s)(?:[\\w.-]{1,100}:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(
    attributes,
  );
  return unescaped(found?.[1] ?? found?.[2] ?? '');
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{2,4});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return named[name] ?? whole;
    const code = Number(name.slice(1).replace(/^x/i, '0x'));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}
