import type { Holder } from '../../core/memory.ts';
import type { SearchDialect } from '../sql.ts';

/** Joins in this order, so that the index is read first. */
const byWords = {
  from: 'said_words CROSS JOIN said ON said.seq = said_words.rowid',
  holder: 'said.holder',
  newest: 'said_words.rowid',
} as const;

export const searchSqlite: SearchDialect = {
  few: byWords,
  many: byWords,
  matches: (query) => `said_words MATCH ${query}`,
  all: (holder, words) =>
    within(
      holder,
      words.map(({ word, isBeginning }) => (isBeginning ? `"${word}" *` : `"${word}"`)).join(' AND '),
    ),
  any: (holder, words) => within(holder, `(${words.map((word) => `"${word}"`).join(' OR ')})`),
  // The trigger does the same for 64 rows at once, because one row at a time takes more than twice as long.
  catchUp: [
    `INSERT INTO said_words (rowid, words)
     SELECT seq, words FROM said WHERE seq > (SELECT up_to FROM said_indexed WHERE one = 1)`,
    'UPDATE said_indexed SET up_to = COALESCE((SELECT MAX(seq) FROM said), up_to) WHERE one = 1',
  ],
};

/** Words as they are in the index, with that of their holder first. */
export function sqliteWords(holder: Holder, words: readonly string[]): string {
  return [holderWord(holder), ...words].join(' ');
}

function within(holder: Holder, query: string): string {
  return `"${holderWord(holder)}" AND ${query}`;
}

/**
 * The word of a holder in the index, so that a search does not meet rows of others. The row's holder is compared, too.
 */
function holderWord(holder: Holder): string {
  return `holder${Buffer.from(holder).toString('hex')}`;
}
