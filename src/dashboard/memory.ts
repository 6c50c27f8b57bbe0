import { englishOrigin } from '../core/provenance.ts';
import { button, cell, facts, person, table, time } from './elements.ts';
import { html } from '../lib/text/html.ts';
import type { Action, Page } from './page.ts';
import { paged } from './paged.ts';

const scopes = [
  ['person', 'of people, for their direct messages'],
  ['chat', 'of chats'],
  ['team', 'of the team, for everybody'],
] as const;

export const memoryPage: Page = {
  path: '/memory',
  title: 'Notes',
  group: 'Bot',
  async main(view) {
    const { counts, team } = await view.ask('memory team');
    const { rows, filter, pages } = paged(view, team, {
      one: 'note',
      words: ({ text, author, authorName }) => `${text} ${author} ${authorName}`,
    });
    const notes = rows.map(({ id, text, author, authorName, at, from }) => [
      cell(html`${text} <small class="id">${id}</small>`),
      cell(englishOrigin(from) ?? ''),
      cell(person(view, author, authorName)),
      cell(time(view, at)),
      cell(button(view, '/memory/remove', { label: 'Remove', about: id, fields: { id }, weight: 'danger' })),
    ]);
    return html`${facts(scopes.map(([scope, label]) => [label, counts[scope]] as const))}
      <h2>Notes of the team</h2>
      <p>Notes of people and chats are theirs alone, so they are only counted.</p>
      ${filter}${table(
        'Notes of the team',
        ['Note', 'From', 'Noted by', 'When', 'Action'],
        notes,
        'No notes of the team. Somebody says “remember for everybody that …”, and an owner approves it.',
      )}${pages}`;
  },
};

export const removeNote: Action = {
  page: memoryPage,
  asks: (form) => ({
    title: `Remove the note ${form.get('id') ?? ''}?`,
    text: 'The bot no longer knows it. This can’t be undone: its text is deleted, and the audit keeps a hash alone.',
    yes: 'Remove',
  }),
  async act(form, { ask, acts }) {
    const { removed } = await ask('memory remove', { id: form.get('id') ?? '', by: acts?.as });
    return `The note ${removed} is removed.`;
  },
};
