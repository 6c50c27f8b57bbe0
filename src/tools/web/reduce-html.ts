type ReducedHtml = Readonly<{
  /** Known elements only, at most 10,000, with no attributes but absolute `href`s. */
  html: string;
  /** The page's title, with its character references. */
  title: string;
  cut: boolean;
}>;

/** Limits: characters of HTML, characters of text, tags, and depth of nesting. */
const htmlLimit = 250_000;
const textLimit = 60_000;
const tagLimit = 10_000;
const deepest = 8;
/** If `main` has less text than this, it is an empty shell, and the whole page counts. */
const smallestMain = 200;

/** Inline elements and what they become. One within itself has no meaning, so it is left out. */
const inline: ReadonlyMap<string, string> = new Map([
  ...['a', 'del'].map((name) => [name, name] as const),
  ...['b', 'strong'].map((name) => [name, 'strong'] as const),
  ...['i', 'em'].map((name) => [name, 'em'] as const),
  ...['code', 'kbd', 'samp', 'tt'].map((name) => [name, 'code'] as const),
  ...['s', 'strike'].map((name) => [name, 'del'] as const),
]);
const nesting = new Set('blockquote dl ol pre table ul'.split(' '));
const flat = new Set('br caption dd dt h1 h2 h3 h4 h5 h6 hr li p tbody td tfoot th thead tr'.split(' '));
const unmarked = new Set('abbr cite font label mark q small span sub sup time u var wbr'.split(' '));
/** Elements whose content is raw text up to their end tag. They are skipped. */
const raw = new Set('iframe noembed noframes script style textarea title xmp'.split(' '));
/** Elements that are left out with everything in them. */
const dropped = new Set('audio canvas datalist math noscript object select svg template video'.split(' '));
/** Elements that are left out unless the page has `main`. */
const around = new Set(['nav', 'footer']);

/**
 * Reduces a page in linear time, because a real parser and converter take minutes for some pages of 2 MB. Links are
 * relative to `base`.
 */
export function reduceHtml(html: string, base: string): ReducedHtml {
  const main = /<main[\s>]/i.exec(html);
  if (main !== null) {
    const end = lastMatch(/<\/main\s*>/gi, html);
    const inner = html.slice(main.index, end === -1 || end < main.index ? undefined : end);
    const part = reducePart(inner, base, new Set());
    if (part.textLength >= smallestMain) return { ...part, title: titleOf(html) };
  }
  return { ...reducePart(html, base, around), title: titleOf(html) };
}

function titleOf(html: string): string {
  return /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html)?.[1] ?? '';
}

function lastMatch(pattern: RegExp, text: string): number {
  let last = -1;
  for (const match of text.matchAll(pattern)) last = match.index;
  return last;
}

/** The converter's time is quadratic in the length of blanks. */
const longestBlank = 200;
const longBlank = new RegExp(`\\s{${longestBlank},}`, 'g');

type Part = Readonly<{ html: string; textLength: number; cut: boolean }>;

