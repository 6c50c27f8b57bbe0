import { ruleName, type Ruling } from '../access/ruling.ts';
import type { SeenChatType } from '../core/conversation.ts';
import type { AccessDecisions } from '../operator/access/access-decisions.ts';
import type { NamedGroup } from '../operator/access/named-groups.ts';
import { likelyType } from '../operator/access/question.ts';
import { cell, code, person, rowHead, table, type ShownCell } from './elements.ts';
import { choices, search, select } from './fields.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import { knownPlaces, writerAt, type Known, type KnownChat } from './known-places.ts';
import type { Page, PageView } from './page.ts';
import { plainCode } from './plain-codes.ts';

/** How many columns are side by side; the rest is on further pages. */
const mostColumns = 12;

type Column = Readonly<{ head: string; explained: AccessDecisions }>;

export const typeChoices: readonly (readonly [SeenChatType | '', string])[] = [
  ['', 'detect from its id'],
  ['private', 'direct message'],
  ['group', 'group'],
  ['channel', 'public channel'],
  ['unknown', 'unknown'],
];

export const accessPage: Page = {
  path: '/access',
  title: 'Access',
  group: 'People',
  async main(view) {
    const { query } = view;
    const [known, groups] = await Promise.all([knownPlaces(view), view.ask('group list')]);
    const [place = '', someone = ''] = [query.get('chat') ?? '', query.get('person') ?? ''];
    const first = Math.max(0, Number.parseInt(query.get('from') ?? '', 10) || 0);
    const chat = place === '' ? undefined : chatOf(place, query.get('type') ?? '', known.chats);
    const people = someone === '' ? known.people : [{ id: someone }];
    const places = someone === '' || chat !== undefined ? [chat] : [undefined, ...known.chats];
    const all = people.flatMap((who) => places.map((where) => ({ who, where })));
    const columns = await Promise.all(
      all.slice(first, first + mostColumns).map(async ({ who, where }): Promise<Column> => ({
        head: someone === '' ? nameOf(who, view) : placeName(where),
        explained: await view.ask('access decisions', writerAt(who.id, where)),
      })),
    );
    const title =
      someone === ''
        ? `Skills and people in ${chat === undefined ? 'their direct messages' : placeName(chat)}`
        : `Skills and chats of ${view.names.person(someone) ?? someone}`;
    return html`<p>Each cell is the bot’s own decision. Open a “no” to read why, and what would change it.</p>
      ${filters(view, known)}${lists(known)}
      <h2>${title}</h2>
      ${matrix(title, columns)}${paging(view, first, all.length)}${groupTable(groups, known, view)}`;
  },
};

function filters({ query }: PageView, known: Awaited<ReturnType<typeof knownPlaces>>): Html {
  const chats = [
    ['', 'their direct messages'],
    ...known.chats.map(({ id, name }) => [id, `${name ?? ''} ${id}`.trim()]),
  ];
  const chosen = query.get('chat') ?? '';
  const all = chats.some(([id]) => id === chosen) ? chats : [...chats, [chosen, chosen]];
  return search('/access', 'Choose a person or a chat', [
    select(
      'chat',
      'Chat',
      chosen,
      all.map(([id = '', label = '']) => [id, label] as const),
    ),
    select('type', 'Kind of chat', query.get('type') ?? '', typeChoices),
    html`<label
      >Person (empty: everybody)<input
        name="person"
        value="${query.get('person') ?? ''}"
        list="people"
        placeholder="telegram:42"
    /></label>`,
  ]);
}

/** What an input with `list="people"` or `list="chats"` offers. */
export function lists({ people, chats }: Known): Html {
  return html`${choices('people', people)}${choices('chats', chats)}`;
}

export function chatOf(id: string, type: string, known: readonly KnownChat[] = []): KnownChat {
  const chosen = typeChoices.find(([value]) => value !== '' && value === type)?.[0];
  const chatType = chosen === undefined || chosen === '' ? likelyType(id) : chosen;
  return { ...known.find((chat) => chat.id === id), id, chatType };
}

function placeName(chat: KnownChat | undefined): string {
  if (chat === undefined) return 'direct message';
  return `${chat.name ?? chat.id} (${chat.chatType})`;
}

