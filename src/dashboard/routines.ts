import type { OutputOf } from '../operator/operations.ts';
import { button, buttons, cell, badge, person, conversationLink, table, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { Action, Page, PageView } from './page.ts';
import { paged } from './paged.ts';

type RoutineRow = OutputOf<'routine list'>[number];

export const routinesPage: Page = {
  path: '/routines',
  title: 'Routines',
  group: 'Today',
  async main(view) {
    const { rows, filter, pages } = paged(view, await view.ask('routine list'), {
      one: 'routine',
      words: ({ id, name, creator, conversation, state }) =>
        [id, name, creator, view.names.person(creator), view.names.place(conversation), state].join(' '),
    });
    const cells = rows.map((one) => [
      cell(html`${one.name} <small class="id">${one.id}</small>`),
      cell(person(view, one.creator)),
      cell(conversationLink(view, one.conversation)),
      cell(one.next === undefined ? badge('quiet', one.state) : time(view, one.next)),
      cell(lastOf(one, view)),
      cell(actionsOf(one, view)),
    ]);
    const headings = ['Routine', 'Creator', 'Conversation', 'Next', 'Last result', 'Action'];
    return html`<p>Reminders and routines of all people. What they say belongs to their creators.</p>
      ${filter}${table(
        'Routines',
        headings,
        cells,
        'There are no routines. People set them up in a chat, as in “every Monday at nine, say what is new”, and you in [[routines]].',
      )}${pages}`;
  },
};

function lastOf({ last, failures }: RoutineRow, view: PageView): Html {
  if (last === undefined) return nothing;
  const failed = failures === 0 ? nothing : html` <small>failed ${failures} times in a row</small>`;
  return html`${badge(last.how === 'failed' ? 'no' : 'quiet', last.how)} ${time(view, last.at)}${failed}`;
}

function actionsOf({ id, name, state, isFixed }: RoutineRow, view: PageView): Html {
  const toggle = state === 'active' ? 'Pause' : 'Resume';
  return buttons([
    state === 'ended'
      ? nothing
      : button(view, `/routines/${toggle.toLowerCase()}`, { label: toggle, about: id, fields: { id } }),
    isFixed
      ? html`<small>set up in config.toml</small>`
      : button(view, '/routines/remove', {
          label: 'Remove',
          about: id,
          fields: { id, name },
          weight: 'danger',
        }),
  ]);
}

export function turnRoutine(to: 'pause' | 'resume'): Action {
  return {
    page: routinesPage,
    async act(form, { ask, acts }) {
      const { id, state } = await ask(`routine ${to}`, { id: form.get('id') ?? '', by: acts?.as });
      const back = to === 'pause' ? 'resume' : 'pause';
      return { text: `${id} is ${state}.`, undo: { action: `/routines/${back}`, fields: { id } } };
    },
  };
}

export const dropRoutine: Action = {
  page: routinesPage,
  asks: (form) => ({
    title: `Remove the routine ${form.get('name') ?? ''}?`,
    text: 'Its task and times are deleted, and this can’t be undone. To keep it for later, pause it instead.',
    yes: 'Remove',
  }),
  async act(form, { ask, acts }) {
    const { removed } = await ask('routine remove', { id: form.get('id') ?? '', by: acts?.as });
    return `${removed} is removed.`;
  },
};
