import type { OutputOf } from '../operator/operations.ts';
import { button, buttons, cell, code, badge, person, conversationLink, table, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Action, Page, PageView } from './page.ts';
import { paged } from './paged.ts';

type Pairs = OutputOf<'pair list'>;

export const peoplePage: Page = {
  path: '/people',
  title: 'People and groups',
  group: 'People',
  waits: 'people',
  async main(view) {
    const pairs = await view.ask('pair list');
    return html`<h2>Waiting to be approved</h2>
      ${pending(pairs, view)}
      <h2>Approved people</h2>
      ${approved(pairs, view)}
      <h2>Groups that an owner decided on</h2>
      ${decided(pairs, view)}`;
  },
};

function pending({ pending: waiting }: Pairs, view: PageView): Html {
  const rows = waiting.map(({ code: key, sender, name, conversation, expiresAt }) => [
    cell(person(view, sender, name)),
    cell(conversationLink(view, conversationKey(conversation))),
    cell(code(key)),
    cell(time(view, expiresAt)),
    cell(
      buttons([
        button(view, '/people/approve', {
          label: 'Approve',
          about: name,
          fields: { code: key },
          weight: 'main',
        }),
        button(view, '/people/deny', { label: 'Deny', about: name, fields: { code: key } }),
      ]),
    ),
  ]);
  const empty =
    'Nobody waits. A stranger who writes to the bot gets a code and appears here, if [access] dm = "pairing".';
  return table('Waiting to be approved', ['Person', 'Where', 'Code', 'Expires', 'Action'], rows, empty);
}

type Somebody = Readonly<{ id: string; name?: string; role: 'owner' | 'approved'; since?: number }>;

function approved({ owners, paired }: Pairs, view: PageView): Html {
  const all: readonly Somebody[] = [
    ...owners.map((id) => ({ id, name: view.names.person(id), role: 'owner' as const })),
    ...paired.map(({ sender, name, since }) => ({ id: sender, name, role: 'approved' as const, since })),
  ];
  const { rows, filter, pages } = paged(view, all, {
    ...{ one: 'person', many: 'people', prefix: 'people-' },
    words: ({ id, name = '', role }) => `${id} ${name} ${role}`,
  });
  const cells = rows.map(({ id, name, role, since }) => [
    cell(person(view, id, name)),
    cell(html`<small class="id">${id}</small>`),
    cell(badge(role === 'owner' ? 'yes' : 'quiet', role)),
    cell(since === undefined ? nothing : time(view, since)),
    cell(role === 'owner' ? nothing : revokeButton(id, name ?? id, view)),
  ]);
  return html`${filter}${table(
    'Approved people',
    ['Person', 'Id', 'Role', 'Since', 'Action'],
    cells,
    'Nobody yet. People whom [access] lists need no approval.',
  )}${pages}`;
}

function decided({ groups, ignored }: Pairs, view: PageView): Html {
  const all = [
    ...groups.map((group) => ({ ...group, verdict: 'allowed' as const })),
    ...ignored.map((group) => ({ ...group, verdict: 'ignored' as const })),
  ];
  const { rows, filter, pages } = paged(view, all, {
    ...{ one: 'group', prefix: 'groups-' },
    words: ({ id, name, verdict }) => `${id} ${name} ${verdict}`,
  });
  const cells = rows.map(({ id, name, verdict, since }) => [
    cell(html`<a class="quiet" href="/access?chat=${encodeURIComponent(id)}" title="${id}">${name}</a>`),
    cell(html`<small class="id">${id}</small>`),
    cell(badge(verdict === 'allowed' ? 'yes' : 'no', verdict)),
    cell(time(view, since)),
    cell(revokeButton(id, name, view)),
  ]);
  return html`${filter}${table(
    'Groups that an owner decided on',
    ['Group', 'Id', 'Decision', 'Since', 'Action'],
    cells,
    'None. Add the bot to a group, and owners are asked about it.',
  )}${pages}`;
}

function revokeButton(id: string, name: string, view: PageView): Html {
  return button(view, '/people/revoke', {
    label: 'Revoke',
    about: name,
    fields: { id, name },
    weight: 'danger',
  });
}

export const approvePair: Action = {
  page: peoplePage,
  async act(form, { ask }) {
    const { name, sender } = await ask('pair approve', form.get('code') ?? '');
    return `${name} (${sender}) is approved, and was told.`;
  },
};

export const denyPair: Action = {
  page: peoplePage,
  async act(form, { ask }) {
    const { name, sender } = await ask('pair deny', form.get('code') ?? '');
    return `${name} (${sender}) is denied. They can ask again in an hour.`;
  },
};

export const revokePair: Action = {
  page: peoplePage,
  asks: (form) => ({
    title: `Revoke ${form.get('name') ?? 'this'}?`,
    text: 'The bot no longer answers there, unless [access] lists it. This can’t be undone here: a person asks again by writing to the bot, a group by adding the bot again.',
    yes: 'Revoke',
  }),
  async act(form, { ask }) {
    const { revoked } = await ask('pair revoke', form.get('id') ?? '');
    return `${revoked} is revoked.`;
  },
};
