import type { SettingField, SettingValue } from './setting-field.ts';
import type { Say } from './texts/say.ts';

const booleanWords: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'on', 'yes'].map((word) => [word, true] as const),
  ...['false', 'off', 'no'].map((word) => [word, false] as const),
]);

/** Reads what a person typed as a value. The tool's own check judges it later. */
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

/** Finds a choice by its value or label, in any case. */
function choiceOf({ options }: SettingField, text: string, say: Say): string {
  const word = text.toLowerCase();
  const found = options.find(({ value, label }) =>
    [value, label, say(label)].some((each) => each.toLowerCase() === word),
  );
  return found?.value ?? text;
}
