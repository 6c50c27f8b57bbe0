import type { Root } from 'mdast';
import type { MarkdownDocument } from './document.ts';
import { markdownLibrary } from './library.ts';
import { parseMarkdown } from './parse-markdown.ts';
import { plainText } from './plain-text.ts';
import { visibleText } from './visible-text.ts';

/**
 * Writes a document as Markdown that reads back as the same text. Marks that Markdown can't express where they stand are
 * given up, text never is.
 */
export function writeMarkdown(document: MarkdownDocument): string {
  return writeAndRead(document).markdown;
}

/** The Markdown of a document, and what reading it gives, which is not always quite the same document. */
export function writeAndRead(
  document: MarkdownDocument,
): Readonly<{ markdown: string; document: MarkdownDocument }> {
  const { gfmToMarkdown, toMarkdown } = markdownLibrary();
  // The document's node types are mdast's, only readonly.
  const markdown = toMarkdown(document as unknown as Root, {
    // Cells are not padded; each counts as three wide, so that the line under the header has the dashes every reader takes.
    extensions: [gfmToMarkdown({ stringLength: () => 3 })],
    bullet: '-',
    rule: '-',
    emphasis: '_',
    listItemIndent: 'one',
    resourceLink: true,
  }).replace(/\n+$/, '');
  const read = parseMarkdown(markdown);
  if (withoutSpace(visibleText(read)) === withoutSpace(visibleText(document)))
    return { markdown, document: read };
  const escaped = escapeMarkdown(plainText(document));
  return { markdown: escaped, document: parseMarkdown(escaped) };
}

/**
 * Markdown that shows exactly these characters, save for white space at the ends of lines. At most three times as long.
 */
export function escapeMarkdown(text: string): string {
  const escaped = text.split('\n').map((line) => line.trim().replace(/[!-/:-@[-`{-~]/g, '\\$&'));
  return escaped
    .map((line, index) => (line === '' || (escaped[index + 1] ?? '') === '' ? line : `${line}\\`))
    .join('\n');
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}
