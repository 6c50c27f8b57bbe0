import type { Conversation } from '../core/conversation.ts';
import type { Filled, Form } from '../core/form.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { whatToEnter } from '../core/tool-settings.ts';
import type { Tool } from '../core/tool.ts';
import type { LayeredSettings } from './layer-settings.ts';
import { nameOf, writeAction } from './setting-actions.ts';
import { readSetting, showSetting } from './setting-text.ts';
import { valueOf } from './setting-views.ts';
import { toolTitle } from '../tools/tool-title.ts';

/** Whether a value may not be shown, whatever its field says of it: a secret is in it (S2). */
export type HoldsSecret = (value: unknown) => boolean;

/** All settings of a tool as one form, for channels that have forms (X3). It holds no secret. */
export function settingsForm(
  tool: Tool,
  layered: LayeredSettings,
  {
    conversation,
    menu,
    holdsSecret,
  }: Readonly<{ conversation: Conversation; menu: string; holdsSecret: HoldsSecret }>,
): Form {
  const fields = tool.settings?.fields ?? [];
  return {
    title: toolTitle(tool),
    text: 'These settings apply to this chat. Leave a field empty to use the default.',
    action: writeAction(menu, { view: 'tool', tool: nameOf(tool.name), page: 0 }),
    conversation,
    fields: fields.map((field) => {
      const value = valueOf(field, layered);
      const hidden = field.secret || holdsSecret(value);
      return {
        field,
        ...(hidden || value === undefined ? {} : { value }),
        hint: hintOf(field, layered, hidden),
      };
    }),
  };
}

/** What a form changes: each field whose value is another now, without a value where it was emptied. What was not shown and is left empty stays. */
export function formChanges(
  { settings }: Tool,
  layered: LayeredSettings,
  values: Filled['values'],
  holdsSecret: HoldsSecret,
): readonly (readonly [SettingField, SettingValue | undefined])[] {
  const all = settings?.fields ?? [];
  return all.flatMap((field): readonly (readonly [SettingField, SettingValue | undefined])[] => {
    const before = valueOf(field, layered);
    const entered = values[field.key];
    if (entered === undefined) {
      const kept = field.secret || holdsSecret(before) || layered.from.get(field.key) !== 'chat';
      return kept ? [] : [[field, undefined]];
    }
    const after = typeof entered === 'string' ? readSetting(field, entered) : entered;
    return JSON.stringify(after) === JSON.stringify(before) ? [] : [[field, after]];
  });
}

function hintOf(field: SettingField, layered: LayeredSettings, hidden: boolean): string {
  const { description, unit } = field;
  const isSet = layered.values[field.key] !== undefined;
  const rule = `${whatToEnter(field).replace(/^write/, 'Write')}${unit === undefined ? '' : ` (${unit})`}.`;
  const kept = hidden && isSet ? ' It is set: leave this empty to keep it.' : '';
  const below =
    field.default === undefined ? '' : ` Default: ${showSetting(field, field.default).replaceAll('`', '')}.`;
  return `${description === undefined ? '' : `${description} `}${rule}${kept}${below}`;
}
