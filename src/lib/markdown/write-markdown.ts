import type { Root } from 'mdast';
import { once } from '../async/mutex.ts';
import {
  visibleText,
  type MarkdownDocument,
  type MarkdownBlock,
  type Inline,
  type ListItem,
  type TableCell,
  type TableRow,
} from './document.ts';
import { markdownLibrary } from './library.ts';
import { parseMarkdown } from './parse-markdown.ts';
import { plainText } from './render-text.ts';
import { writePlainTable } from './plain-tables.ts';
import { mergeTexts } from './inlines.ts';

const longestGrapheme = 64;

const punctuation = /[\p{P}\p{S}\ufe0f\u200d]/u;

/** Writes Markdown that reads back as the same text. Marks that can't be expressed are left out. */
export function writeMarkdown(document: MarkdownDocument): string {
  return writeAndRead(document).markdown;
}

export function markdownLength(document: MarkdownDocument): number {
  return write(document).length;
}

/** Writes Markdown and returns what it reads back as, which may differ slightly. */
export function writeAndRead(
  document: MarkdownDocument,
): Readonly<{ markdown: string; document: MarkdownDocument }> {
  const markdown = write(document);
  // Reading back takes most of the time: a table of 12,000 characters took a quarter of a second (S15).
  if (document.children.every(isPlain)) return { markdown, document };
  const read = parseMarkdown(markdown);
  if (isSame(read, document)) return { markdown, document: read };
  const byBlock = document.children.map((block) => writeBlock({ type: 'root', children: [block] }));
  const joined = byBlock.join('\n\n');
  const again = parseMarkdown(joined);
  if (isSame(again, document)) return { markdown: joined, document: again };
  const escaped = escapeMarkdown(plainText(document));
  return { markdown: escaped, document: parseMarkdown(escaped) };
}

