import type * as mdast from 'mdast';
import { link, mark, mergeTexts, text } from './inlines.ts';
import { pairTags, readTag } from './html-tags.ts';
import { visibleText, type MarkdownBlock, type Inline, type ListItem, type TableRow } from './document.ts';

type Definitions = ReadonlyMap<string, string>;

export function simplifyTree(tree: mdast.Root): readonly MarkdownBlock[] {
  const definitions = new Map<string, string>();
  const used = new Set<string>();
  collectDefinitions(tree, definitions, used);
  for (const [label, url] of definitions)
    if (!used.has(label) && !URL.canParse(url)) definitions.delete(label);
  return toBlocks(tree.children, definitions);
}

/** Words that only look like the definition of a link, as in `[Note]: important`. */
function definitionText({ label, identifier, url, title }: mdast.Definition): string {
  const words = title ? `${url} "${title}"` : url;
  return footnoteLabel.test(identifier)
    ? `${raised(identifier.slice(1))} ${words}`
    : `[${label ?? identifier}]: ${words}`;
}

function paragraph(words: string): readonly MarkdownBlock[] {
  return words === '' ? [] : [{ type: 'paragraph', children: text(words) }];
}

function collectDefinitions(node: mdast.Nodes, found: Map<string, string>, used: Set<string>): void {
  if (node.type === 'definition' && !found.has(node.identifier)) found.set(node.identifier, node.url);
  if (node.type === 'linkReference' || node.type === 'imageReference') used.add(node.identifier);
  if ('children' in node) for (const child of node.children) collectDefinitions(child, found, used);
}

