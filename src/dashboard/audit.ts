import { oneLine } from '../lib/text/text.ts';
import { cell, code, field, person, search, table, time } from './elements.ts';
import { html, type Html } from './html.ts';
import type { Page, PageView } from './page.ts';

/** How many of the newest lines a search looks through. */
const searched = 5_000;
const shown = 200;
const longest = 300;

/** A line of the audit, read as data (L6). */
export type AuditLine = Readonly<Record<string, unknown>>;

/** Fields that have columns of their own, or that mean nothing to a reader. */
const inColumns: ReadonlySet<string> = new Set([
  ...['seq', 'at', 'event', 'mac', 'argumentsHash', 'call', 'run', 'id', 'chatType', 'sender', 'requester'],
  ...[
    'conversation',
    'tool',
    'skill',
    'ok',
    'policy',
    'verdict',
    'outcome',
    'status',
    'step',
    'code',
    'codes',
  ],
]);

export const auditPage: Page = {
  path: '/audit',
  title: 'Audit',
  async main(view) {
    const { ask, query } = view;
    const of = (name: string): string => (query.get(name) ?? '').trim();
    const lines = readLines(await ask('audit tail', { lines: searched })).toReversed();
    const found = lines.filter(
      (line) =>
        (of('person') === '' || whoIn(line).includes(of('person'))) &&
        (of('event') === '' || line['event'] === of('event')) &&
        (of('skill') === '' || line['skill'] === of('skill')) &&
        String(line['at']) >= of('since') &&
        (of('words') === '' || JSON.stringify(line).toLowerCase().includes(of('words').toLowerCase())),
    );
    const events = [...new Set(lines.map(({ event }) => String(event)))].sort();
    return html`${search('/audit', 'Search the audit', [
        field('words', 'Words', of('words'), { type: 'search' }),
        field('person', 'Person', of('person'), { hint: 'telegram:42' }),
        field('event', 'Event', of('event'), { list: 'events' }),
        field('skill', 'Skill', of('skill')),
        field('since', 'Since', of('since'), { type: 'date' }),
      ])}<datalist id="events">${events.map((event) => html`<option value="${event}"></option>`)}</datalist>
      <p>
        ${found.length} of the newest ${lines.length} lines${found.length > shown ? `, ${shown} shown` : ''}.
      </p>
      ${auditPageTable(found.slice(0, shown))}${await wholeness(view)}`;
  },
};

/** Says whether the audit is unchanged. This reads the whole record, so it is done only on request. */
async function wholeness({ ask, query }: PageView): Promise<Html> {
  if (query.get('check') !== 'whole')
    return html` <p><a href="/audit?check=whole">Check that nothing in the audit was changed</a></p>`;
  const { lines, files, problems } = await ask('audit verify');
  const found = problems.map(
    ({ file, line, problem }) =>
      html`<li>${file === '' ? 'the audit' : `${file}, line ${line}`} ${problem}</li>`,
  );
  return html` <p class="${problems.length === 0 ? 'yes' : 'no'}">
      ${lines} lines in ${files} files:
      ${problems.length === 0 ? 'as they were written.' : 'not as they were written.'}
    </p>
    <ul>
      ${found}
    </ul>`;
}

export function readLines(lines: readonly string[]): readonly AuditLine[] {
  return lines.map((line) => JSON.parse(line) as AuditLine);
}

export function auditPageTable(lines: readonly AuditLine[], empty = 'No line matches.'): Html {
  const rows = lines.map((line) => [
    cell(time(Date.parse(String(line['at'])) || 0)),
    cell(String(line['event'])),
    cell(person(textOf(line['sender'] ?? line['requester']))),
    cell(code(textOf(line['conversation']))),
    cell(html`${code(textOf(line['tool']))} ${code(textOf(line['skill']))}`),
    cell(outcomeOf(line)),
    cell(moreOf(line)),
  ]);
  const headings = ['When', 'Event', 'Person', 'Conversation', 'Tool, skill', 'Outcome', 'More'];
  return table('Audit', headings, rows, empty);
}

function outcomeOf(line: AuditLine): Html {
  const codes = Array.isArray(line['codes']) ? (line['codes'] as readonly unknown[]) : [];
  const words = ['policy', 'verdict', 'step', 'outcome', 'status', 'code'].map((key) => textOf(line[key]));
  const failed = line['ok'] === false ? ['failed'] : [];
  const all = [...words, ...failed, ...codes.map(textOf)].filter((word) => word !== undefined && word !== '');
  return html`<span class="${failed.length > 0 ? 'no' : ''}">${[...new Set(all)].join(', ')}</span>`;
}

function moreOf(line: AuditLine): string {
  const rest = Object.entries(line).filter(([key]) => !inColumns.has(key));
  return oneLine(
    rest
      .map(([key, value]) => (key === 'durationMs' ? `${textOf(value)} ms` : `${key} ${textOf(value)}`))
      .join(' · '),
    longest,
  );
}

function whoIn(line: AuditLine): readonly unknown[] {
  return [line['sender'], line['requester'], line['by'], line['approvedBy']];
}

function textOf(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}
