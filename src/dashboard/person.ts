import { cell, facts, figure, badge, conversationLink, table } from './elements.ts';
import { auditLinesTable, readLines, whoIn } from './audit-lines-table.ts';
import { html, type Html } from '../lib/text/html.ts';
import type { Page, PageView } from './page.ts';
import { daysUpTo, dollars, number, sumOf, sumsBy, today, usedBetween } from './usage.ts';

const [days, searched, shown] = [30, 5_000, 15];

/** What is known about one person: what they may do, what they used, what was recorded. */
export const personPage: Page = {
  path: '/person',
  title: 'Person',
  under: '/people',
  heading({ query, names }) {
    const id = query.get('id') ?? '';
    return names.person(id) ?? (id === '' ? 'Person' : id);
  },
  async main(view) {
    const id = view.query.get('id') ?? '';
    if (id === '') return html`<p class="empty">Choose one on the page of <a href="/people">people</a>.</p>`;
    const [pairs, lines, used] = await Promise.all([
      view.ask('pair list'),
      view.ask('audit tail', { lines: searched }),
      usedBetween(view, daysUpTo(today(view), days)[0] ?? '', today(view)),
    ]);
    const theirs = used.filter(({ sender }) => sender === id);
    const found = readLines(lines).filter((line) => whoIn(line).includes(id));
    const role = pairs.owners.includes(id)
      ? badge('yes', 'owner')
      : pairs.paired.some(({ sender }) => sender === id)
        ? badge('quiet', 'approved')
        : badge('quiet', 'by [access], or not at all');
    const { requests, usd } = sumOf(theirs);
    const of = encodeURIComponent(id);
    return html`${facts([
        ['Role', role],
        ['Id', html`<small class="id">${id}</small>`],
        ['Last 30 days', `${number(requests)} model requests, ${dollars(usd)}`],
        ['May use', html`<a href="/access?person=${of}">skills and chats</a>`],
        [
          'Try',
          html`<a href="/playground?person=${of}&amp;addressed=yes">as this person in the playground</a>`,
        ],
      ])}
      <h2>Conversations of the last 30 days</h2>
      ${conversations(
        sumsBy(theirs, ({ conversation }) => conversation),
        view,
      )}
      <h2>Latest in the audit</h2>
      ${auditLinesTable(view, found.slice(-shown).toReversed(), 'Nothing was recorded about this person.')}
      ${found.length > shown ? html`<p><a href="/audit?person=${of}">All ${found.length} lines</a></p>` : ''}`;
  },
};

function conversations(sums: ReturnType<typeof sumsBy>, view: PageView): Html {
  const rows = sums
    .toSorted((a, b) => b.requests - a.requests)
    .slice(0, shown)
    .map(({ key, requests, usd }) => [
      cell(conversationLink(view, key)),
      figure(number(requests)),
      figure(dollars(usd)),
    ]);
  return table('Conversations', ['Conversation', 'Model requests', 'Dollars'], rows, 'None.');
}
