import type {
  MarkdownDocument,
  MarkdownBlock,
  Inline,
  ListItem,
  TableCell,
  TableRow,
} from '../../lib/markdown/document.ts';
import type { SlackBlock } from './buttons.ts';
import { toDataTable } from './data-table.ts';
import { parseMarkdown } from '../../lib/markdown/parse-markdown.ts';
import { plainStyle, renderText, type TextStyle } from '../../lib/markdown/render-text.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';
import { markdownLength, writeMarkdown } from '../../lib/markdown/write-markdown.ts';

/** Matches what Slack reads as a mention: `<@U1>`, `<#C1>`, `<!channel>`, `<!subteam^S1>` and `@here`. */
const pings =
  /[<;]\\*(?=[@#]\w|!(?:channel|here|everyone|group|subteam|date))|(?<![\w.+-])@(?=channel|here|everyone|group)|@(?=(?:channel|here|everyone|group)(?![\w-]*\.\w))/gi;

/** A word joiner, which is invisible and breaks no line. */
const joiner = '\u2060';

type SlackMarkdownBlock = Readonly<{ type: 'markdown'; text: string }>;

export type SlackMessage = Readonly<{ text: string; blocks: readonly SlackMarkdownBlock[] }>;

/** A message whose tables may be blocks that people can sort (U18). */
export type TabledMessage = Readonly<{ text: string; blocks: readonly SlackBlock[] }>;

const longestBlock = 12_000;
/** Characters of all cells of a message's data tables, and of all its blocks. */
const longestTables = 10_000;
const longestBlocks = 13_000;
const mostBlocks = 40;
const surelyShort = 4_000;

const mrkdwnStyle: TextStyle = {
  ...plainStyle,
  text: escapeMrkdwn,
  bold: (inner) => `*${inner}*`,
  italic: (inner) => `_${inner}_`,
  strike: (inner) => `~${inner}~`,
  code: (value) => `\`${escapeMrkdwn(value)}\``,
  link: (inner, url) => `<${escapeMrkdwn(url)}|${inner.replaceAll('\n', ' ')}>`,
  heading: (inner) => `*${inner.replaceAll('*', '')}*`,
  pre: (value) => `\`\`\`\n${escapeMrkdwn(value.replaceAll('```', '`\u2060``'))}\n\`\`\``,
  quote: (inner) => inner.replace(/^/gm, '> '),
};

/** Writes an answer for Slack that mentions nobody and fetches nothing (H2). If it is too long it has no block. */
export function toSlackMessage(markdown: string | MarkdownDocument): SlackMessage {
  const document = asDocument(markdown);
  const text = renderText(document, mrkdwnStyle);
  const written = writeMarkdown(document);
  return { text, blocks: written.length > longestBlock ? [] : [markdownBlock(written)] };
}

/** Like `toSlackMessage`, but with data tables if `tables`, and if they fit. */
export function toTabledMessage({ markdown, tables }: Tabled): TabledMessage {
  const document = asDocument(markdown);
  const blocks = tables ? withDataTables(document) : undefined;
  return blocks === undefined
    ? toSlackMessage(document)
    : { text: renderText(document, mrkdwnStyle), blocks };
}

export type Tabled = Readonly<{ markdown: string; tables: boolean }>;

function markdownBlock(text: string): SlackMarkdownBlock {
  return { type: 'markdown', text };
}

/** The message with a block for each table. Undefined if it has none, or if Slack does not take them all. */
function withDataTables({ children }: MarkdownDocument): readonly SlackBlock[] | undefined {
  const blocks: SlackBlock[] = [];
  let [cells, words] = [0, 0];
  let between: MarkdownBlock[] = [];
  const close = (): void => {
    if (between.length === 0) return;
    const written = writeMarkdown({ type: 'root', children: between });
    words += written.length;
    blocks.push(markdownBlock(written));
    between = [];
  };
  for (const child of children) {
    const table = child.type === 'table' ? toDataTable(child) : undefined;
    if (table === undefined) between.push(child);
    else {
      close();
      cells += table.length;
      blocks.push(table.block);
    }
  }
  close();
  const fits = cells <= longestTables && words <= longestBlock && cells + words <= longestBlocks;
  return cells > 0 && fits && blocks.length <= mostBlocks ? blocks : undefined;
}

/** Writes the Markdown as it is, without reading it. */
export function toPlainMessage({ markdown }: Readonly<{ markdown: string }>): SlackMessage {
  return { text: escapeMrkdwn(markdown.replace(pings, `$&${joiner}`)), blocks: [] };
}

export function toSlackMarkdown(markdown: string | MarkdownDocument): string {
  return writeMarkdown(asDocument(markdown));
}

/** Writes text in Slack's markup, with its three special characters escaped. */
export function toSlackText(markdown: string | MarkdownDocument): string {
  return renderText(asDocument(markdown), mrkdwnStyle);
}

/**
 * Text for a stream, whose link previews can't be switched off: without links, images and mentions (H2). The text only
 * grows, so last characters that are still undecided wait.
 */
export function toStreamText(markdown: string): string {
  return markdown
    .replace(/(?<![\s.:])[\s.:]*[\ud800-\udbff]?$/, '')
    .replace(/\.(?=[^\s.])/g, '\u2024')
    .replace(/:(?=[/\\&*_~<`\p{Cf}])/gu, '\u2236')
    .replace(/(?<=[<@!&])(?=\S)|(?<=#)(?=\w)|(?<=\])(?=[([:])/g, joiner);
}

/** Whether text fits into 12,000 characters, both as a block and as the fallback text. */
export function slackFits(markdown: string | MarkdownDocument): boolean {
  const document = asDocument(markdown);
  const { length } = renderText(document, mrkdwnStyle);
  return length <= surelyShort || (length <= longestBlock && markdownLength(document) <= longestBlock);
}

export function splitForSlack({ markdown }: Readonly<{ markdown: string }>): readonly string[] {
  return splitMarkdown(markdown, slackFits);
}

function asDocument(markdown: string | MarkdownDocument): MarkdownDocument {
  return withoutPings(typeof markdown === 'string' ? parseMarkdown(markdown) : markdown);
}

function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

type Node = MarkdownDocument | MarkdownBlock | Inline | ListItem | TableRow | TableCell;

/** Removes mentions, also in code, because it is undocumented how often Slack unescapes (H2). */
function withoutPings<N extends Node>(node: N): N {
  if ('value' in node) return { ...node, value: node.value.replace(pings, `$&${joiner}`) };
  if (!('children' in node)) return node;
  const before: readonly Node[] = node.children;
  const children = before.map((child) => withoutPings(child));
  return 'url' in node
    ? { ...node, url: node.url.replace(pings, encodeURIComponent), children }
    : { ...node, children };
}