function reducePart(html: string, base: string, leaveOut: ReadonlySet<string>): Part {
  const out: string[] = [];
  let [size, textLength, position] = [0, 0, 0];
  let gone: Readonly<{ name: string; depth: number }> | undefined;
  let tags = 0;
  const open = new Set<string>();
  const nested: string[] = [];
  const tooDeep = new Map<string, number>();
  const emit = (piece: string): void => {
    out.push(piece);
    size += piece.length;
  };
  const emitTag = (piece: string): void => {
    if (piece === boundary && out.at(-1) === boundary) return;
    emit(piece);
    tags += 1;
  };

  while (position < html.length) {
    if (size > htmlLimit || textLength > textLimit || tags > tagLimit)
      return { html: out.join(''), textLength, cut: true };
    const next = html.indexOf('<', position);
    const text = html.slice(position, next === -1 ? undefined : next);
    if (gone === undefined && text !== '') {
      const kept = text.slice(0, textLimit + 1).replace(longBlank, (blank) => blank.slice(0, longestBlank));
      emit(kept);
      textLength += kept.length - (kept.match(/\s+/g)?.join('').length ?? 0);
    }
    if (next === -1) break;
    const tag = readTag(html, next);
    position = tag.end;
    if (tag.kind === 'text') {
      if (gone === undefined) emit('&lt;');
      continue;
    }
    if (tag.kind === 'skip') continue;
    const { name, closes } = tag;
    if (gone !== undefined) {
      const depth = gone.name !== name ? gone.depth : gone.depth + (closes ? -1 : 1);
      gone = depth === 0 ? undefined : { name: gone.name, depth };
    } else if (raw.has(name)) {
      if (!closes) position = endOfRaw(html, name, position);
    } else if (dropped.has(name) || leaveOut.has(name)) {
      if (!closes && !tag.empty) gone = { name, depth: 1 };
    } else if (inline.has(name)) mark(inline.get(name) ?? name, tag);
    else if (nesting.has(name)) nest(name, closes);
    else if (flat.has(name)) emitTag(closes ? `</${name}>` : `<${name}>`);
    else if (name === 'img') emit(imageText(tag.attributes));
    else if (!unmarked.has(name)) emitTag(boundary);
  }
  return { html: out.join(''), textLength, cut: false };

  function mark(name: string, { closes, attributes }: Tag): void {
    if (closes && open.delete(name)) emitTag(`</${name}>`);
    if (closes || (open.has(name) && name !== 'a')) return;
    const href = name === 'a' ? absolute(attributes.get('href'), base) : '';
    if (href === undefined) return;
    open.add(name);
    emitTag(href === '' ? `<${name}>` : `<a href="${href}">`);
  }

  function nest(name: string, closes: boolean): void {
    const over = tooDeep.get(name) ?? 0;
    if (!closes && nested.length >= deepest) tooDeep.set(name, over + 1);
    else if (!closes) {
      nested.push(name);
      emitTag(`<${name}>`);
    } else if (over > 0) tooDeep.set(name, over - 1);
    else if (nested.includes(name)) {
      nested.splice(nested.lastIndexOf(name), 1);
      emitTag(`</${name}>`);
    }
  }
}

const boundary = '<p></p>';

type Tag = Readonly<{
  kind: 'tag';
  end: number;
  name: string;
  closes: boolean;
  /** `<svg/>` closes itself and has no end tag. */
  empty: boolean;
  attributes: ReadonlyMap<string, string>;
}>;

/** Reads what begins at `<`: a tag, something to skip such as a comment, or plain text. */
function readTag(
  html: string,
  start: number,
): Tag | Readonly<{ kind: 'skip'; end: number }> | Readonly<{ kind: 'text'; end: number }> {
  const after = (text: string, from: number): number => {
    const found = html.indexOf(text, from);
    return found === -1 ? html.length : found + text.length;
  };
  if (html.startsWith('<!--', start)) return { kind: 'skip', end: after('-->', start + 4) };
  if (/[!?]/.test(html[start + 1] ?? '')) return { kind: 'skip', end: after('>', start) };
  tagName.lastIndex = start;
  const [opening, slash = '', name = ''] = tagName.exec(html) ?? [];
  if (opening === undefined) return { kind: 'text', end: start + 1 };
  const attributes = new Map<string, string>();
  let position = start + opening.length;
  let end = html.length;
  while (position < html.length) {
    attribute.lastIndex = position;
    const [whole = '', key, value = ''] = attribute.exec(html) ?? [];
    position += whole.length;
    if (key !== undefined && !attributes.has(key.toLowerCase())) {
      attributes.set(key.toLowerCase(), value.replace(/^(["'])([\s\S]*)\1$/, '$2'));
    }
    if (html[position] === '>') {
      end = position + 1;
      break;
    }
    if (whole === '') position += 1;
  }
  const empty = html[end - 2] === '/';
  return { kind: 'tag', end, name: name.toLowerCase(), closes: slash !== '', empty, attributes };
}

const tagName = /<(\/?)([a-z][^\s/>]{0,50})/iy;
const attribute = /[\s/]*(?:([^\s=>/"']+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>"']*))?)?/y;

function endOfRaw(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/** Makes a link absolute. Undefined for links within the page, which lead nowhere else, and for other schemes. */
function absolute(href: string | undefined, base: string): string | undefined {
  if (href === undefined || href.length > 2_000 || href.trim().startsWith('#')) return undefined;
  const url = URL.parse(href.replaceAll('&amp;', '&'), base);
  if (url === null || !/^(https?|mailto):$/.test(url.protocol)) return undefined;
  return url.href.replaceAll('&', '&amp;').replaceAll('"', '%22').replaceAll('<', '%3C');
}

function imageText(attributes: ReadonlyMap<string, string>): string {
  const alt = (attributes.get('alt') ?? '').trim().slice(0, 300);
  return alt === '' ? '' : ` [image: ${alt.replaceAll('<', '&lt;')}] `;
}
