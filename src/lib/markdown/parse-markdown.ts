import type { Root } from 'mdast';
import type { Options } from 'mdast-util-from-markdown';
import type { Code, Construct, Extension, Token } from 'micromark-util-types';
import { once } from '../async/mutex.ts';
import { visibleText, type MarkdownBlock, type MarkdownDocument } from './document.ts';
import { markdownLibrary } from './library.ts';
import { beginsFormula, isDunder, isFormula, isTag } from './html-tags.ts';
import { takePlainTables } from './plain-tables.ts';
import { simplifyTree } from './simplify-tree.ts';
import { sanitizeMarkdown } from './sanitize-markdown.ts';
import { hasVisible, withoutEnd } from '../text/text.ts';

/** Matches scripts without spaces between words. Half a surrogate pair is an emoji or a rare Han character. */
const unspaced =
  /(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}\u3000-\u303f\uff00-\uffef\ud800-\udfff]/u;

const opening = /[\p{Ps}\p{Pi}]/u;

const closing = /[\p{Pe}\p{Pf}]/u;

const phraseEnd = /[\p{Pe}\p{Pf}.,:;!?…%`]/u;

/** Parses GitHub-flavoured Markdown (H2). It accepts any text, takes linear time, and never turns text into nothing. */
export function parseMarkdown(markdown: string): MarkdownDocument {
  if (isPlain(markdown)) return { type: 'root', children: literally(markdown) };
  const stretches = sanitizeMarkdown(markdown);
  const children = stretches.flatMap(({ source, definitions, literal }) =>
    literal ? literally(source) : parse(definitions === '' ? source : `${definitions}\n\n${source}`),
  );
  const document: MarkdownDocument = { type: 'root', children };
  if (hasVisible(visibleText(document))) return document;
  return { type: 'root', children: stretches.flatMap(({ source }) => literally(source)) };
}

function parse(source: string): readonly MarkdownBlock[] {
  return takePlainTables(source).flatMap((piece) => piece.table ?? parseAny(piece.source));
}

/** Parses text as CommonMark and GitHub define it. */
export function parseAny(source: string): readonly MarkdownBlock[] {
  const tree: Root = markdownLibrary().fromMarkdown(source, options());
  return simplifyTree(tree);
}

// `tags` reads the HTML that chats can show, and the rest of it is text. No channel has footnotes.
const notWanted = [
  'htmlFlow',
  'htmlText',
  'gfmFootnoteDefinition',
  'gfmFootnoteCall',
  'gfmPotentialFootnoteCall',
];

// One tilde is not a mark, as in H~2~O and ~5 minutes. Made once, because it takes as long as parsing a short text.
const options = once((): Options => {
  const { gfm, gfmFromMarkdown } = markdownLibrary();
  return {
    extensions: [
      mindMarkEdges(gfm({ singleTilde: false })),
      { text: { 36: formula, 60: tags, 92: formula }, disable: { null: notWanted } },
    ],
    // The transforms would link addresses that an author escaped.
    mdastExtensions: gfmFromMarkdown().map((extension) => ({ ...extension, transforms: [] })),
  };
});

/** Whether the text is one line without special characters, as most answers are. */
function isPlain(markdown: string): boolean {
  return (
    /^\p{L}(?:[\p{L}\p{N} ,.;?!'"()%-]*[\p{L}\p{N},.;?!'"()%])?$/u.test(markdown) && !/www\./i.test(markdown)
  );
}

function literally(source: string): readonly MarkdownBlock[] {
  return source
    .split(/\n(?:[ \t]*\n)+/)
    .map((value) => value.trim().split('\n'))
    .map((lines) => lines.map((line) => withoutEnd(line, ' \t')).join('\n'))
    .filter((value) => value !== '')
    .map((value) => ({ type: 'paragraph', children: [{ type: 'text', value }] }));
}

/**
 * CommonMark shows `**「重要」**です` and `*(note)*text` with their asterisks. Here `**` between punctuation and a letter may
 * also close, and beside Chinese, Japanese and Korean text it may open (H2).
 */
function mindMarkEdges(gfm: Extension): Extension {
  const { attention } = markdownLibrary();
  const tilde = [gfm.text?.[126] ?? []].flat();
  return {
    ...gfm,
    text: { ...gfm.text, 42: mind(attention), 95: [dunder, attention], 126: tilde.map(mind) },
  };
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
    // In 2*3*4 the asterisks mean multiplication.
    sequence._open = sequence._close = false;
    return;
  }
  const free = unspaced.test(before) || unspaced.test(after);
  if (free && !closing.test(after)) sequence._open = true;
  if ((free && !opening.test(before)) || (phraseEnd.test(before) && /\p{L}/u.test(after)))
    sequence._close = true;
}

const longestLiteral = 1_000;

/** Tags and links in angle brackets. Each ends before the next `<`, so that all of them take linear time (S9). */
const tags = literal(
  'tag',
  (source) => source === '<' || (source.at(-1) !== '<' && source.at(-2) !== '>'),
  isTag,
);

/** A name such as Python's `__init__`, which is not a bold word. */
const dunder: Construct = {
  ...literal('dunder', (source) => /^_{1,2}$|^__[a-z][a-z0-9_]{0,40}$/.test(source), isDunder),
  previous: (code) => !/\w/.test(character(code)),
};

/** TeX between dollars or in its brackets, also over several lines. Its backslashes are not escapes. */
const formula: Construct = {
  ...literal('formula', beginsFormula, isFormula, true),
  previous: (code) => !/[\w$\\]/.test(character(code)),
};

/**
 * Reads on in a line while `mayBe` is true for each further character, until `is` is true. The tree contains the text
 * as HTML (`readTag`). `mayBe` looks only at the last characters, because it is called for each.
 */
function literal(
  name: string,
  mayBe: (source: string) => boolean,
  is: (source: string, next: string) => boolean,
  overLines = false,
): Construct {
  return {
    name,
    tokenize(effects, ok, nok) {
      let source = '';
      return (code) => {
        effects.enter('htmlText');
        effects.enter('htmlTextData');
        return next(code);
      };

      function next(code: Code): ReturnType<typeof ok> {
        if (is(source, character(code))) {
          effects.exit('htmlTextData');
          effects.exit('htmlText');
          return ok(code);
        }
        if (overLines && code !== null && code < -2 && code > -6) return line(code);
        source += character(code);
        if (code === null || code < 0 || source.length > longestLiteral || !mayBe(source)) return nok(code);
        effects.consume(code);
        return next;
      }

      function line(code: Code): ReturnType<typeof ok> {
        source += ' ';
        if (source.length > longestLiteral || !mayBe(source)) return nok(code);
        effects.exit('htmlTextData');
        effects.enter('lineEnding');
        effects.consume(code);
        effects.exit('lineEnding');
        return (after) => {
          effects.enter('htmlTextData');
          return next(after);
        };
      }
    },
  };
}

/** A character code as text. Codes of micromark for line ends and tabs are negative. */
function character(code: Code): string {
  return code === null || code < 0 ? '' : String.fromCharCode(code);
}
