import type { Sql } from './sql.ts';

/** The namespace whose keys are ids of people and chats under a legal hold (L18). */
export const holdNamespace = 'holds';
/** The namespace whose keys are texts: JSON with one of them in it is of somebody or some chat under a hold. */
export const holdTextNamespace = 'hold-texts';

/** Columns of a table that say whose a row is. */
type HeldColumns = Readonly<{
  /** Ids of people. */
  people?: readonly string[];
  /** Keys of conversations or of what belongs to one. */
  places?: readonly string[];
  /** Columns with JSON. */
  texts?: readonly string[];
  /** Columns with the holder of a memory. */
  holders?: readonly string[];
}>;

/** Matches rows of people and chats under a legal hold, which no retention removes (L18). */
export function isHeld({ dialect }: Sql, columns: HeldColumns): string {
  const { people = [], places = [], texts = [], holders = [] } = columns;
  const ids = [
    ...people.map((column) => `${column} = hold.key`),
    ...holders.map((column) => `${column} IN ('person ' || hold.key, 'chat ' || hold.key)`),
    ...places.map(
      (column) =>
        `${column} = hold.key OR (substr(${column}, 1, length(hold.key)) = hold.key
         AND substr(${column}, length(hold.key) + 1, 1) IN ('/', '~', '@', '#'))`,
    ),
  ];
  const inTexts = texts.map((column) => dialect.contains(column, 'hold.key'));
  const under = (namespace: string, tests: readonly string[]): readonly string[] =>
    tests.length === 0
      ? []
      : [
          `EXISTS (SELECT 1 FROM keyed AS hold WHERE hold.namespace = '${namespace}' AND (${tests.join(' OR ')}))`,
        ];
  return `(${[...under(holdNamespace, ids), ...under(holdTextNamespace, inTexts)].join(' OR ')})`;
}
