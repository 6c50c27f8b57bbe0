import type { Budget } from './document-budget.ts';
import { tokensOf } from './xml-tokens.ts';

/** A footnote or comment: the attributes of its element, and its words on one line. */
export type Note = Readonly<{ attributes: string; words: string }>;

/** Notes of a part. Programs write the words into `t`, and some directly into `text`. */
export function* notesOf(xml = '', element: string, budget: Budget): Iterable<Note> {
  let attributes: string | undefined;
  let words = '';
  let inText = false;
  for (const token of tokensOf(xml, budget)) {
    const { tag, closes, empty } = token;
    if (tag === undefined) words += inText ? token.text : '';
    else if (tag === 't' || tag === 'text') inText = !closes && !empty;
    else if (tag === 'p' || tag === 'br') words += ' ';
    else if (tag === element && !closes) [attributes, words] = [token.attributes, ''];
    else if (tag === element && attributes !== undefined) {
      const line = words.replace(/\s+/g, ' ').trim();
      if (line !== '') yield { attributes, words: line };
      [attributes, words] = [undefined, ''];
    }
  }
}
