import type { SettingField, SettingValue } from '../../core/setting-field.ts';
import { fixed, sayIn, type Say } from '../../core/texts/say.ts';
import { whatToEnter } from '../../core/tool-settings.ts';
import { inlineCode, oneLine } from '../../lib/text/text.ts';
import type { LayeredSettings } from '../../tools/settings/settings-in-force.ts';

/** Whether a value has a secret in it (S2). */
export type HoldsSecret = (value: unknown) => boolean;

/** The value in force: what is set, otherwise the default. Undefined if there is neither. */
export function settingValue(field: SettingField, { values }: LayeredSettings): SettingValue | undefined {
  return (values[field.key] ?? field.default) as SettingValue | undefined;
}

/** A value as one line of Markdown. Of a secret it says only whether it is set. */
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

/** A problem in the reader's language. Tools report problems in English. */
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

/** The value after a choice was pressed. With several choices, a press switches that one on or off. */
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

/** The value one step up or down, within its bounds. Undefined if there is none. */
export function stepped(
  { kind, step, min = -Infinity, max = Infinity }: SettingField,
  value: SettingValue | undefined,
  way: 'up' | 'down',
): number | undefined {
  if (kind !== 'number' || step === undefined || typeof value !== 'number') return undefined;
  // Steps of 0.1 leave binary remainders, which this removes.
  const next = Number((way === 'up' ? value + step : value - step).toFixed(6));
  const to = Math.min(max, Math.max(min, next));
  return to === value ? undefined : to;
}
