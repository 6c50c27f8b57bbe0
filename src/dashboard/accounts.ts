import { button, cell, code, badge, person, table, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Action, Page, PageView } from './page.ts';
import { paged } from './paged.ts';

export const accountsPage: Page = {
  path: '/accounts',
  title: 'Linked accounts',
  group: 'People',
  async main(view) {
    const { rows, filter, pages } = paged(view, await view.ask('capability accounts'), {
      one: 'account',
      words: ({ sender, capability, ref }) =>
        `${sender} ${view.names.person(sender) ?? ''} ${capability} ${ref}`,
    });
    const cells = rows.map(({ sender, capability, ref, linkedAt }) => [
      cell(person(view, sender)),
      cell(code(capability)),
      cell(ref),
      cell(time(view, linkedAt)),
      cell(
        button(view, '/accounts/unlink', {
          ...{ label: 'Unlink', about: `${ref} of ${sender}`, weight: 'danger' },
          fields: { sender, capability, ref },
        }),
      ),
    ]);
    return html`<p>Accounts that people linked, so that skills can act as them in other systems.</p>
      ${filter}${table(
        'Linked accounts',
        ['Person', 'System', 'Account', 'Linked', 'Action'],
        cells,
        'Nobody linked an account. A skill that needs one asks the person for it.',
      )}${pages}${await systems(view)}`;
  },
};

async function systems({ ask }: PageView): Promise<Html> {
  const { offered, problems } = await ask('capability list');
  const rows = offered.map(({ namespace, capabilities, problem }) => [
    cell(code(namespace)),
    cell(problem === undefined ? badge('yes', 'works') : html`${badge('no', 'away')} ${problem}`),
    cell(html`${capabilities.map(({ id }) => html`${code(id)} `)}`),
  ]);
  return html`<h2>Systems</h2>
    ${
      problems.length === 0
        ? nothing
        : html`<ul class="no">
            ${problems.map((one) => html`<li>${one}</li>`)}
          </ul>`
    }
    ${table('Systems', ['Provider', 'State', 'Offers'], rows, 'No provider is set up: see [[capabilities.providers]] in the config.')}`;
}

export const unlinkAccount: Action = {
  page: accountsPage,
  asks: (form) => ({
    title: `Unlink ${form.get('ref') ?? 'this account'}?`,
    text: 'Skills can no longer act as this person there. This can’t be undone here: the person links the account again when a skill needs it.',
    yes: 'Unlink',
  }),
  async act(form, { ask }) {
    const of = (name: string): string => form.get(name) ?? '';
    await ask('capability revoke', { sender: of('sender'), capability: of('capability'), ref: of('ref') });
    return `${of('ref')} of ${of('sender')} is unlinked.`;
  },
};
