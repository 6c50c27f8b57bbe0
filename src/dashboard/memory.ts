import { englishOrigin } from '../core/provenance.ts';
import { button, cell, code, person, rowHead, table, time } from './elements.ts';
import { html } from './html.ts';
import type { Action, Page } from './page.ts';

const scopes = [
  ['person', 'of persons, for their direct messages'],
  ['chat', 'of chats'],
  ['team', 'of the team, for everybody'],
] as const;

export const memoryPage: Page = {
  path: '/memory',
  title: 'Memory',
  async main(view) {
    const { counts, team } = await view.ask('memory team');
    const sums = scopes.map(([scope, label]) => [rowHead(label), cell(counts[scope])]);
    const notes = team.map(({ id, text, author, authorName, at, from }) => [
      cell(text),
      cell(englishOrigin(from) ?? ''),
      cell(person(author, authorName)),
      cell(time(at)),
      cell(code(id)),
      cell(button(view, '/memory/remove', { label: 'Remove', about: id, fields: { id } })),
    ]);
    return html`${table('Counts', ['Notes', 'How many'], sums, '')}
      <h2>Notes of the team</h2>
      ${table('Notes of the team', ['Note', 'From', 'Noted by', 'When', 'Id', 'Action'], notes, 'No notes of the team.')}`;
  },
};

export const removeNote: Action = async (form, { ask, acts }) => {
  const { removed } = await ask('memory remove', { id: form.get('id') ?? '', by: acts?.as });
  return `The note ${removed} is removed.`;
};
