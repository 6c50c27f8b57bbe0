import { oneLine } from '../lib/text/text.ts';
import type { Letter } from '../operator/direct-words.ts';
import type { OutputOf } from '../operator/operations.ts';
import { button, buttons, cell, code, person, conversationLink, table, time } from './elements.ts';
import { html, type Html } from '../lib/text/html.ts';
import type { Action, Page, PageView } from './page.ts';
import { paged } from './paged.ts';

/** How many characters of a message are shown, enough to know which one it is. */
const shownText = 200;

export const lettersPage: Page = {
  path: '/letters',
  title: 'Inbox',
  group: 'Today',
  waits: 'letters',
  async main(view) {
    const [dead, waiting, parts] = await Promise.all([
      view.ask('inbox list', 'dead'),
      view.ask('inbox list', 'waiting'),
      view.ask('outbox list'),
    ]);
    return html`<h2>Dead letters</h2>
      <p>Messages that failed three times. They can be answered once the reason is gone.</p>
      ${items({ label: 'Dead letters', prefix: 'dead-' }, dead, view, 'No dead letters.')}
      <h2>Failed deliveries</h2>
      <p>Parts of answers that the platform refused.</p>
      ${failed(parts, view)}
      <h2>Waiting</h2>
      ${items({ label: 'Waiting messages', prefix: 'wait-' }, waiting, view, 'No message waits.')}`;
  },
};

function failed(parts: OutputOf<'outbox list'>, view: PageView): Html {
  const { rows, filter, pages } = paged(view, parts, {
    ...{ one: 'failed delivery', many: 'failed deliveries', prefix: 'failed-' },
    words: ({ key, queue, error }) => `${key} ${queue} ${error} ${view.names.place(queue) ?? ''}`,
  });
  const cells = rows.map(({ key, queue, error, at }) => [
    cell(conversationLink(view, queue)),
    cell(error),
    cell(time(view, at)),
    cell(code(key)),
    cell(button(view, '/outbox/retry', { label: 'Send again', about: key, fields: { key } })),
  ]);
  const headings = ['Conversation', 'Why', 'When', 'Key', 'Action'];
  return html`${filter}${table('Failed deliveries', headings, cells, 'No failed deliveries.')}${pages}`;
}

function items(
  { label, prefix }: Readonly<{ label: string; prefix: string }>,
  all: readonly Letter[],
  view: PageView,
  empty: string,
): Html {
  const { rows, filter, pages } = paged(view, all, {
    ...{ one: 'message', prefix },
    words: ({ key, queue, error = '', sender, text = '' }) =>
      [key, queue, error, sender?.id, sender?.name, text, view.names.place(queue)].join(' '),
  });
  const isDead = label === 'Dead letters';
  const cells = rows.map(({ key, queue, acceptedAt, error, sender, ...said }) => [
    cell(person(view, sender?.id, sender?.name)),
    cell(conversationLink(view, queue)),
    cell(whatOf(said)),
    cell(time(view, acceptedAt)),
    cell(error),
    cell(
      buttons([
        isDead ? button(view, '/inbox/retry', { label: 'Try again', about: key, fields: { key } }) : html``,
        button(view, '/inbox/drop', { label: 'Drop', about: key, fields: { key }, weight: 'danger' }),
      ]),
    ),
  ]);
  const headings = ['Person', 'Conversation', 'Message', 'Arrived', 'Error', 'Action'];
  return html`${filter}${table(label, headings, cells, empty)}${pages}`;
}

function whatOf({ hook, skill, text }: Pick<Letter, 'hook' | 'skill' | 'text'>): string | Html {
  if (text === undefined) return 'can’t be read';
  if (hook !== undefined) return html`hook ${code(hook)}`;
  return skill === undefined ? oneLine(text, shownText) : html`skill ${code(skill)}`;
}

export const retryLetter: Action = {
  page: lettersPage,
  async act(form, { ask }) {
    const { retried } = await ask('inbox retry', form.get('key') ?? '');
    return `${retried} is answered again.`;
  },
};

export const dropLetter: Action = {
  page: lettersPage,
  asks: () => ({
    title: 'Drop this message?',
    text: 'Nobody answers it then. This can’t be undone: the person would have to write it again.',
    yes: 'Drop',
  }),
  async act(form, { ask }) {
    const { dropped } = await ask('inbox drop', form.get('key') ?? '');
    return `${dropped} stays unanswered.`;
  },
};

export const retryDelivery: Action = {
  page: lettersPage,
  async act(form, { ask }) {
    const { retried } = await ask('outbox retry', form.get('key') ?? '');
    return `${retried} is sent again.`;
  },
};
