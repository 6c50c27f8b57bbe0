import type { MarkdownDocument } from '../../lib/markdown/document.ts';
import { parseMarkdown } from '../../lib/markdown/parse-markdown.ts';
import { plainStyle } from '../../lib/markdown/plain-text.ts';
import { renderText, type TextStyle } from '../../lib/markdown/render-text.ts';
import { showDeadLinks } from './show-dead-links.ts';
import { withoutWideTables } from './wide-tables.ts';

const longestText = 4096;
const longestCaption = 1024;
/** Telegram refuses a longer one before it looks at the marks. Bytes. */
const longestSource = 32_768;
/** Telegram silently drops the marks of a message beyond these. */
const mostEntities = 100;

/** Telegram mentions whoever has the name after an `@`, outside code. An invisible word joiner keeps it a text (H2). */
const names = /(?<!\w)@(?=\w|<|$)/g;

const textStyle: TextStyle = {
  ...plainStyle,
  text: (value) => value.replace(names, '@\u2060'),
};

/** `@types/node` is no person: as code it pings nobody and can still be copied. */
const packageName = /(?<![\w@/.-])(@[a-z\d][\w.-]*\/[\w.-]*\w(?:@[\w.^~-]*\w)?)/;

const htmlStyle: TextStyle = {
  ...textStyle,
  text: (value) =>
    value
      .split(packageName)
      .map((piece, index) =>
        index % 2 === 1 ? `<code>${escapeHtml(piece)}</code>` : escapeHtml(textStyle.text(piece)),
      )
      .join(''),
  bold: (inner) => `<b>${inner}</b>`,
  italic: (inner) => `<i>${inner}</i>`,
  strike: (inner) => `<s>${inner}</s>`,
  code: (value) => `<code>${escapeHtml(value)}</code>`,
  // Telegram allows no code in a link and would drop the link: names in it are broken, too.
  link: (inner, url) =>
    `<a href="${escapeHtml(url)}">${inner.replace(/<\/?code>/g, '').replace(names, '@\u2060')}</a>`,
  heading: (inner) => `<b>${inner.replace(/<\/?b>/g, '')}</b>`,
  pre: (value, lang) =>
    lang === null
      ? `<pre>${escapeHtml(value)}</pre>`
      : `<pre><code class="language-${lang}">${escapeHtml(value)}</code></pre>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
};

/** Telegram's HTML for Markdown: only tags that it takes, properly nested, everything else escaped (H2). */
export function toTelegramHtml(markdown: string | MarkdownDocument): string {
  return renderText(asDocument(markdown), htmlStyle);
}

/** The same message without marks, for when Telegram refuses them. Equal to the text that the HTML shows. */
export function toTelegramText(markdown: string | MarkdownDocument): string {
  return renderText(asDocument(markdown), textStyle);
}

/** Whether one Telegram message takes it: 4,096 UTF-16 units of text after the marks, 32,768 bytes with them, 100 marks. */
export function telegramFits(markdown: string | MarkdownDocument): boolean {
  return fits(markdown, longestText);
}

/** Whether it fits below a file: 1,024 UTF-16 units, else as in a message (H2). */
export function captionFits(markdown: string | MarkdownDocument): boolean {
  // What marks add to a caption is little; a long text is not parsed for nothing.
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
