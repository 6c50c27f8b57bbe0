import type { Root } from 'mdast';
import type { Options } from 'mdast-util-from-markdown';
import type { Code, Construct, Extension, Token } from 'micromark-util-types';
import { once } from '../async/mutex.ts';
import { visibleText, type Block, type MarkdownDocument } from './document.ts';
import { markdownLibrary } from './library.ts';
import { simplifyTree } from './simplify-tree.ts';
import { sanitizeMarkdown } from './sanitize-markdown.ts';
import { withoutEnd } from '../text/text.ts';

/** Scripts without spaces between words. Half a surrogate pair is an emoji or rare Han character. */
const unspaced =
  /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}\u3000-\u303f\uff00-\uffef\ud800-\udfff]/u;

const opening = /[\p{Ps}\p{Pi}]/u;

const closing = /[\p{Pe}\p{Pf}]/u;

const phraseEnd = /[\p{Pe}\p{Pf}.,:;!?…%`]/u;

/** GitHub-flavoured (H2). Any text, in linear time; HTML stays as written; text never becomes blank. */
export function parseMarkdown(markdown: string): MarkdownDocument {
  if (isPlain(markdown)) return { type: 'root', children: literally(markdown) };
  const stretches = sanitizeMarkdown(markdown);
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

// HTML is text to every channel; no channel has footnotes.
const notWanted = [
  'htmlFlow',
  'htmlText',
  'gfmFootnoteDefinition',
  'gfmFootnoteCall',
  'gfmPotentialFootnoteCall',
];

// One tilde is no mark: H~2~O, ~5 minutes. Made once: it takes as long as a short text.
const options = once((): Options => {
  const { gfm, gfmFromMarkdown } = markdownLibrary();
  return {
    extensions: [mindMarkEdges(gfm({ singleTilde: false })), { disable: { null: notWanted } }],
    // The transforms would link addresses that an author escaped.
    mdastExtensions: gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] })),
  };
});

/** One line without special characters: most answers. */
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

/**
 * CommonMark shows `**「重要」**です` and `*(note)*text` raw. Here `**` between punctuation and a letter may also close,
 * and beside Chinese, Japanese and Korean open (H2).
 */
function mindMarkEdges(gfm: Extension): Extension {
  const { attention } = markdownLibrary();
  const tilde = [gfm.text?.[126] ?? []].flat();
  return { ...gfm, text: { ...gfm.text, 42: mind(attention), 126: tilde.map(mind) } };
}

function mind(construct: Construct): Construct {
  return {
    ...construct,
    tokenize(effects, ok, nok) {
      const { previous } = this;
      let sequence: Token | undefined;
      const exit: typeof effects.exit = (type) => (sequence = effects.exit(type));
      const then = (code: Code): ReturnType<typeof ok> => {
        if (sequence !== undefined) widen(sequence, character(previous), character(code));
        return ok(code);
      };
      return construct.tokenize.call(this, { ...effects, exit }, then, nok);
    },
  };
}

function widen(sequence: Token, before: string, after: string): void {
  if (before.trim() === '' || after.trim() === '') return;
  if (/\d/.test(before) && /\d/.test(after)) {
    // 2*3*4 is a product.
    sequence._open = sequence._close = false;
    return;
  }
  const free = unspaced.test(before) || unspaced.test(after);
  if (free && !closing.test(after)) sequence._open = true;
  if ((free && !opening.test(before)) || (phraseEnd.test(before) && /\p{L}/u.test(after)))
    sequence._close = true;
}

/** micromark's line ends and tabs are negative. */
function character(code: Code): string {
  return code === null || code < 0 ? '' : String.fromCharCode(code);
}
