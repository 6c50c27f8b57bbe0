import type {
  MarkdownDocument,
  Block,
  Inline,
  ListItem,
  TableCell,
  TableRow,
} from '../../lib/markdown/document.ts';
import { parseMarkdown } from '../../lib/markdown/parse-markdown.ts';
import { plainStyle, renderText, type TextStyle } from '../../lib/markdown/render-text.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';
import { markdownLength, writeMarkdown } from '../../lib/markdown/write-markdown.ts';

/** `<@U1>`, `<#C1>`, `<!channel>`, `<!subteam^S1>`, `@here`. */
const pings =
  /[<;]\\*(?=[@#]\w|!(?:channel|here|everyone|group|subteam|date))|(?<![\w.+-])@(?=channel|here|everyone|group)|@(?=(?:channel|here|everyone|group)(?![\w-]*\.\w))/gi;

/** Word joiner: invisible, and no line break. */
const joiner = '\u2060';

type SlackMarkdownBlock = Readonly<{ type: 'markdown'; text: string }>;

export type SlackMessage = Readonly<{ text: string; blocks: readonly SlackMarkdownBlock[] }>;

const longestBlock = 12_000;
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

/** Pings nobody and fetches nothing (H2). Too long: no block. */
export function toSlackMessage(markdown: string | MarkdownDocument): SlackMessage {
  const document = asDocument(markdown);
  const text = renderText(document, mrkdwnStyle);
  const written = writeMarkdown(document);
  return { text, blocks: written.length > longestBlock ? [] : [{ type: 'markdown', text: written }] };
}

/** The Markdown as it was written. */
export function toPlainMessage({ markdown }: Readonly<{ markdown: string }>): SlackMessage {
  return { text: escapeMrkdwn(markdown.replace(pings, `$&${joiner}`)), blocks: [] };
}

export function toSlackMarkdown(markdown: string | MarkdownDocument): string {
  return writeMarkdown(asDocument(markdown));
}

/** Its three special characters are escaped. */
export function toSlackText(markdown: string | MarkdownDocument): string {
  return renderText(asDocument(markdown), mrkdwnStyle);
}

/** Stream previews can't be switched off: no link, image or mention (H2). Text only grows: undecided last characters wait. */
export function toStreamText(markdown: string): string {
  return markdown
    .replace(/(?<![\s.:])[\s.:]*[\ud800-\udbff]?$/, '')
    .replace(/\.(?=[^\s.])/g, '\u2024')
    .replace(/:(?=[/\\&*_~<`\p{Cf}])/gu, '\u2236')
    .replace(/(?<=[<@!&])(?=\S)|(?<=#)(?=\w)|(?<=\])(?=[([:])/g, joiner);
}

/** 12,000 characters in a block, and as the fallback text. */
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

type Node = MarkdownDocument | Block | Inline | ListItem | TableRow | TableCell;

/** In code too: how often Slack unescapes is undocumented (H2). */
function withoutPings<N extends Node>(node: N): N {
  if ('value' in node) return { ...node, value: node.value.replace(pings, `$&${joiner}`) };
  if (!('children' in node)) return node;
  const before: readonly Node[] = node.children;
  const children = before.map((child) => withoutPings(child));
  return 'url' in node
    ? { ...node, url: node.url.replace(pings, encodeURIComponent), children }
    : { ...node, children };
}
