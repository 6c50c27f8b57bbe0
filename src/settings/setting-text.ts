import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { oneLine } from '../lib/text/text.ts';
import { inlineCode } from '../lib/text/inline-code.ts';

/** What a person typed as a value of this setting; whether the tool takes it is for its check to say. */
export function readSetting(field: SettingField, typed: string): SettingValue {
  const text = typed.trim();
  const word = text.toLowerCase();
  switch (field.kind) {
    case 'boolean':
      return words.get(word) ?? text;
    case 'number':
      return /^[+-]?(\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : text;
    case 'select':
      return choiceOf(field, text);
    case 'multiselect':
      return noneWords.has(word)
        ? []
        : [...new Set(text.split(',').map((one) => choiceOf(field, one.trim())))];
    case 'text':
    case 'code':
      return typed;
    case 'string':
    case 'secret':
    case 'path':
    case 'url':
      return text;
  }
}

/** A value for people, as one line of Markdown. Of a secret only that it is set. */
export function showSetting(field: SettingField, value: unknown): string {
  if (value === undefined) return field.required ? '**not set, has to be**' : 'not set';
  if (field.secret) return 'set, not shown';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return `${value}${field.unit === undefined ? '' : ` ${field.unit}`}`;
  const labels = new Map(field.options.map((option) => [option.value, option.label]));
  if (Array.isArray(value)) {
    const shown = value.map((one) => oneLine(labels.get(String(one)) ?? String(one), 60));
    return shown.length === 0 ? 'none' : shown.map(inlineCode).join(', ');
  }
  const text = typeof value === 'string' ? value : '';
  return text === '' ? 'empty' : inlineCode(labels.get(text) ?? text);
}

/** By its value or its label, in any case. */
function choiceOf({ options }: SettingField, text: string): string {
  const word = text.toLowerCase();
  const found = options.find(
    ({ value, label }) => value.toLowerCase() === word || label.toLowerCase() === word,
  );
  return found?.value ?? text;
}

const words: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['on', true],
  ['yes', true],
  ['false', false],
  ['off', false],
  ['no', false],
]);
const noneWords: ReadonlySet<string> = new Set(['none', '-']);
