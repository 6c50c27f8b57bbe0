import { displayWidth } from '../../lib/text/text.ts';
import { renderText, layOutTable, plainStyle, type TextStyle } from '../../lib/markdown/render-text.ts';
import {
  visibleText,
  type MarkdownDocument,
  type MarkdownBlock,
  type Inline,
  type ListItem,
  type TableCell,
  type TableRow,
  type Table,
} from '../../lib/markdown/document.ts';
import { parseMarkdown } from '../../lib/markdown/parse-markdown.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';

/** Columns that a phone shows in landscape. */
const widestTable = 60;

const longestText = 4096;
const longestCaption = 1024;
/** Bytes of text with its marks. Telegram refuses more. */
const longestSource = 32_768;
/** Telegram silently drops further marks. */
const mostEntities = 100;

/** Matches where a word joiner is added, so that `@name` mentions nobody (H2). */
const names = /(?<!\w)@(?=\w|<|$)/g;

const textStyle: TextStyle = {
  ...plainStyle,
  text: (value) => value.replace(names, '@\u2060'),
};

/**
 * Matches what is written as code: packages such as `@types/node`, and files whose ending is also a domain's. Telegram
 * would link `README.md` to somebody's website.
 */
const asCode =
  /(?<![\w@/.:-])(@[a-z\d][\w.-]*\/[\w.-]*\w(?:@[\w.^~-]*\w)?|(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:cc|md|mk|mov|pm|ps|py|rs|sh|tf|zip))(?![\w/@-]|\.\w)/i;

const htmlStyle: TextStyle = {
  ...textStyle,
  text: (value) =>
    value
      .split(asCode)
      .map((piece, index) =>
        index % 2 === 1 ? `<code>${escapeHtml(piece)}</code>` : escapeHtml(textStyle.text(piece)),
      )
      .join(''),
  bold: (inner) => `<b>${inner}</b>`,
  italic: (inner) => `<i>${inner}</i>`,
  strike: (inner) => `<s>${inner}</s>`,
  code: (value) => `<code>${escapeHtml(value)}</code>`,
  // Telegram drops links that contain code.
  link: (inner, url) =>
    `<a href="${escapeHtml(url)}">${inner.replace(/<\/?code>/g, '').replace(names, '@\u2060')}</a>`,
  heading: (inner) => `<b>${inner.replace(/<\/?b>/g, '')}</b>`,
  pre: (value, lang) =>
    lang === null
      ? `<pre>${escapeHtml(value)}</pre>`
      : `<pre><code class="language-${lang}">${escapeHtml(value)}</code></pre>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
};

/** Writes HTML with properly nested tags and everything else escaped (H2). */
export function toTelegramHtml(markdown: string | MarkdownDocument): string {
  return renderText(asDocument(markdown), htmlStyle);
}

export function toTelegramText(markdown: string | MarkdownDocument): string {
  return renderText(asDocument(markdown), textStyle);
}

/** Whether text fits into a message: 4,096 UTF-16 units, 32,768 bytes with marks, and 100 marks. */
export function telegramFits(markdown: string | MarkdownDocument): boolean {
  return fits(markdown, longestText);
}

/**
 * Longest part with its marks, three for each character. It is short enough to be read at once when it is sent (S15).
 */
const longestPart = 3 * longestText;

export function splitForTelegram({ markdown }: Readonly<{ markdown: string }>): readonly string[] {
  return splitMarkdown(markdown, telegramFits, longestPart);
}

/** Whether text fits below a file: 1,024 UTF-16 units (H2). */
export function telegramCaptionFits(markdown: string | MarkdownDocument): boolean {
  return (
    (typeof markdown !== 'string' || markdown.length <= 4 * longestCaption) && fits(markdown, longestCaption)
  );
}

function fits(markdown: string | MarkdownDocument, longest: number): boolean {
  const document = asDocument(markdown);
  if (renderText(document, textStyle).length > longest) return false;
  const html = renderText(document, htmlStyle);
  return Buffer.byteLength(html) <= longestSource && (html.match(/<\//g)?.length ?? 0) <= mostEntities;
}

function asDocument(markdown: string | MarkdownDocument): MarkdownDocument {
  const { children, ...root } = typeof markdown === 'string' ? parseMarkdown(markdown) : markdown;
  return showDeadLinks({ ...root, children: withoutWideTables(children) });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

type Node = MarkdownDocument | MarkdownBlock | Inline | ListItem | TableRow | TableCell;

/** Shows addresses as text where Telegram drops the link: mail addresses and hosts without a dot. */
function showDeadLinks<N extends Node>(node: N): N {
  if (!('children' in node)) return node;
  const before: readonly Node[] = node.children;
  const children = before.flatMap((child): readonly Node[] =>
    child.type === 'link' && !isTakenByTelegram(child.url)
      ? asText(child.url, child.children)
      : [showDeadLinks(child)],
  );
  return { ...node, children };
}

function isTakenByTelegram(address: string): boolean {
  const url = new URL(address);
  return url.protocol !== 'mailto:' && /[^.]\.[^.]|^\[/.test(url.hostname);
}

function asText(url: string, label: readonly Inline[]): readonly Inline[] {
  const address = url.startsWith('mailto:') ? decodeMail(url.slice('mailto:'.length)) : url;
  if (withoutSlash(label.map(visibleText).join('')) === withoutSlash(address)) return label;
  return [...label, { type: 'text', value: ` (${address})` }];
}

function decodeMail(address: string): string {
  return address.replace(/\?.*$/, '').replaceAll('%20', ' ');
}

function withoutSlash(address: string): string {
  return address.replace(/\/$/, '');
}

/** Writes wide tables as a paragraph for each row (H2). */
function withoutWideTables(blocks: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  return blocks.flatMap((block): readonly MarkdownBlock[] => {
    if (block.type === 'blockquote') return [{ ...block, children: withoutWideTables(block.children) }];
    if (block.type === 'list') {
      const items = block.children.map((item) => ({ ...item, children: withoutWideTables(item.children) }));
      return [{ ...block, children: items }];
    }
    return block.type === 'table' && isWide(block) ? asRows(block) : [block];
  });
}

function isWide(table: Table): boolean {
  const [header = ''] = layOutTable(table).split('\n', 2).slice(1);
  return displayWidth(header) > widestTable;
}

const isFilled = ({ children }: TableCell): boolean => children.map(visibleText).join('').trim() !== '';

function asRows({ children: [header, ...all] }: Table): readonly MarkdownBlock[] {
  const names = header?.children.map((cell) => visibleText(cell).trim()) ?? [];
  const rows = all.filter(({ children }) => children.some(isFilled));
  if (rows.length === 0)
    return [{ type: 'paragraph', children: [{ type: 'text', value: names.filter(Boolean).join('\n') }] }];
  return rows.map(({ children: cells }) => ({
    type: 'paragraph',
    children: cells
      .map((cell, index) => ({ ...cell, name: names[index] ? `${names[index]}: ` : '' }))
      .filter(isFilled)
      .flatMap(({ children, name }, index): readonly Inline[] =>
        index === 0
          ? [{ type: 'strong', children: [{ type: 'text', value: name }, ...children.flatMap(withoutBold)] }]
          : [{ type: 'break' }, { type: 'text', value: name }, ...children],
      ),
  }));
}

function withoutBold(node: Inline): readonly Inline[] {
  return node.type === 'strong' ? node.children : [node];
}
