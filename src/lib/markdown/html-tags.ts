import type { Inline } from './document.ts';
import { link, mark, text } from './inlines.ts';

/** One tag of a pair that waits for the other one. `source` is how it was written. */
export type Tag = Readonly<{
  type: 'tag';
  name: string;
  source: string;
  closes: boolean;
  /** The address of an `<a>` tag. */
  address?: string;
}>;

type Write = (children: readonly Inline[], tag: Tag) => readonly Inline[];

/** Matches an HTML comment, a tag, or a link as Slack writes it, `<address|label>`. */
const found =
  /^<(?:!--.*--|(?<closes>\/?)(?<name>[a-z][a-z0-9]*)(?<attributes>\s.*?)?\s*\/?|(?<address>(?:https?:\/\/|mailto:)[^|\s]+)\|(?<label>.+))>$/i;

const asIs: Write = (children) => children;

const pairs: ReadonlyMap<string, Write> = new Map<string, Write>([
  ...['b', 'strong', 'summary'].map((name) => [name, marked('strong')] as const),
  ...['i', 'em', 'u', 'ins', 'cite', 'var', 'dfn'].map((name) => [name, marked('emphasis')] as const),
  ...['s', 'del', 'strike'].map((name) => [name, marked('delete')] as const),
  ...['code', 'kbd', 'samp', 'tt'].map((name) => [name, code] as const),
  ...['mark', 'small', 'big', 'font', 'span', 'abbr'].map((name) => [name, asIs] as const),
  ['sub', (children) => shifted(children, '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎', '_')],
  ['sup', (children) => shifted(children, '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾', '^')],
  ['a', (children, { address = '' }) => link(address, children)],
]);

/** Tags that lay out a page. They are removed where they begin or end a line, whether in pairs or not. */
const layout: ReadonlySet<string> = new Set(['details', 'p', 'div', 'center', 'section', 'article']);

export function isTag(source: string): boolean {
  if (!source.endsWith('>')) return false;
  const { name, address } = found.exec(source)?.groups ?? {};
  if (name === undefined) return address !== undefined || /^<!--.*-->$/.test(source);
  return (
    ['br', 'img'].includes(name.toLowerCase()) ||
    layout.has(name.toLowerCase()) ||
    pairs.has(name.toLowerCase())
  );
}

export function isDunder(source: string, next: string): boolean {
  return /^__[a-z][a-z0-9]*(?:_[a-z0-9]+)*__$/.test(source) && !/\w/.test(next);
}

const formulas = [
  { open: '\\(', close: '\\)' },
  { open: '\\[', close: '\\]' },
  { open: '$$', close: '$$' },
  { open: '$', close: '$' },
] as const;

/**
 * Whether text may begin a formula. It ends before the next one begins, for linear time (S9). The character before the
 * last may be the start of one, too.
 */
