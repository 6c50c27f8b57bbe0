import { truncate } from './text.ts';

/** Labels that tell a model whose words it reads. Content can't open or close one (M11, U4). */
export const labels = [
  'instruction',
  'output',
  'background',
  'quote',
  'file',
  'message',
  'arguments',
  'context',
  'host',
] as const;
export type Label = (typeof labels)[number];

/** Attributes of a label. Undefined ones are left out. */
export type LabelAttributes = Readonly<Record<string, string | undefined>>;

export function labelled(label: Label, text: string, attributes: LabelAttributes = {}): string {
  return enclose(label, escapeLabels(text), attributes);
}

/** Puts a label around texts that are already `labelled`. Use it for nothing else. */
export function around(
  label: Label,
  labelledTexts: readonly string[],
  attributes: LabelAttributes = {},
): string {
  return enclose(label, labelledTexts.join('\n'), attributes);
}

export function escapeLabels(text: string): string {
  // Compiling the pattern takes 20 ms, so it is used only if needed.
  return text.includes('<') ? text.replace(labelPattern, '&lt;') : text;
}

export function labelsEscaped(text: string, limit: number): Readonly<{ text: string; truncated: boolean }> {
  const cut = truncate(text, limit);
  const harmless = truncate(escapeLabels(cut.text), limit);
  return { text: harmless.text, truncated: cut.truncated || harmless.truncated };
}

/**
 * Cuts labelled text, and closes the labels that are open. Empty if there is too little room for something worth
 * reading.
 */
export function truncateLabelled(text: string, limit: number): string {
  if (text.length <= limit) return text;
  if (limit < worthReading) return '';
  const cut = truncate(text, limit - longestEnds).text.replace(tagCutOff, '');
  const open: string[] = [];
  for (const [, end, label = ''] of cut.matchAll(tag)) {
    if (end === '/') open.shift();
    else open.unshift(`\n</${label}>`);
  }
  return cut + open.join('');
}

const worthReading = 500;
const longestEnds = 50;
const tag = new RegExp(`<(/?)(${labels.join('|')})(?: [^>\\n]*)?>`, 'g');
const tagCutOff = new RegExp(`<(?:${labels.join('|')})(?: [^>\\n]*)?(?=\\n\\[cut: [^\\n]*$)`);

/** Characters that may hide between the letters of a tag. */
const unseen = String.raw`[\s\p{Cf}\p{Cc}]*`;
const spelt = labels.map((label) => [...label].join(unseen)).join('|');
// There are no adjacent stars, for linear time (S9).
const labelPattern = new RegExp(`<(?=${unseen}(?:/${unseen})?(?:${spelt})(?![\\p{L}\\p{N}_-]))`, 'giu');

function enclose(label: Label, text: string, attributes: LabelAttributes): string {
  const written = Object.entries(attributes).map(([name, value]) =>
    value === undefined ? '' : ` ${name}="${escapeAttribute(value)}"`,
  );
  return `<${label}${written.join('')}>\n${text}\n</${label}>`;
}

function escapeAttribute(value: string): string {
  const flat = value.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return flat.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
