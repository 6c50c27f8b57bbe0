import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { fixed, sayIn, type Say } from '../core/texts/say.ts';
import { whatToEnter } from '../core/tool-settings.ts';
import { inlineCode, oneLine } from '../lib/text/text.ts';
import type { LayeredSettings } from './settings-in-force.ts';

/** It holds a secret (S2). */
export type HoldsSecret = (value: unknown) => boolean;

/** The value that holds: what is set, else the default. */
export function valueOf(field: SettingField, { values }: LayeredSettings): SettingValue | undefined {
  return (values[field.key] ?? field.default) as SettingValue | undefined;
}

const booleanWords: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'on', 'yes'].map((word) => [word, true] as const),
  ...['false', 'off', 'no'].map((word) => [word, false] as const),
]);

/** What a person typed as a value; the tool's check judges it. */
export function readSetting(field: SettingField, typed: string, say: Say): SettingValue {
  const text = typed.trim();
  const word = text.toLowerCase();
  switch (field.kind) {
    case 'boolean':
      return booleanWords.get(word) ?? onOrOff(word, say) ?? text;
    case 'number':
      return /^[+-]?(\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : text;
    case 'select':
      return choiceOf(field, text, say);
    case 'multiselect':
      return ['none', '-', say`none`.toLowerCase()].includes(word)
        ? []
        : [...new Set(text.split(',').map((one) => choiceOf(field, one.trim(), say)))];
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

function onOrOff(word: string, say: Say): boolean | undefined {
  if (word === say`on`.toLowerCase()) return true;
  return word === say`off`.toLowerCase() ? false : undefined;
}

/** By value or label, any case. */
function choiceOf({ options }: SettingField, text: string, say: Say): string {
  const word = text.toLowerCase();
  const found = options.find(({ value, label }) =>
    [value, label, say(label)].some((each) => each.toLowerCase() === word),
  );
  return found?.value ?? text;
}

/** One line of Markdown; of a secret only whether it is set. */
export function showSetting(field: SettingField, value: unknown, say: Say): string {
  if (value === undefined) return field.required ? `**${say`not set, has to be`}**` : say`not set`;
  if (field.secret) return say`set, not shown`;
  if (typeof value === 'boolean') return value ? say`on` : say`off`;
  if (typeof value === 'number') return `${value}${field.unit === undefined ? '' : ` ${say(field.unit)}`}`;
  const labels = new Map(field.options.map((option) => [option.value, say(option.label)]));
  if (Array.isArray(value)) {
    const shown = value.map((one) => oneLine(labels.get(String(one)) ?? String(one), 60));
    return shown.length === 0 ? say`none` : shown.map(inlineCode).join(', ');
  }
  const text = typeof value === 'string' ? value : '';
  return text === '' ? say`empty` : inlineCode(labels.get(text) ?? text);
}

/** A problem as a tool's check words it in English, in the reader's language. */
export function sayProblem(field: SettingField | undefined, problem: string, say: Say): string {
  return field !== undefined && problem === whatToEnter(field, sayIn(undefined))
    ? whatToEnter(field, say)
    : say(problem);
}

export function optionsOf(
  field: SettingField,
): readonly Readonly<{ value: string | boolean; label: string }>[] {
  if (field.kind !== 'boolean') return field.options;
  return [
    { value: true, label: fixed`On` },
    { value: false, label: fixed`Off` },
  ];
}

/** Toggles one of several choices. */
export function withOption(
  field: SettingField,
  value: SettingValue | undefined,
  option: string | boolean,
): SettingValue {
  if (field.kind !== 'multiselect') return option;
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const without = chosen.filter((one) => one !== option);
  return without.length < chosen.length ? without : [...chosen, String(option)];
}

/** Within bounds; undefined if none. */
export function stepped(
  { kind, step, min = -Infinity, max = Infinity }: SettingField,
  value: SettingValue | undefined,
  way: 'up' | 'down',
): number | undefined {
  if (kind !== 'number' || step === undefined || typeof value !== 'number') return undefined;
  // Steps of 0.1 leave binary tails.
  const next = Number((way === 'up' ? value + step : value - step).toFixed(6));
  const to = Math.min(max, Math.max(min, next));
  return to === value ? undefined : to;
}
