import { csvLine } from '../lib/text/csv.ts';
import { badge } from './elements.ts';
import { auditLinesTable, oneOf, readLines, textOf, whoIn, type AuditLine } from './audit-lines-table.ts';
import { choices, field, search, select } from './fields.ts';
import { html, type Html } from '../lib/text/html.ts';
import type { Download, Page, PageView } from './page.ts';
import { paged } from './paged.ts';
import { plainCode } from './plain-codes.ts';

/** How many of the newest lines a search looks through. */
const searched = 5_000;

export const auditPage: Page = {
  path: '/audit',
  title: 'Audit',
  group: 'Record',
  async main(view) {
    const { query } = view;
    const { lines, found } = await foundIn(view);
    const events = [...new Set(lines.map(({ event }) => String(event)))].sort();
    const known = [...new Set(lines.flatMap((line) => whoIn(line)))].filter((id) => id.includes(':'));
    const { rows, pages } = paged(view, found, { one: 'line', words: () => '', prefix: 'lines-' });
    const file = new URLSearchParams(query);
    return html`${search('/audit', 'Search the audit', [
        field('words', 'Words', oneOf(query, 'words'), { type: 'search' }),
        field('person', 'Person', oneOf(query, 'person'), { hint: 'telegram:42', list: 'people' }),
        select('event', 'Event', oneOf(query, 'event'), [
          ['', 'all'],
          ...events.map((event) => [event, plainCode(event)] as const),
        ]),
        field('skill', 'Skill', oneOf(query, 'skill')),
        field('since', 'Since', oneOf(query, 'since'), { type: 'date' }),
      ])}${choices(
        'people',
        known.map((id) => ({ id, name: view.names.person(id) })),
      )}
      <p class="hint">
        ${found.length} of the newest ${lines.length} lines.
        <a href="/audit.csv?${file.toString()}">Download as CSV</a>
      </p>
      ${auditLinesTable(view, rows, lines.length === 0 ? 'Nothing was recorded yet.' : 'No line matches. Take a filter away.')}${pages}${await wholeness(view)}`;
  },
};

/** The lines that the page's filter finds, as a file for a spreadsheet. */
export const auditFile: Download = {
  path: '/audit.csv',
  async text(view) {
    const { found } = await foundIn(view);
    const columns = [...new Set(found.flatMap((line) => Object.keys(line)))].filter((key) => key !== 'mac');
    const cells = found.map((line) => columns.map((key) => textOf(line[key]) ?? ''));
    return { name: 'audit.csv', text: `${[columns, ...cells].map(csvLine).join('\n')}\n` };
  },
};

async function foundIn({
  ask,
  query,
}: PageView): Promise<Readonly<{ lines: readonly AuditLine[]; found: readonly AuditLine[] }>> {
  const of = (name: string): string => oneOf(query, name);
  const lines = readLines(await ask('audit tail', { lines: searched })).toReversed();
  const found = lines.filter(
    (line) =>
      (of('person') === '' || whoIn(line).includes(of('person'))) &&
      (of('event') === '' || line['event'] === of('event')) &&
      (of('skill') === '' || line['skill'] === of('skill')) &&
      String(line['at']) >= of('since') &&
      (of('words') === '' || JSON.stringify(line).toLowerCase().includes(of('words').toLowerCase())),
  );
  return { lines, found };
}

/** Says whether the audit is unchanged. This reads the whole record, so it is done only on request. */
async function wholeness({ ask, query }: PageView): Promise<Html> {
  if (query.get('check') !== 'whole')
    return html` <p><a href="/audit?check=whole">Check that nothing in the audit was changed</a></p>`;
  const { lines, files, problems } = await ask('audit verify');
  const found = problems.map(
    ({ file, line, problem }) =>
      html`<li>${file === '' ? 'the audit' : `${file}, line ${line}`} ${problem}</li>`,
  );
  const isWhole = problems.length === 0;
  return html` <p>
      ${lines} lines in ${files} files:
      ${badge(isWhole ? 'yes' : 'no', isWhole ? 'as they were written' : 'not as they were written')}
    </p>
    ${
      isWhole
        ? ''
        : html`<ul>
            ${found}
          </ul>`
    }`;
}
