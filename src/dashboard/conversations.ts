import { cell, code, figure, person, conversationLink, table } from './elements.ts';
import { search, select } from './fields.ts';
import { html, type Html } from '../lib/text/html.ts';
import type { Page } from './page.ts';
import { paged } from './paged.ts';
import { daysUpTo, dollars, number, sumsBy, today, usedBetween } from './usage.ts';

const spans = [
  ['1', 'today'],
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
  ['90', 'last 90 days'],
] as const;

export const conversationsPage: Page = {
  path: '/conversations',
  title: 'Conversations',
  group: 'People',
  async main(view) {
    const chosen = spans.find(([days]) => days === view.query.get('days'))?.[0] ?? '7';
    const days = daysUpTo(today(view), Number(chosen));
    const used = await usedBetween(view, days[0] ?? '', days.at(-1) ?? '');
    const sums = sumsBy(used, ({ conversation }) => conversation).map((one) => ({
      ...one,
      people: [...new Set(one.of.map(({ sender }) => sender))],
      skills: [...new Set(one.of.map(({ skill }) => skill))].filter((skill) => skill !== ''),
      last:
        one.of
          .map(({ day }) => day)
          .toSorted()
          .at(-1) ?? '',
    }));
    const newest = sums.toSorted((a, b) => b.last.localeCompare(a.last) || b.requests - a.requests);
    const { rows, filter, pages } = paged(view, newest, {
      one: 'conversation',
      words: ({ key, people, skills }) =>
        [
          key,
          view.names.place(key),
          ...people.map((id) => `${id} ${view.names.person(id) ?? ''}`),
          ...skills,
        ].join(' '),
    });
    const cells = rows.map(({ key, people, skills, requests, usd, last }) => [
      cell(conversationLink(view, key)),
      cell(html`${joined(people.map((id) => person(view, id)))}`),
      cell(html`${skills.map((skill) => html`${code(skill)} `)}`),
      figure(number(requests)),
      figure(dollars(usd)),
      cell(last),
    ]);
    const headings = ['Conversation', 'People', 'Skills', 'Model requests', 'Dollars', 'Last day'];
    return html`<p>Open one to see its turns: which skills and tools, what was decided, and what it cost.</p>
      ${search('/conversations', 'Choose a period', [select('days', 'Period', chosen, spans)])}
      ${filter}${table('Conversations', headings, cells, 'No model was used in this time.')}${pages}`;
  },
};

function joined(of: readonly Html[]): readonly Html[] {
  return of.map((one, at) => (at === 0 ? one : html`, ${one}`));
}
