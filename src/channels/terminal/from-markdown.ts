import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../lib/text/text.ts';
import { renderText, plainStyle, type TextStyle } from '../../lib/markdown/render-text.ts';
import { colourCode } from './colour-code.ts';
import { parseMarkdown } from '../../lib/markdown/parse-markdown.ts';
import { withoutControls } from '../../lib/markdown/sanitize-markdown.ts';

/** Characters that reorder text. */
const reordering = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Writes Markdown for a terminal, broken at `width`: with styles if `colour` is true, otherwise plain. Control
 * sequences of the text are removed (H5, S1).
 */
export function toAnsi(markdown: string, options: Readonly<{ colour: boolean; width?: number }>): string {
  return renderText(
    parseMarkdown(markdown),
    options.colour ? coloured(options.width) : uncoloured(options.width),
  );
}

/** Puts any text on one line that is safe to print. */
export function safeLine(text: string): string {
  return safe(text).replace(/\s+/g, ' ').trim();
}

function uncoloured(width: number | undefined): TextStyle {
  return {
    ...plainStyle,
    text: safe,
    code: safe,
    link: (inner, url) => (isAddress(inner, url) ? inner : `${inner} (${url})`),
    pre: (value) => safe(value).replace(/^(?=.)/gm, '  '),
    quote: (inner) => inner.replace(/^/gm, '│ '),
    wrap: width === undefined ? undefined : (inner, indent) => wrapWords(inner, width - indent),
  };
}

function coloured(width: number | undefined): TextStyle {
  const plain = uncoloured(width);
  const bold = around(1, 22);
  const cyan = around(36, 39);
  const underlined = around(4, 24);
  return {
    ...plain,
    bold,
    italic: around(3, 23),
    strike: around(9, 29),
    code: (value) => cyan(safe(value)),
    link: (inner, url) => (isAddress(inner, url) ? underlined(inner) : `${underlined(inner)} (${url})`),
    heading: bold,
    pre: (value, lang) =>
      plain
        .pre(value, lang)
        .replace(
          /^ {2}(.*)$/gm,
          (_, line: string) => `  ${lang ? colourCode(line, lang, code) : cyan(line)}`,
        ),
  };
}

const code = { comment: around(90, 39), text: around(32, 39), number: around(33, 39), word: around(35, 39) };

function around(on: number, off: number): (inner: string) => string {
  const [start, end] = [`\u001b[${on}m`, `\u001b[${off}m`];
  // An inner mark would end this one too early.
  return (inner) => start + inner.replaceAll(start, '').replaceAll(end, '') + end;
}

function safe(text: string): string {
  return withoutControls(text).replace(reordering, '');
}

function isAddress(label: string, url: string): boolean {
  const shown = stripVTControlCharacters(label).replace(/\/$/, '');
  return [url, url.replace(/^(?:https?:\/\/|mailto:)/, '')].some((form) => form.replace(/\/$/, '') === shown);
}

function wrapWords(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, Math.max(width, 20)))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  let wrapped = '';
  let used = 0;
  for (const word of line.split(' ')) {
    const length = displayWidth(stripVTControlCharacters(word));
    const breaks = used > 0 && used + 1 + length > width;
    wrapped += wrapped === '' ? word : `${breaks ? '\n' : ' '}${word}`;
    used = breaks || used === 0 ? length : used + 1 + length;
  }
  return wrapped;
}