function toBlocks(nodes: readonly mdast.RootContent[], definitions: Definitions): readonly MarkdownBlock[] {
  return nodes.flatMap((node): readonly MarkdownBlock[] => {
    switch (node.type) {
      case 'paragraph': {
        const children = withoutEnds(toInlines(node.children, definitions));
        return children.length === 0 ? [] : [{ type: 'paragraph', children }];
      }
      case 'heading':
        return [
          {
            type: 'heading',
            depth: node.depth,
            children: withoutEnds(toInlines(node.children, definitions)),
          },
        ];
      case 'code':
        // Platforms show no empty block, but its info string may be words.
        if (node.value.trim() === '') return paragraph([node.lang, node.meta].filter(Boolean).join(' '));
        return [
          { type: 'code', lang: /^[\w+#.-]{1,40}/.exec(node.lang ?? '')?.[0] ?? null, value: node.value },
        ];
      case 'blockquote':
        return [{ type: 'blockquote', children: withTitle(toBlocks(node.children, definitions)) }];
      case 'list':
        return [
          {
            type: 'list',
            ordered: node.ordered ?? false,
            start: node.start ?? null,
            spread: node.children.some((item) => item.spread) || node.spread === true,
            children: node.children.map((item) => toListItem(item, definitions)),
          },
        ];
      case 'table':
        return [
          {
            type: 'table',
            align: node.align ?? [],
            children: node.children.map((row) => toRow(row, definitions)),
          },
        ];
      case 'thematicBreak':
        return [{ type: 'thematicBreak' }];
      case 'definition':
        return definitions.has(node.identifier) ? [] : paragraph(definitionText(node));
      default:
        return [];
    }
  });
}

function withTitle([first, ...rest]: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  if (first?.type !== 'paragraph') return first === undefined ? [] : [first, ...rest];
  const [head, ...inlines] = first.children;
  const kind =
    head?.type === 'text' ? /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\](?:\n|$)/.exec(head.value) : null;
  if (kind?.[1] === undefined || head?.type !== 'text') return [first, ...rest];
  const title = kind[1].charAt(0) + kind[1].slice(1).toLowerCase();
  const body = [...text(head.value.slice(kind[0].length)), ...inlines];
  const children: readonly Inline[] = [
    { type: 'strong', children: text(title) },
    { type: 'text', value: '\n' },
    ...body,
  ];
  return [{ ...first, children: body.length === 0 ? children.slice(0, 1) : mergeTexts(children) }, ...rest];
}

function toListItem(item: mdast.ListItem, definitions: Definitions): ListItem {
  const children = toBlocks(item.children, definitions);
  // An empty box can't be written back.
  const checked = children.map(visibleText).join('').trim() === '' ? null : (item.checked ?? null);
  return { type: 'listItem', checked, spread: item.spread ?? false, children };
}

function toRow(row: mdast.TableRow, definitions: Definitions): TableRow {
  return {
    type: 'tableRow',
    children: row.children.map((cell) => ({
      type: 'tableCell',
      children: toInlines(cell.children, definitions),
    })),
  };
}

function toInlines(nodes: readonly mdast.PhrasingContent[], definitions: Definitions): readonly Inline[] {
  const read = nodes.flatMap((node, index) =>
    node.type === 'html'
      ? readTag(node.value, endsLine(nodes[index - 1]) || beginsLine(nodes[index + 1]))
      : toInline(node, definitions),
  );
  return withNotation(pairTags(read, withNotation));
}

/** Done last, because what looked like an address may have contained part of a reference. */
function withNotation(nodes: readonly Inline[]): readonly Inline[] {
  return mergeTexts(nodes).flatMap((node) => (node.type === 'text' ? notation(node.value) : [node]));
}

/** Removes white space that a removed tag left at the ends, and line breaks there, which show nothing. */
function withoutEnds(nodes: readonly Inline[]): readonly Inline[] {
  const isEmpty = (node: Inline): boolean =>
    node.type === 'break' || (node.type === 'text' && node.value.trim() === '');
  const first = nodes.findIndex((node) => !isEmpty(node));
  const kept = first < 0 ? [] : nodes.slice(first, nodes.findLastIndex((node) => !isEmpty(node)) + 1);
  return kept.flatMap((node, index) => {
    if (node.type !== 'text') return [node];
    const start = index === 0 ? node.value.trimStart() : node.value;
    return text(index === kept.length - 1 ? start.trimEnd() : start);
  });
}

function endsLine(before: mdast.PhrasingContent | undefined): boolean {
  return (
    before === undefined || before.type === 'break' || (before.type === 'text' && /\n$/.test(before.value))
  );
}

function beginsLine(after: mdast.PhrasingContent | undefined): boolean {
  return after === undefined || after.type === 'break' || (after.type === 'text' && /^\n/.test(after.value));
}

function toInline(node: mdast.PhrasingContent, definitions: Definitions): readonly Inline[] {
  switch (node.type) {
    case 'text':
      return text(node.value);
    case 'inlineCode':
      return node.value.trim() === '' ? text(node.value) : [{ type: 'inlineCode', value: node.value }];
    case 'break':
      return [{ type: 'break' }];
    case 'emphasis':
    case 'strong':
    case 'delete':
      return mark(node.type, toInlines(node.children, definitions));
    case 'link':
      return link(node.url, toInlines(node.children, definitions));
    case 'linkReference':
      return link(
        definitions.get(node.identifier) ?? '',
        footnoteLabel.test(node.identifier)
          ? text(raised(node.identifier.slice(1)))
          : toInlines(node.children, definitions),
      );
    case 'image':
      return link(node.url, text(node.alt));
    case 'imageReference':
      return link(definitions.get(node.identifier) ?? '', text(node.alt));
    default:
      return [];
  }
}

const footnoteLabel = /^\^\d{1,3}$/;
const footnote = /\[\^(\d{1,3})\](?::(?= ))?/g;

function raised(number: string): string {
  return [...number].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
}

/** Raises the numbers of footnotes, and makes `==words==` bold. */
function notation(value: string): readonly Inline[] {
  return value
    .replace(footnote, (_, number: string) => raised(number))
    .split(/(?<![\w=])==(?=[^\s=])([^=\n]*[^\s=])==(?![\w=])/)
    .flatMap((piece, index) => (index % 2 === 1 ? mark('strong', text(piece)) : text(piece)));
}
