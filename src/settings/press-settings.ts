import type { Press } from '../core/channel.ts';
import type { OpenForm } from '../core/form.ts';
import type { Log } from '../lib/log.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { placeOf, type ChangeSetting, type Who } from './change-setting.ts';
import { mayNotChange, nameOf, othersMenu, readAction, type SettingAction } from './setting-actions.ts';
import type { SettingEntries } from './setting-entries.ts';
import { optionsOf, stepped, valueOf, type SettingView } from './setting-views.ts';
import type { SettingsInForce } from './settings-in-force.ts';
import type { ShowSettings } from './show-settings.ts';

/** What becomes of the message whose button was pressed, or why nothing does; nothing where a form was opened instead. */
export type PressSettings = (
  press: Press,
  openForm?: OpenForm,
) => Promise<SettingView | Readonly<{ refused: string }> | undefined>;

/** Buttons under settings: each sets or shows something else in the same message (X3). */
export function createPressSettings(options: {
  show: ShowSettings;
  inForce: Pick<SettingsInForce, 'of'>;
  change: ChangeSetting;
  entries: Pick<SettingEntries, 'end'>;
  mayChange(sender: string): Promise<boolean>;
  log: Log;
}): PressSettings {
  const { show, inForce, change, entries, mayChange, log } = options;

  async function act(who: Who, does: SettingAction): Promise<SettingView> {
    if (does.view === 'tools') return show.overview(who, does.page);
    if (does.view === 'done') return { text: 'Settings closed.', buttons: [] };
    const { tool, field } = show.find(does.tool, 'field' in does ? does.field : '');
    if (tool === undefined) return show.overview(who);
    if (does.view === 'tool') return show.ofTool(who, tool, does.page);
    if (field === undefined) return show.ofTool(who, tool);
    if (does.view === 'field') return show.ofField(who, tool, field, does.page);
    const layered = await inForce.of(who.conversation, tool);
    const value = valueOf(field, layered);
    const next = does.view === 'reset' ? undefined : nextValue(field, value, does);
    if (does.view !== 'reset' && next === undefined) return show.ofField(who, tool, field);
    const problem = await change(placeOf(who), tool, field, next);
    const view = await show.ofField(who, tool, field, does.view === 'choose' ? does.page : 0);
    return problem === undefined ? view : { ...view, text: `${view.text}\n\nNot changed: ${problem}.` };
  }

  return async (pressed, openForm) => {
    const { conversation, chatType, sender } = pressed;
    const who = { conversation, chatType, sender: sender.id };
    const read = readAction(pressed.action);
    const refused = (await mayChange(sender.id)) ? othersMenu(read?.menu, pressed) : mayNotChange;
    if (refused !== undefined || read === undefined) {
      log.warn({ sender: sender.id }, 'somebody pressed a button of settings that is not theirs');
      return refused === undefined ? undefined : { refused };
    }
    await entries.end(who);
    const { does } = read;
    const { tool } = does.view === 'tool' ? show.find(does.tool) : {};
    if (tool !== undefined && (await show.inForm(who, tool, openForm))) return undefined;
    return act(who, does);
  };
}

/** What a press makes of a value; nothing where it means none any more. */
function nextValue(
  field: SettingField,
  value: SettingValue | undefined,
  does: Extract<SettingAction, { field: string }>,
): SettingValue | undefined {
  if (does.view === 'up' || does.view === 'down') return stepped(field, value, does.view);
  if (does.view !== 'choose') return undefined;
  const option = optionsOf(field).find((one) => nameOf(String(one.value)) === does.option)?.value;
  if (option === undefined || field.kind !== 'multiselect') return option;
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const without = chosen.filter((one) => one !== option);
  return without.length < chosen.length ? without : [...chosen, String(option)];
}
