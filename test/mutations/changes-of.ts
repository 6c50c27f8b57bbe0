import type { Mutation } from './mutation.ts';

type Row = readonly [
  name: string,
  find: string,
  replace: string,
  more?: Partial<Pick<Mutation, 'test' | 'only'>>,
];

/** The changes of one file, noticed by one test unless a row says otherwise. */
export function changesOf(file: string, test: string, rows: readonly Row[]): readonly Mutation[] {
  return rows.map(([name, find, replace, more]) => ({ file, test, name, find, replace, ...more }));
}
