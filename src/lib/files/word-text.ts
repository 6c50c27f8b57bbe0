import type { Budget } from './document-budget.ts';
import { notesOf } from './note-text.ts';
import { tokensOf, attributeOf } from './xml-tokens.ts';
import type { Zip } from './zip.ts';

/** Parts with text outside of the body. `mark` is the element there and where the body refers to it. */
const notes: readonly Readonly<{ part: string; title: string; mark: string }>[] = [
  { part: 'word/footnotes.xml', title: 'Footnotes', mark: 'footnote' },
  { part: 'word/endnotes.xml', title: 'Endnotes', mark: 'endnote' },
  { part: 'word/comments.xml', title: 'Comments', mark: 'comment' },
];

/** The lines of a document: the body, then headers, footers, footnotes, endnotes and comments. */
export async function* wordDocument(zip: Zip, budget: Budget): AsyncIterable<string> {
  yield* linesOf(await zip.read('word/document.xml'), budget);
  const edges = ['header', 'footer'].flatMap((edge) =>
    zip.names.filter((name) => name.startsWith(`word/${edge}`)).sort(),
  );
  const said = new Set<string>();
  for (const name of edges) {
    const words = [...linesOf(await zip.read(name), budget)].filter((line) => line !== '').join(' ');
    const line = `${name.startsWith('word/header') ? 'Header' : 'Footer'}: ${words}`;
    // Each section has its own header and footer, which are often the same.
    if (words !== '' && !said.has(line)) yield line;
    said.add(line);
  }
  for (const { part, title, mark } of notes) {
    let count = 0;
    for (const { attributes, words } of notesOf(await zip.read(part), mark, budget)) {
      if (count === 0) yield* ['', `${title}:`];
      count += 1;
      const author = attributeOf(attributes, 'author');
      yield `[${mark} ${attributeOf(attributes, 'id')}] ${author === '' ? '' : `${author}: `}${words}`;
    }
  }
}

/**
 * Elements whose text people do not see here: settings of paragraphs, what was moved away, and an older form of the
 * element before it.
 */
const unseen = new Set(['pPr', 'moveFrom', 'Fallback']);

/** Paragraphs and rows of text documents and slides. Only `t` contains text. */
export function* linesOf(xml = '', budget: Budget): Iterable<string> {
  let line = '';
  let inText = false;
  let cells = 0;
  let skips: Readonly<{ tag: string; depth: number }> | undefined;
  for (const { tag, closes, empty, attributes, text } of tokensOf(xml, budget)) {
    if (skips !== undefined) {
      if (tag !== skips.tag || empty) continue;
      const depth = skips.depth + (closes ? -1 : 1);
      skips = depth === 0 ? undefined : { tag, depth };
    } else if (tag === undefined) line += inText ? text : '';
    else if (tag === 't') inText = !closes && !empty;
    else if (unseen.has(tag) && !closes && !empty) skips = { tag, depth: 1 };
    else if (tag === 'tab' && empty) line += '\t';
    else if (tag === 'noBreakHyphen') line += '-';
    else if (tag === 'br' || tag === 'cr') line += cells > 0 ? ' ' : '\n';
    else if (/^(?:footnote|endnote|comment)Reference$/.test(tag))
      line += `[${tag.replace('Reference', '')} ${attributeOf(attributes, 'id')}]`;
    else if (tag === 'tc' && !empty) {
      cells += closes ? -1 : 1;
      if (closes) line = `${line.trimEnd()}\t`;
    } else if (tag === 'p' && closes && cells > 0) line += ' ';
    else if ((tag === 'p' || tag === 'tr') && closes) {
      yield line.trimEnd();
      line = '';
    }
  }
}