const plainLine = /^\p{L}[\p{L}\p{N} ,.;?!'"()%-]*$/u;
const plainCell = /^(?=.*[\p{L}\p{N}])[\p{L}\p{N} ,.;?!'"()%+-]*$/u;

/** Whether nothing in the block could be read as a mark, a link or another block. */
function isPlain(block: MarkdownBlock): boolean {
  if (block.type === 'table')
    return block.children.every((row) =>
      row.children.every(({ children }) => children.length === 0 || isPlainText(children, plainCell)),
    );
  return (block.type === 'paragraph' || block.type === 'heading') && isPlainText(block.children, plainLine);
}

function isPlainText([only, ...others]: readonly Inline[], pattern: RegExp): boolean {
  return (
    only?.type === 'text' && others.length === 0 && pattern.test(only.value) && !/www\./i.test(only.value)
  );
}

function writeBlock(block: MarkdownDocument): string {
  const markdown = write(block);
  return isSame(parseMarkdown(markdown), block) ? markdown : escapeMarkdown(plainText(block));
}

function write(document: MarkdownDocument): string {
  const [only, ...others] = document.children;
  const table = others.length === 0 && only?.type === 'table' ? writePlainTable(only) : undefined;
  if (table !== undefined) return table;
  const { gfmToMarkdown, toMarkdown } = markdownLibrary();
  return toMarkdown(tightenMarks(document) as unknown as Root, {
    // Writes no padding, because every reader accepts three dashes.
    extensions: [gfmToMarkdown({ stringLength: () => 3 }), { handlers: onlyAsterisks() }],
    bullet: '-',
    rule: '-',
    listItemIndent: 'one',
    resourceLink: true,
  }).replace(/\n+$/, '');
}

// The library would write underscores between letters.
const onlyAsterisks = once(() => {
  const { emphasis, strong } = markdownLibrary().defaultHandlers;
  const peek = (): string => '*';
  const sized = (construct: 'emphasis' | 'strong', size: number) => ({
    attention: () => ({ construct, markers: ['*'], sizes: [size] }),
    peek,
  });
  return {
    emphasis: Object.assign(emphasis.bind(undefined), sized('emphasis', 1)),
    strong: Object.assign(strong.bind(undefined), sized('strong', 2)),
  };
});

function isSame(one: MarkdownDocument, other: MarkdownDocument): boolean {
  return withoutSpace(visibleText(one)) === withoutSpace(visibleText(other));
}

/**
 * Escapes text so that exactly these characters are shown, except for white space at line ends. The result is at most
 * three times as long. `\\(` would be TeX.
 */
export function escapeMarkdown(text: string): string {
  const escaped = text.split('\n').map((line) => line.trim().replace(/[!-'*-/:-@[\\^-`{-~]/g, '\\$&'));
  return escaped
    .map((line, index) => (line === '' || (escaped[index + 1] ?? '') === '' ? line : `${line}\\`))
    .join('\n');
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

type Node = MarkdownDocument | MarkdownBlock | ListItem | TableRow | TableCell;

type Mark = Extract<Inline, Readonly<{ type: 'emphasis' | 'strong' | 'delete' }>>;

/**
 * Moves punctuation and spaces at the edge of a mark outside of it before a letter, as in `「**重要**」です`, so that every
 * reader shows the mark (H2).
 */
function tightenMarks<N extends Node>(node: N): N {
  if (!('children' in node)) return node;
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell')
    return { ...node, children: trimLines(tightenInlines(node.children, '', '')) };
  const children: readonly Node[] = node.children;
  return { ...node, children: children.map(tightenMarks) };
}

/** Does so for inline nodes. `before` and `after` are the characters beside them, empty at line ends. */
function tightenInlines(nodes: readonly Inline[], before: string, after: string): readonly Inline[] {
  const tight: Inline[] = [];
  const waiting = joinMarks(nodes).toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const [left, right] = [edge(tight.at(-1), -1) ?? before, edge(waiting.at(-1), 0) ?? after];
    if (node.type === 'link') tight.push({ ...node, children: tightenInlines(node.children, '[', ']') });
    else if (!isMark(node)) tight.push(node);
    else {
      const [first, last] = [node.children[0], node.children.at(-1)];
      if (first === undefined) continue;
      const brackets =
        /^[\p{Ps}\p{Pi}]/u.test(edge(first, 0) ?? '') && /[\p{Pe}\p{Pf}]$/u.test(edge(last, -1) ?? '');
      const moves = [mustMove(edge(first, 0), left), mustMove(edge(last, -1), right)];
      const marked = (children: readonly Inline[]): readonly Inline[] =>
        children.length === 0 ? [] : [{ ...node, children }];
      if (moves[0] === true || (brackets && moves[1] === true)) {
        const [moved, rest] = splitStart(first, node.type);
        waiting.push(...marked([...rest, ...node.children.slice(1)]), ...moved);
      } else if (last !== undefined && moves[1] === true) {
        const [rest, moved] = splitEnd(last, node.type);
        waiting.push(...moved.toReversed(), ...marked([...node.children.slice(0, -1), ...rest]));
      } else tight.push({ ...node, children: tightenInlines(node.children, '*', '*') });
    }
  }
  return mergeTexts(tight);
}

/** Whether CommonMark sees no mark between these two characters. */
function mustMove(inside: string | undefined, outside: string): boolean {
  if (inside === undefined || /^\s/.test(inside)) return true;
  return outside.trim() !== '' && !isPunctuation(outside) && punctuation.test(inside);
}

/** Whether a character is punctuation to all readers. They disagree about emojis, which therefore are not. */
function isPunctuation(character: string): boolean {
  return /[\p{P}!-/:-@[-`{-~]/u.test(character);
}

function edge(node: Inline | undefined, at: 0 | -1): string | undefined {
  if (node === undefined) return undefined;
  if (node.type === 'break') return '\n';
  if (node.type !== 'text') return '*';
  const characters = at === 0 ? /^./su.exec(node.value) : /.$/su.exec(node.value.slice(-2));
  return characters?.[0];
}

function splitStart(node: Inline, type: Mark['type']): readonly [readonly Inline[], readonly Inline[]] {
  if (node.type !== 'text') return [[moveInto(node, type)], []];
  const first = /^\s+/.exec(node.value)?.[0] ?? graphemes(node.value.slice(0, longestGrapheme))[0] ?? '';
  return [text(first), text(node.value.slice(first.length))];
}

function splitEnd(node: Inline, type: Mark['type']): readonly [readonly Inline[], readonly Inline[]] {
  if (node.type !== 'text') return [[], [moveInto(node, type)]];
  const trimmed = node.value.trimEnd();
  const last = graphemes(trimmed.slice(-longestGrapheme)).at(-1) ?? '';
  const end = trimmed.length < node.value.length ? trimmed.length : trimmed.length - last.length;
  return [text(node.value.slice(0, end)), text(node.value.slice(end))];
}

function moveInto(node: Inline, type: Mark['type']): Inline {
  return node.type === 'link' ? { ...node, children: [{ type, children: node.children }] } : node;
}

function graphemes(value: string): readonly string[] {
  const segments = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(value);
  return [...segments].map(({ segment }) => segment);
}

/** Trims white space at line ends. The library would write it as character references, which readers drop. */
function trimLines(nodes: readonly Inline[], inMark = false): readonly Inline[] {
  return nodes.map((node, index) => {
    if ('children' in node) return { ...node, children: trimLines(node.children, true) };
    if (node.type !== 'text') return node;
    const neighbours = [nodes[index - 1], nodes[index + 1]] as const;
    const [starts, ends] = neighbours.map(
      (other) => other?.type === 'break' || (!inMark && other === undefined),
    );
    const value = starts === true ? node.value.trimStart() : node.value;
    return { ...node, value: (ends === true ? value.trimEnd() : value).replace(/[ \t]*\n[ \t]*/g, '\n') };
  });
}

/** Joins equal marks that are side by side, because `**a****b**` does not read as two. */
function joinMarks(nodes: readonly Inline[]): readonly Inline[] {
  const joined: Inline[] = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (isMark(node) && last?.type === node.type)
      joined[joined.length - 1] = { ...node, children: [...last.children, ...node.children] };
    else joined.push(node);
  }
  return joined;
}

function isMark(node: Inline): node is Mark {
  return node.type === 'emphasis' || node.type === 'strong' || node.type === 'delete';
}

function text(value: string): readonly Inline[] {
  return value === '' ? [] : [{ type: 'text', value }];
}