function nameOf({ id, name }: Readonly<{ id: string; name?: string }>, { names }: PageView): string {
  return name ?? names.person(id) ?? id;
}

function matrix(label: string, columns: readonly Column[]): Html {
  const [first] = columns;
  if (first === undefined)
    return html`<p class="empty">Nobody is known yet. Write somebody’s id above, such as telegram:42.</p>`;
  const talks = [
    rowHead('may talk to the bot'),
    ...columns.map(({ explained }) => verdict(explained.message)),
  ];
  const rows = first.explained.skills.map(({ name, sensitive }, at) => [
    rowHead(
      html`<a href="/skill?name=${encodeURIComponent(name)}">${name}</a
        >${sensitive ? html` <small>sensitive</small>` : nothing}`,
    ),
    ...columns.map(({ explained }) => {
      const skill = explained.skills[at];
      return skill === undefined ? cell('') : verdict(skill.byPerson, skill.byModel);
    }),
  ]);
  return table(label, ['Skill', ...columns.map(({ head }) => head)], [talks, ...rows], '');
}

type Shown = Pick<Ruling, 'allowed'> & Partial<Ruling>;

/** A cell: yes, or no with its reason. For a skill it also says if the person and the model differ. */
export function verdict(ruling: Shown, byModel: Shown = ruling): ShownCell {
  if (ruling.allowed && byModel.allowed) return cell(html`<span class="mark yes">yes</span>`);
  const isSame = ruling.allowed === byModel.allowed && whyNot(ruling) === whyNot(byModel);
  const word = isSame ? 'no' : ruling.allowed ? 'person only' : byModel.allowed ? 'model only' : 'no';
  const reasons = isSame ? [ruling] : [ruling, byModel].filter(({ allowed }) => !allowed);
  return cell(
    html`<details>
      <summary><span class="mark ${word === 'no' ? 'no' : 'partly'}">${word}</span></summary>
      ${reasons.map(
        (one) =>
          html`<p title="${one.code ?? ''}">${whyNot(one)}</p>
            ${detail(one)}`,
      )}
    </details>`,
  );
}

/** Why somebody may not, in words. The code is in a title. */
export function whyNot({ allowed, code: id, reason = '' }: Shown): string {
  if (allowed) return '';
  return `${id === undefined ? '' : `${capital(plainCode(id))}: `}${reason}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function detail({ rule, change }: Shown): Html {
  return html`${rule === undefined ? nothing : html`<p>Rule: ${ruleName(rule)}</p>`}${
    change === undefined ? nothing : html`<p>To change that: ${change}</p>`
  }`;
}

/** Says who is in each group that the config names (A13). */
function groupTable(groups: readonly NamedGroup[], { people }: Known, view: PageView): Html {
  if (groups.length === 0) return nothing;
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const somebody = (id: string): Html => html`<li>${person(view, id, names.get(id))}</li>`;
  const rows = groups.map(({ name, entries }) => [
    rowHead(code(name)),
    cell(
      html`<ul>
        ${entries.map(({ id, members }) =>
          members === undefined
            ? somebody(id)
            : html`<li>
                ${code(id)}:
                ${
                  members === null
                    ? 'not known now, so it admits nobody'
                    : html`<ul>
                        ${members.map(somebody)}
                      </ul>`
                }
              </li>`,
        )}
      </ul>`,
    ),
  ]);
  return html`<h2>Groups of people</h2>
    ${table('Groups of people', ['Group', 'Who is in it'], rows, '')}`;
}

function paging({ query }: PageView, first: number, count: number): Html {
  const link = (from: number, label: string): Html => {
    const to = new URLSearchParams(query);
    to.set('from', String(from));
    return html`<a class="button" href="/access?${to.toString()}">${label}</a>`;
  };
  if (count <= mostColumns) return nothing;
  return html`<div class="pages" role="navigation" aria-label="Columns">
    <span>${first + 1}–${Math.min(count, first + mostColumns)} of ${count}</span>
    ${
      first > 0 ? link(Math.max(0, first - mostColumns), 'Previous') : nothing
    }${first + mostColumns < count ? link(first + mostColumns, 'Next') : nothing}
  </p>`;
}
