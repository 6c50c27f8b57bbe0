import { oneLine } from '../lib/text/text.ts';
import type { Letter } from '../operator/direct-words.ts';
import { button, cell, code, person, table, time } from './elements.ts';
import { html, type Html } from './html.ts';
import type { Action, Page, PageView } from './page.ts';

/** How many characters of a message are shown, enough to know which one it is. */
const shownText = 200;

export const lettersPage: Page = {
  path: '/letters',
  title: 'Inbox',
  async main(view) {
    const [dead, waiting, parts] = await Promise.all([
      view.ask('inbox list', 'dead'),
      view.ask('inbox list', 'waiting'),
      view.ask('outbox list'),
    ]);
    const failed = parts.map(({ key, queue, error, at }) => [
      cell(code(key)),
      cell(code(queue)),
      cell(time(at)),
      cell(error),
      cell(button(view, '/outbox/retry', { label: 'Send again', about: key, fields: { key } })),
    ]);
    return html`<h2>Dead letters</h2>
      <p>Messages that failed three times.</p>
      ${items('Dead letters', dead, view, 'No dead letters.')}
      <h2>Failed deliveries</h2>
      <p>Parts of answers that the platform refused.</p>
      ${table(
        'Failed deliveries',
        ['Key', 'Conversation', 'When', 'Why', 'Action'],
        failed,
        'No failed deliveries.',
      )}
      <h2>Waiting</h2>
      ${items('Waiting messages', waiting, view, 'No message waits.')}`;
  },
};

function items(label: string, of: readonly Letter[], view: PageView, empty: string): Html {
  const rows = of.map(({ key, queue, acceptedAt, error, sender, ...said }) => [
    cell(person(sender?.id, sender?.name)),
    cell(code(queue)),
    cell(whatOf(said)),
    cell(time(acceptedAt)),
    cell(error),
    cell(
      html`<div class="buttons">
        ${
          label === 'Dead letters'
            ? button(view, '/inbox/retry', { label: 'Try again', about: key, fields: { key } })
            : ''
        }${button(view, '/inbox/drop', { label: 'Drop', about: key, fields: { key } })}
      </div>`,
    ),
  ]);
  return table(label, ['Person', 'Conversation', 'Message', 'Arrived', 'Error', 'Action'], rows, empty);
}

function whatOf({ hook, skill, text }: Pick<Letter, 'hook' | 'skill' | 'text'>): string | Html {
  if (text === undefined) return 'can’t be read';
  if (hook !== undefined) return html`hook ${code(hook)}`;
  return skill === undefined ? oneLine(text, shownText) : html`skill ${code(skill)}`;
}

export const retryLetter: Action = async (form, { ask }) => {
  const { retried } = await ask('inbox retry', form.get('key') ?? '');
  return `${retried} is answered again.`;
};

export const dropLetter: Action = async (form, { ask }) => {
  const { dropped } = await ask('inbox drop', form.get('key') ?? '');
  return `${dropped} stays unanswered.`;
};

export const retryDelivery: Action = async (form, { ask }) => {
  const { retried } = await ask('outbox retry', form.get('key') ?? '');
  return `${retried} is sent again.`;
};
