import {
  visibleText,
  type MarkdownBlock,
  type Inline,
  type List,
  type ListItem,
  type MarkdownDocument,
  type Table,
} from './document.ts';
import { displayWidth } from '../text/text.ts';

export const plainStyle: TextStyle = {
  text: (value) => value,
  bold: (inner) => inner,
  italic: (inner) => inner,
  strike: (inner) => inner,
  code: (value) => value,
  link: (inner) => inner,
  heading: (inner) => inner,
  pre: (value) => value,
  quote: (inner) => inner,
  rule: '———',
};

/** How a channel writes marks. `text` and `code` get raw text, the others text that is already rendered. */
export type TextStyle = Readonly<{
  text(value: string): string;
  bold(inner: string): string;
  italic(inner: string): string;
  strike(inner: string): string;
  code(value: string): string;
  link(inner: string, url: string): string;
  heading(inner: string, depth: number): string;
  pre(value: string, lang: string | null): string;
  /** Renders a quote. Quotes inside it are already marked with `> `. */
  quote(inner: string): string;
  rule: string;
  /** Breaks lines at the channel's width less `indent` characters. */
  wrap?(inner: string, indent: number): string;
}>;

type Place = Readonly<{ prefix: string; quoted: boolean }>;

export function renderText(document: MarkdownDocument, style: TextStyle): string {
  return renderBlocks(document.children, style, { prefix: '', quoted: false }, '\n\n');
}

function renderBlocks(
  blocks: readonly MarkdownBlock[],
  style: TextStyle,
  place: Place,
  between: string,
): string {
  const rendered = blocks.map((block) => renderBlock(block, style, place)).filter((text) => text !== '');
  return rendered.join(between.replaceAll('\n', `\n${style.text(place.prefix)}`));
}

function renderBlock(block: MarkdownBlock, style: TextStyle, place: Place): string {
  switch (block.type) {
    case 'paragraph':
      return atPlace(renderInlines(block.children, style), style, place);
    case 'heading': {
      const inner = renderInlines(block.children, style);
      return inner.trim() === '' ? '' : atPlace(style.heading(inner, block.depth), style, place);
    }
    case 'code':
      return block.value.trim() === '' ? '' : style.pre(block.value, block.lang);
    case 'table':
      return style.pre(layOutTable(block), null);
    case 'blockquote': {
      if (place.quoted)
        return (
          style.text('> ') +
          renderBlocks(block.children, style, { ...place, prefix: `${place.prefix}> ` }, '\n')
        );
      const inner = renderBlocks(block.children, style, { ...place, quoted: true }, '\n');
      return inner.trim() === '' ? '' : style.quote(inner);
    }
    case 'list':
      return renderList(block, style, place);
    case 'thematicBreak':
      return style.rule;
  }
}

function renderList(list: List, style: TextStyle, place: Place): string {
  const items = list.children.map((item, index) => {
    const box = item.checked === null ? undefined : item.checked ? '☑ ' : '☐ ';
    const bullet = list.ordered ? `${(list.start ?? 1) + index}. ${box ?? ''}` : (box ?? '• ');
    return renderItem(item, bullet, style, place);
  });
  const newLine = `\n${style.text(place.prefix)}`;
  return items.join(list.spread ? newLine + newLine : newLine);
}

function renderItem(item: ListItem, bullet: string, style: TextStyle, place: Place): string {
  const inner = { ...place, prefix: place.prefix + ' '.repeat(bullet.length) };
  return style.text(bullet) + renderBlocks(item.children, style, inner, item.spread ? '\n\n' : '\n');
}

function atPlace(inner: string, style: TextStyle, place: Place): string {
  const wrapped = style.wrap?.(inner, place.prefix.length + (place.quoted ? 2 : 0)) ?? inner;
  return wrapped.replaceAll('\n', `\n${style.text(place.prefix)}`);
}

function renderInlines(nodes: readonly Inline[], style: TextStyle): string {
  return nodes
    .map((node) => {
      switch (node.type) {
        case 'text':
          return style.text(node.value);
        case 'inlineCode':
          return style.code(node.value);
        case 'break':
          return '\n';
        case 'strong':
          return style.bold(renderInlines(node.children, style));
        case 'emphasis':
          return style.italic(renderInlines(node.children, style));
        case 'delete':
          return style.strike(renderInlines(node.children, style));
        case 'link':
          return style.link(renderInlines(node.children, style), node.url);
      }
    })
    .join('');
}

export function layOutTable(table: Table): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) => visibleText(cell).replace(/\s+/g, ' ').trim()),
  );
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(1, ...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const lines = rows.map((row) =>
    widths.map((width, column) => pad(row[column] ?? '', width, table.align[column] ?? null)).join(' | '),
  );
  const [header = '', ...body] = lines;
  const rule = widths.map((width) => '-'.repeat(width)).join('-+-');
  return [header, rule, ...body].map((line) => line.trimEnd()).join('\n');
}

function pad(cell: string, width: number, align: Table['align'][number]): string {
  const missing = width - displayWidth(cell);
  const left = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  return ' '.repeat(left) + cell + ' '.repeat(missing - left);
}

export function plainText(document: MarkdownDocument): string {
  return renderText(document, plainStyle);
}
