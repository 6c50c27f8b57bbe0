import { oneLine } from '../lib/text/text.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { PageView } from './page.ts';

const longestName = 60;

type Text = string | number | Html | undefined;

/** A cell of a table. `isHead`: it names its row. */
export type ShownCell = Readonly<{ value: Text; isHead?: true; isNumber?: true }>;

export function cell(value: Text): ShownCell {
  return { value };
}

export function rowHead(value: string | Html): ShownCell {
  return { value, isHead: true };
}

/** A figure, which is read from its end. */
export function figure(value: Text): ShownCell {
  return { value, isNumber: true };
}

/**
 * A table, or a sentence if it has no rows. In a narrow window each row is a card, so each cell has the heading of its
 * column, and each element its role, which another `display` would take away.
 */
export function table(
  label: string,
  headings: readonly string[],
  rows: readonly (readonly ShownCell[])[],
  empty: string | Html,
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  // A column without anything in it only takes room, such as that of actions in a dashboard that changes nothing.
  const kept = headings.map((_, at) => rows.some((cells) => !isBlank(cells[at])));
  if (kept.includes(false)) {
    const keep = <One>(of: readonly One[]): readonly One[] => of.filter((_, at) => kept[at]);
    return table(label, keep(headings), rows.map(keep), empty);
  }
  const numbers = headings.map((_, at) => rows.some((cells) => cells[at]?.isNumber === true));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">
          ${headings.map(
            (heading, at) =>
              html`<th
                scope="col"
                role="columnheader"
                ${numbers[at] === true ? html` class="number"` : nothing}
              >
                ${heading}
              </th>`,
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (cells) =>
            html`<tr role="row">
              ${cells.map((one, at) => cellOf(one, headings[at] ?? ''))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

function isBlank(cell: ShownCell | undefined): boolean {
  const value = cell?.value;
  return value === undefined || value === '' || (typeof value === 'object' && value.markup.trim() === '');
}

function cellOf(cell: ShownCell, heading: string): Html {
  const { value, isHead, isNumber } = cell;
  const kind = [...(isNumber ? ['number'] : []), ...(isBlank(cell) ? ['blank'] : [])].join(' ');
  const named = kind === '' ? nothing : html` class="${kind}"`;
  return isHead === true
    ? html`<th scope="row" role="rowheader" ${named}>${value}</th>`
    : html`<td role="cell" data-label="${heading}" ${named}><div>${value}</div></td>`;
}

/** Facts about one thing, each with its name. Those that are undefined are left out. */
export function facts(of: readonly (readonly [name: string, value: Text])[]): Html {
  const known = of.filter(([, value]) => value !== undefined && value !== '');
  return html`<dl class="facts">
    ${known.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

export function code(text: string | undefined): Html {
  return text === undefined || text === '' ? nothing : html`<code>${text}</code>`;
}

/** How something is. The word says it, so that color is not needed. */
export function badge(tone: 'yes' | 'no' | 'partly' | 'quiet', word: string | Html, title?: string): Html {
  return html`<span class="mark ${tone}" ${title === undefined ? nothing : html` title="${title}"`}
    >${word}</span
  >`;
}

/** A time (Unix ms) at a glance. The exact one is in its title, in the operator's zone. */
export function time({ times }: PageView, at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" title="${times.exact(at)}"
    >${times.relative(at)}</time
  >`;
}

/** A person by name, with the id in the title, as a link to what is known about them. */
export function person(
  { names }: PageView,
  id: string | undefined,
  name: string | undefined = id === undefined ? undefined : names.person(id),
): Html {
  if (id === undefined || id === '') return nothing;
  const shown = name === undefined || name === '' ? code(id) : oneLine(name, longestName);
  if (!id.includes(':')) return html`<span title="${id}">${name === undefined ? id : shown}</span>`;
  return html`<a class="quiet" href="/person?id=${encodeURIComponent(id)}" title="${id}">${shown}</a>`;
}

/** A conversation by name, with its key in the title, as a link to its turns. */
export function conversationLink({ names }: PageView, key: string | undefined): Html {
  if (key === undefined || key === '') return nothing;
  const [conversation = ''] = key.split('~', 1);
  const name = names.place(conversation);
  const shown = name === undefined ? code(conversation) : oneLine(name, longestName);
  if (!conversation.includes(':')) return html`<span title="${key}">${shown}</span>`;
  return html`<a class="quiet" href="/conversation?id=${encodeURIComponent(conversation)}" title="${key}"
    >${shown}</a
  >`;
}

/** A hidden value of a form, with the token that shows that the form is from here. */
function hidden(fields: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
}

/** Where the page is, for forms that come back to it. */
function here({ path, query }: PageView): string {
  const search = query.toString();
  return `${path}${search === '' ? '' : `?${search}`}`;
}

type Weight = 'main' | 'plain' | 'danger';

type Pressed = Readonly<{
  label: string;
  /** What the button is about, for people who hear it. */
  about: string;
  fields: Readonly<Record<string, string>>;
  weight?: Weight;
  /** Shown also without `--act`. */
  always?: true;
}>;

/** A button that changes something. Empty if the dashboard is read-only. */
export function button(
  view: PageView,
  action: string,
  { label, about, fields, weight = 'plain', always }: Pressed,
): Html {
  if (view.acts === undefined && always !== true) return nothing;
  // The id lets the focus return here when a live page is shown again.
  const id = `${action} ${label} ${about}`.replace(/\s+/g, '-');
  return html`<form method="post" action="${action}">
    ${hidden({ ...fields, token: view.formToken, back: here(view) })}<button
      id="${id}"
      class="${weight}"
      aria-label="${label}: ${about}"
    >
      ${label}
    </button>
  </form>`;
}

/** The form that says yes to a question, with all that the first form had. */
export function sureForm(
  action: string,
  form: URLSearchParams,
  { yes, back }: Readonly<{ yes: string; back: string }>,
): Html {
  const fields = Object.fromEntries([...form].filter(([name]) => name !== 'sure'));
  return html`<form method="post" action="${action}" class="buttons">
    ${hidden({ ...fields, sure: 'yes' })}<button class="danger">${yes}</button>
    <a class="button" href="${back}">Keep it</a>
  </form>`;
}

export function buttons(of: readonly Html[]): Html {
  return of.every(({ markup }) => markup === '') ? nothing : html`<div class="buttons">${of}</div>`;
}
