import { createHash } from 'node:crypto';
import type { Holder } from '../../core/memory.ts';
import type { SearchDialect } from '../sql.ts';

export const searchPostgres: SearchDialect = {
  // Uses the index of words alone. Plans are made without knowing the query, and the other conditions match far more
  // rows.
  few: { from: 'said', holder: `said.holder || ''`, newest: 'said.seq + 0' },
  // Looks only at the newest rows, one by one, because all rows that match would be read and sorted.
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

/**
 * Words as they are in the index. A search by the beginning of a word reads all words that begin alike, so each begins
 * with a mark of its holder.
 */
export function postgresWords(holder: Holder, words: readonly string[]): string {
  return words.map((word) => `${markOf(holder)}${word}`).join(' ');
}

/**
 * The mark of a holder. It is short, because each word has it; the row's holder is compared, too. The schema makes the
 * same mark in SQL.
 */
function markOf(holder: Holder): string {
  return createHash('sha256').update(holder).digest('hex').slice(0, 8);
}
