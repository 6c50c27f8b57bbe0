import { once } from '../async/mutex.ts';

const longest = 64;
const most = 2_000;
/** How many characters of a text are looked at. */
const mostCharacters = 20_000;
/** Scripts without spaces, which are cut by the rules of the language. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u;

/**
 * The distinct words of letters and digits in a text, in lower case and without accents. Stored text and queries are
 * both cut this way.
 */
export function searchWords(text: string): readonly string[] {
  const plain = text
    .slice(0, mostCharacters)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase();
  const words = plain.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const segmenter = once(() => new Intl.Segmenter('zh', { granularity: 'word' }));
  const cut = words.flatMap((word) =>
    unspaced.test(word) ? Array.from(segmenter().segment(word), ({ segment }) => segment) : [word],
  );
  return [...new Set(cut.map((word) => word.slice(0, longest).toWellFormed()))].slice(0, most);
}
