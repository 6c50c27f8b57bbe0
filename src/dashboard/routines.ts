import type { OutputOf } from '../operator/operations.ts';
import { button, cell, code, person, table, time } from './elements.ts';
import { html, nothing, type Html } from './html.ts';
import type { Action, Page, PageView } from './page.ts';

type RoutineRow = OutputOf<'routine list'>[number];

export const routinesPage: Page = {
  path: '/routines',
  title: 'Routines',
  async main(view) {
    const rows = (await view.ask('routine list')).map((one) => [
      cell(html`${one.name} ${code(one.id)}`),
      cell(person(one.creator)),
      cell(code(one.conversation)),
      cell(one.next === undefined ? one.state : time(one.next)),
      cell(lastOf(one)),
      cell(buttons(one, view)),
    ]);
    const headings = ['Routine', 'Creator', 'Conversation', 'Next', 'Last result', 'Action'];
    return html`<p>Reminders and routines of all people.</p>
      ${table('Routines', headings, rows, 'There are no routines.')}`;
  },
};

function lastOf({ last, failures }: RoutineRow): Html {
  if (last === undefined) return nothing;
  const failed = failures === 0 ? nothing : html` <small>failed ${failures} times in a row</small>`;
  return html`<span class="${last.how === 'failed' ? 'no' : ''}">${last.how}</span>
    ${time(last.at)}${failed}`;
}

function buttons({ id, state, isFixed }: RoutineRow, view: PageView): Html {
  const act = (label: string, action: string): Html =>
    button(view, `/routines/${action}`, { label, about: id, fields: { id } });
  const toggle = state === 'active' ? act('Pause', 'pause') : act('Resume', 'resume');
  return html`<div class="buttons">
    ${state === 'ended' ? nothing : toggle}${isFixed ? nothing : act('Remove', 'remove')}
  </div>`;
}

export function turnRoutine(to: 'pause' | 'resume'): Action {
  return async (form, { ask, acts }) => {
    const { id, state } = await ask(`routine ${to}`, { id: form.get('id') ?? '', by: acts?.as });
    return `${id} is ${state}.`;
  };
}

export const dropRoutine: Action = async (form, { ask, acts }) => {
  const { removed } = await ask('routine remove', { id: form.get('id') ?? '', by: acts?.as });
  return `${removed} is removed.`;
};
