import type { Root } from 'mdast';
import type { Options } from 'mdast-util-from-markdown';
import { once } from '../async/once.ts';
import { withoutEnd } from '../text/text.ts';
import type { Block, MarkdownDocument } from './document.ts';
import { markdownLibrary } from './library.ts';
import { mindMarkEdges } from './mark-edges.ts';
import { simplifyTree } from './simplify-tree.ts';
import { tameMarkdown } from './tame-markdown.ts';
import { visibleText } from './visible-text.ts';

/**
 * Parses GitHub-flavoured Markdown into a tree that any channel may show as it is (H2). Any text at all is taken, in time
 * that grows with its length; HTML is shown as it was written; text that is not blank (control characters
 * are) never becomes blank.
 */
export function parseMarkdown(markdown: string): MarkdownDocument {
  if (isPlain(markdown)) return { type: 'root', children: literally(markdown) };
  const stretches = tameMarkdown(markdown);
  const children = stretches.flatMap(({ source, definitions, literal }) =>
    literal ? literally(source) : parse(definitions === '' ? source : `${definitions}\n\n${source}`),
  );
  const document: MarkdownDocument = { type: 'root', children };
  if (visibleText(document).trim() !== '') return document;
  return { type: 'root', children: stretches.flatMap(({ source }) => literally(source)) };
}

function parse(source: string): readonly Block[] {
  const tree: Root = markdownLibrary().fromMarkdown(source, options());
  return simplifyTree(tree);
}

// HTML is text to every channel; footnotes have no form in any of them and read well enough as they are written.
const notWanted = [
  'htmlFlow',
  'htmlText',
  'gfmFootnoteDefinition',
  'gfmFootnoteCall',
  'gfmPotentialFootnoteCall',
];

// One tilde is no mark: people write H~2~O and ~5 minutes. Made once: for a short text that takes as long as to parse it.
const options = once((): Options => {
  const { gfm, gfmFromMarkdown } = markdownLibrary();
  return {
    extensions: [mindMarkEdges(gfm({ singleTilde: false })), { disable: { null: notWanted } }],
    // Without their transforms, which would find addresses once more where an author escaped them.
    mdastExtensions: gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] })),
  };
});

/** One line of words in which no character can mean anything: most of what people are answered, and not worth a parser. */
function isPlain(markdown: string): boolean {
  return (
    /^\p{L}(?:[\p{L}\p{N} ,.;?!'"()%-]*[\p{L}\p{N},.;?!'"()%])?$/u.test(markdown) && !/www\./i.test(markdown)
  );
}

function literally(source: string): readonly Block[] {
  return source
    .split(/\n(?:[ \t]*\n)+/)
    .map((value) => value.trim().split('\n'))
    .map((lines) => lines.map((line) => withoutEnd(line, ' \t')).join('\n'))
    .filter((value) => value !== '')
    .map((value) => ({ type: 'paragraph', children: [{ type: 'text', value }] }));
}
