import { createHash } from 'node:crypto';
import type { Holder } from '../../core/memory.ts';
import type { SearchDialect } from '../sql.ts';

export const searchSaid: SearchDialect = {
  // By the index of words alone: plans are made without knowing what is asked, and the others have far more rows.
  few: { from: 'said', holder: `said.holder || ''`, newest: 'said.seq + 0' },
  // All that match would be read and sorted: only the newest are looked at, one by one.
  many: {
    from: `(SELECT * FROM said WHERE seq = ANY (ARRAY(
      SELECT seq FROM said WHERE holder = ?1 ORDER BY seq DESC LIMIT 500)) OFFSET 0) AS said`,
    holder: 'said.holder',
    newest: 'said.seq',
  },
  matches: (query) => `said.words @@ CAST(${query} AS tsquery)`,
  all: (holder, words) =>
    words.map(({ word, isBeginning }) => `'${markOf(holder)}${word}'${isBeginning ? ':*' : ''}`).join(' & '),
  any: (holder, words) => words.map((word) => `'${markOf(holder)}${word}'`).join(' | '),
};

/** As the index has them: words that begin alike are looked through all, so each begins with a mark of its holder. */
export function indexedWords(holder: Holder, words: readonly string[]): string {
  return words.map((word) => `${markOf(holder)}${word}`).join(' ');
}

/** Short, as each word carries it; the row's holder is compared, too. The schema makes it in SQL. */
function markOf(holder: Holder): string {
  return createHash('sha256').update(holder).digest('hex').slice(0, 8);
}
