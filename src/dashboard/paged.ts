import { field, search } from './fields.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { PageView } from './page.ts';

const pageSize = 50;

type Listed<Row> = Readonly<{
  /** What a row is called, such as `routine`, and several of them. */
  one: string;
  many?: string;
  /** The words of a row that the filter looks through. */
  words(row: Row): string;
  /** Name of the query's parameters, if a page has several lists. */
  prefix?: string;
  size?: number;
}>;

/** The rows of a list that its filter and page show, with the filter above them and the pages below. */
export type Paged<Row> = Readonly<{ rows: readonly Row[]; filter: Html; pages: Html; isFiltered: boolean }>;

/** Filters a list by words and cuts it into pages, both by the page's address. A short list has neither. */
export function paged<Row>(
  { path, query }: PageView,
  all: readonly Row[],
  { one, many = `${one}s`, words, prefix = '', size = pageSize }: Listed<Row>,
): Paged<Row> {
  const [wordsKey, pageKey] = [`${prefix}words`, `${prefix}page`];
  const asked = (query.get(wordsKey) ?? '').trim();
  const found =
    asked === '' ? all : all.filter((row) => words(row).toLowerCase().includes(asked.toLowerCase()));
  const last = Math.max(1, Math.ceil(found.length / size));
  const page = Math.min(last, Math.max(1, Number.parseInt(query.get(pageKey) ?? '', 10) || 1));
  const first = (page - 1) * size;
  const rows = found.slice(first, first + size);
  const isFiltered = asked !== '';
  const filter =
    all.length <= 8 && !isFiltered
      ? nothing
      : search(path, `Filter the ${many}`, [field(wordsKey, 'Filter', asked, { type: 'search' })], 'Filter');
  const link = (to: number, label: string, rel: string): Html => {
    if (to < 1 || to > last) return nothing;
    const address = new URLSearchParams(query);
    address.set(pageKey, String(to));
    return html`<a class="button" rel="${rel}" href="${path}?${address.toString()}">${label}</a>`;
  };
  const count = found.length === 1 ? one : many;
  const range =
    last === 1
      ? `${found.length} ${count}`
      : `${first + 1}–${first + rows.length} of ${found.length} ${count}`;
  const of = isFiltered ? `, of ${all.length} in all` : '';
  const pages =
    last === 1 && !isFiltered
      ? nothing
      : html`<div class="pages" role="navigation" aria-label="Pages of ${many}">
          <span>${range}${of}</span>${link(page - 1, 'Previous', 'prev')}${link(page + 1, 'Next', 'next')}
        </div>`;
  return { rows, filter, pages, isFiltered };
}
