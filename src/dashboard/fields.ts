import { html, nothing, type Html } from '../lib/text/html.ts';

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
      ${hint === undefined ? nothing : html` placeholder="${hint}"`}
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

/** What an input with `list="ID"` offers. */
export function choices(
  id: string,
  of: readonly Readonly<{ id: string; name?: string | undefined }>[],
): Html {
  return html`<datalist id="${id}">
    ${of.map(({ id: value, name }) => html`<option value="${value}">${name ?? value}</option>`)}
  </datalist>`;
}

/** A form that shows the page again with what it says. */
export function search(path: string, label: string, fields: readonly Html[], verb = 'Show'): Html {
  return html`<form class="search" role="search" aria-label="${label}" method="get" action="${path}">
    ${fields}<button>${verb}</button>
  </form>`;
}
