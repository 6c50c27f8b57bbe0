import { printable } from './text.ts';

/** Markup in which everything foreign is escaped, so that it is safe to send. */
export type Html = Readonly<{ markup: string }>;

type Value = string | number | undefined | false | Html | readonly Html[];

/** Makes markup, and escapes each value that is no markup itself. There is no other way to make a page. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return {
    markup: parts.map((part, at) => part + (at < values.length ? markupOf(values[at]) : '')).join(''),
  };
}

export const nothing: Html = { markup: '' };

function markupOf(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  if ('markup' in value) return value.markup;
  return value.map(({ markup }) => markup).join('');
}

/** Escapes a text, also for quoted attributes. Characters that reorder or hide text are written out. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .split(/\r?\n/)
    .map(printable)
    .join('\n')
    .replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
