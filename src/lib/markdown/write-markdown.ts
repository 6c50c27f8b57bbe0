import type { Root } from 'mdast';
import { once } from '../async/once.ts';
import type { MarkdownDocument } from './document.ts';
import { markdownLibrary } from './library.ts';
import { parseMarkdown } from './parse-markdown.ts';
import { plainText } from './plain-text.ts';
import { tightenMarks } from './tighten-marks.ts';
import { visibleText } from './visible-text.ts';

/**
 * Writes a document as Markdown that reads back as the same text. Marks that Markdown can't express where they stand are
 * given up, text never is.
 */
export function writeMarkdown(document: MarkdownDocument): string {
  return writeAndRead(document).markdown;
}

/** About how long a document is as Markdown: without a look whether it reads back. */
export function markdownLength(document: MarkdownDocument): number {
  return write(document).length;
}

/** The Markdown of a document, and what reading it gives, which is not always quite the same document. */
export function writeAndRead(
  document: MarkdownDocument,
): Readonly<{ markdown: string; document: MarkdownDocument }> {
  const markdown = write(document);
  const read = parseMarkdown(markdown);
  if (isSame(read, document)) return { markdown, document: read };
  const byBlock = document.children.map((block) => writeBlock({ type: 'root', children: [block] }));
  const joined = byBlock.join('\n\n');
  const again = parseMarkdown(joined);
  if (isSame(again, document)) return { markdown: joined, document: again };
  const escaped = escapeMarkdown(plainText(document));
  return { markdown: escaped, document: parseMarkdown(escaped) };
}

function writeBlock(block: MarkdownDocument): string {
  const markdown = write(block);
  return isSame(parseMarkdown(markdown), block) ? markdown : escapeMarkdown(plainText(block));
}

function write(document: MarkdownDocument): string {
  const { gfmToMarkdown, toMarkdown } = markdownLibrary();
  // The document's node types are mdast's, only readonly.
  return toMarkdown(tightenMarks(document) as unknown as Root, {
    // Cells are not padded; each counts as three wide, so that the line under the header has the dashes every reader takes.
    extensions: [gfmToMarkdown({ stringLength: () => 3 }), { handlers: onlyAsterisks() }],
    bullet: '-',
    rule: '-',
    listItemIndent: 'one',
    resourceLink: true,
  }).replace(/\n+$/, '');
}

// Between letters an underscore is no mark, and the library would try one.
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

/** Whether the same words are shown. White space is layout. */
function isSame(one: MarkdownDocument, other: MarkdownDocument): boolean {
  return withoutSpace(visibleText(one)) === withoutSpace(visibleText(other));
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