export function beginsFormula(source: string): boolean {
  if (source.length < 3)
    return formulas.some(({ open }) => open.startsWith(source) || source.startsWith(open));
  if (source.startsWith('$')) return source.startsWith('$$') || source.at(-2) !== '$';
  return source.length < 4 || !/\\[([]/.test(source.slice(-2));
}

/**
 * Whether text is a formula. In single dollars and square brackets it needs a sign of TeX, because prices and escaped
 * brackets are not formulas.
 */
export function isFormula(source: string, next: string): boolean {
  const { open, close } = formulas.find((one) => source.startsWith(one.open)) ?? {};
  if (open === undefined || !source.endsWith(close ?? '') || source.length <= 2 * open.length) return false;
  const inner = source.slice(open.length, -open.length);
  if (inner.trim() === '') return false;
  const isTex = /[\\^_{=]|^\s*[a-z]\s*$/i.test(inner);
  if (open !== '$') return isTex || open !== '\\[';
  return isTex && !/^\s|\s$/.test(inner) && !/\w/.test(next);
}

function formulaIn(source: string): string {
  const sides = /^(?:\\.|\$\$?)/.exec(source)?.[0].length ?? 0;
  return source.slice(sides, -sides).trim().replace(/\s+/g, ' ');
}

/**
 * The nodes for a piece of text for which `isTag`, `isFormula` or `isDunder` holds. `atEdge` is true if it begins or
 * ends its line.
 */
export function readTag(source: string, atEdge: boolean): readonly (Inline | Tag)[] {
  const { closes, name: written, attributes = '', address, label } = found.exec(source)?.groups ?? {};
  if (address !== undefined) return link(address, text(label));
  if (source.startsWith('_')) return text(source);
  if (/^[\\$]/.test(source)) return [{ type: 'inlineCode', value: formulaIn(source) }];
  if (written === undefined) return [];
  const name = written.toLowerCase();
  if (name === 'br') return [{ type: 'break' }];
  if (name === 'img') return link(attribute(attributes, 'src') ?? '', text(attribute(attributes, 'alt')));
  if (layout.has(name)) return atEdge ? [] : text(source);
  return [{ type: 'tag', name, source, closes: closes === '/', address: attribute(attributes, 'href') }];
}

/** Joins tags into marks, whose content is given to `finish`. A tag without its other half stays text. */
export function pairTags(
  nodes: readonly (Inline | Tag)[],
  finish: (content: readonly Inline[]) => readonly Inline[],
): readonly Inline[] {
  if (nodes.every((node): node is Inline => node.type !== 'tag')) return nodes;
  const levels: { tag?: Tag; children: Inline[] }[] = [{ children: [] }];
  const open = new Map<string, number>();
  const count = (name: string, change: number): void => {
    open.set(name, (open.get(name) ?? 0) + change);
  };
  const closeLast = (write: (tag: Tag, children: readonly Inline[]) => readonly Inline[]): string => {
    const { tag, children } = levels.pop() ?? { children: [] };
    if (tag === undefined) return '';
    count(tag.name, -1);
    levels.at(-1)?.children.push(...write(tag, children));
    return tag.name;
  };
  const unpaired = (tag: Tag, children: readonly Inline[]): readonly Inline[] => [
    ...text(tag.source),
    ...children,
  ];
  for (const node of nodes) {
    if (node.type !== 'tag') levels.at(-1)?.children.push(node);
    else if (!node.closes) {
      levels.push({ tag: node, children: [] });
      count(node.name, 1);
    } else if ((open.get(node.name) ?? 0) === 0) levels.at(-1)?.children.push(...text(node.source));
    else {
      while (levels.at(-1)?.tag?.name !== node.name) closeLast(unpaired);
      const write = pairs.get(node.name) ?? asIs;
      closeLast((tag, children) => write(write === code ? children : finish(children), tag));
    }
  }
  while (levels.length > 1) closeLast(unpaired);
  return levels[0]?.children ?? [];
}

function marked(type: 'strong' | 'emphasis' | 'delete'): Write {
  return (children) => mark(type, children);
}

/** Code can't contain other marks. If there are some, only the tags are removed. */
function code(children: readonly Inline[]): readonly Inline[] {
  const [only, ...more] = children;
  return only?.type === 'text' && more.length === 0 ? [{ type: 'inlineCode', value: only.value }] : children;
}

/** Raises or lowers digits and signs, for which Unicode has characters. Other words follow a `^` or `_`. */
function shifted(children: readonly Inline[], digits: string, sign: string): readonly Inline[] {
  const [only, ...more] = children;
  if (only?.type !== 'text' || more.length > 0) return children;
  const characters = [...only.value].map((one) => [...digits]['0123456789+-=()'.indexOf(one)]);
  if (characters.every((one) => one !== undefined)) return text(characters.join(''));
  return text(`${sign}${[...only.value].length === 1 ? only.value : `(${only.value})`}`);
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'=<>\`]+))`, 'i').exec(
    attributes,
  );
  return found?.[1] ?? found?.[2] ?? found?.[3];
}
