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
import { markdownLength, writeMarkdown } from '../../lib/markdown/write-markdown.ts';

/** What Slack may turn into a mention wherever it stands: `<@U1>`, `<#C1>`, `<!channel>`, `<!subteam^S1>`, `@here`. */
const pings =
  /[<;]\\*(?=[@#]\w|!(?:channel|here|everyone|group|subteam|date))|(?<![\w.+-])@(?=channel|here|everyone|group)|@(?=(?:channel|here|everyone|group)(?![\w-]*\.\w))/gi;

/** Word joiner: takes no room and allows no line break. */
const joiner = '\u2060';

/** Slack's block for standard Markdown: at most 12,000 characters over all of them in one message. */
export type SlackMarkdownBlock = Readonly<{ type: 'markdown'; text: string }>;

const longestBlock = 12_000;
/** A document with no more mrkdwn than this is never longer than a block as Markdown. */
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

/**
 * One Slack message: a `markdown` block, and the same as mrkdwn for notifications and for when the block is refused (H2).
 * Nothing in it pings anybody or fetches anything. Without a block if it were too long.
 */
export function toSlackMessage(
  markdown: string | MarkdownDocument,
): Readonly<{ text: string; blocks: readonly SlackMarkdownBlock[] }> {
  const document = asDocument(markdown);
  const text = renderText(document, mrkdwnStyle);
  const written = writeMarkdown(document);
  return { text, blocks: written.length > longestBlock ? [] : [{ type: 'markdown', text: written }] };
}

/** Markdown as a block holds it: links are live only where policy lets them, mentions are not. */
export function toSlackMarkdown(markdown: string | MarkdownDocument): string {
  return writeMarkdown(asDocument(markdown));
}

/** Slack's older markup, with its three special characters escaped. */
export function toSlackText(markdown: string | MarkdownDocument): string {
  return renderText(asDocument(markdown), mrkdwnStyle);
}

/** Whether one Slack message takes all of it: 12,000 characters in a block, and as text, which is left when its block is refused. */
export function slackFits(markdown: string | MarkdownDocument): boolean {
  const document = asDocument(markdown);
  const { length } = renderText(document, mrkdwnStyle);
  return length <= surelyShort || (length <= longestBlock && markdownLength(document) <= longestBlock);
}

function asDocument(markdown: string | MarkdownDocument): MarkdownDocument {
  return withoutPings(typeof markdown === 'string' ? parseMarkdown(markdown) : markdown);
}

function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

type Node = MarkdownDocument | Block | Inline | ListItem | TableRow | TableCell;

/**
 * Breaks every mention with an invisible character, in code too: how many times Slack undoes escapes before it looks for
 * mentions is written nowhere, so escaping alone would be a guess (H2).
 */
function withoutPings<N extends Node>(node: N): N {
  if ('value' in node) return { ...node, value: node.value.replace(pings, `$&${joiner}`) };
  if (!('children' in node)) return node;
  const before: readonly Node[] = node.children;
  const children = before.map((child) => withoutPings(child));
  return 'url' in node
    ? { ...node, url: node.url.replace(pings, encodeURIComponent), children }
    : { ...node, children };
}
