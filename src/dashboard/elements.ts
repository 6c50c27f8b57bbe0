import { oneLine } from '../lib/text/text.ts';
import { html, nothing, type Html } from './html.ts';
import type { PageView } from './page.ts';

/** How many rows are shown; more would be slow. */
const mostRows = 200;

/** A table that scrolls by itself in a narrow window, or a sentence if it has no rows. */
export function table(
  label: string,
  headings: readonly (string | Html)[],
  rows: readonly (readonly Html[])[],
  empty: string,
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const more = rows.length - mostRows;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table>
        <thead>
          <tr>
            ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.slice(0, mostRows).map(
            (cells) =>
              html`<tr>
                ${cells}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more > 0 && html`<p>and ${more} more</p>`}`;
}

export function cell(value: string | number | Html | undefined): Html {
  return html`<td>${value}</td>`;
}

export function rowHead(value: string | Html): Html {
  return html`<th scope="row">${value}</th>`;
}

export function code(text: string | undefined): Html {
  return text === undefined || text === '' ? nothing : html`<code>${text}</code>`;
}

/** A time (Unix ms) as people read it, in UTC. */
export function time(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

export function person(id: string | undefined, name?: string): Html {
  return html`${name === undefined ? '' : `${oneLine(name, 60)} `}${code(id)}`;
}

export function field(
  name: string,
  label: string,
  value: string,
  how: Readonly<{ type?: string; hint?: string; list?: string }> = {},
): Html {
  const { type = 'text', hint, list } = how;
  return html`<label
    >${label}<input
      name="${name}"
      type="${type}"
      value="${value}"
      placeholder="${hint}"
      ${list === undefined ? nothing : html` list="${list}"`}
  /></label>`;
}

export function select(
  name: string,
  label: string,
  value: string,
  choices: readonly (readonly [value: string, label: string])[],
): Html {
  const options = choices.map(
    ([key, text]) =>
      html`<option value="${key}" ${key === value ? html` selected` : nothing}>${text}</option>`,
  );
  return html`<label
    >${label}<select name="${name}">
      ${options}
    </select></label
  >`;
}

export function checkbox(name: string, label: string, isOn: boolean): Html {
  return html`<label class="check"
    ><input type="checkbox" name="${name}" value="yes" ${isOn ? html` checked` : nothing} />${label}</label
  >`;
}

export function search(path: string, label: string, fields: readonly Html[]): Html {
  return html`<form class="search" role="search" aria-label="${label}" method="get" action="${path}">
    ${fields}<button>Show</button>
  </form>`;
}

/** A button that changes something. Empty if the dashboard is read-only. */
export function button(
  { acts }: PageView,
  action: string,
  of: Readonly<{ label: string; about: string; fields: Readonly<Record<string, string>> }>,
): Html {
  if (acts === undefined) return nothing;
  // The id lets the focus return here when a live page is shown again.
  const id = `${action} ${of.label} ${of.about}`.replace(/\s+/g, '-');
  const hidden = Object.entries({ ...of.fields, token: acts.formToken }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<form method="post" action="${action}">
    ${hidden}<button id="${id}" aria-label="${of.label}: ${of.about}">${of.label}</button>
  </form>`;
}
