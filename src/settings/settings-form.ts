import type { Filled, Form } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import { whatToEnter } from '../core/tool-settings.ts';
import type { Tool } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import { inlineCode } from '../lib/text/text.ts';
import type { Replies } from '../replies/replies.ts';
import { placeOf, type ChangeSetting } from './change-setting.ts';
import type { LayeredSettings } from './layer-settings.ts';
import { nameOf, writeAction, mayNotChange, othersMenu, readAction } from './setting-actions.ts';
import { readSetting, showSetting, valueOf, sayProblem, type Reader } from './setting-views.ts';
import type { SettingsInForce } from './settings-in-force.ts';
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
    say,
    holdsSecret,
  }: Reader & Readonly<{ conversation: Conversation; holdsSecret: HoldsSecret }>,
): Form {
  const fields = tool.settings?.fields ?? [];
  return {
    title: toolTitle(tool, say),
    text: say`These settings apply to this chat. Leave a field empty to use the default.`,
    action: writeAction(menu, { view: 'tool', tool: nameOf(tool.name), page: 0 }),
    conversation,
    fields: fields.map((field) => {
      const value = valueOf(field, layered);
      const hidden = field.secret || holdsSecret(value);
      return {
        field: inWordsOf(field, say),
        value: hidden ? undefined : value,
        hint: hintOf(field, layered, hidden, say),
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
  say: Say,
): readonly (readonly [SettingField, SettingValue | undefined])[] {
  const all = settings?.fields ?? [];
  return all.flatMap((field): readonly (readonly [SettingField, SettingValue | undefined])[] => {
    const before = valueOf(field, layered);
    const entered = values[field.key];
    if (entered === undefined) {
      const kept = field.secret || holdsSecret(before) || layered.from.get(field.key) !== 'chat';
      return kept ? [] : [[field, undefined]];
    }
    const after = typeof entered === 'string' ? readSetting(field, entered, say) : entered;
    return JSON.stringify(after) === JSON.stringify(before) ? [] : [[field, after]];
  });
}

function hintOf(field: SettingField, layered: LayeredSettings, hidden: boolean, say: Say): string {
  const { description, unit } = field;
  const isSet = layered.values[field.key] !== undefined;
  const wanted = whatToEnter(field, say);
  const rule = `${wanted.charAt(0).toUpperCase()}${wanted.slice(1)}${unit === undefined ? '' : ` (${say(unit)})`}.`;
  const shown = showSetting(field, field.default, say).replaceAll('`', '');
  return [
    ...(description === undefined ? [] : [say(description)]),
    rule,
    ...(hidden && isSet ? [say`A value is set. Leave this empty to keep it.`] : []),
    ...(field.default === undefined ? [] : [say`Default: ${shown}.`]),
  ].join(' ');
}

/** The field as a form shows it: its title and what can be chosen in the reader's language. */
function inWordsOf(field: SettingField, say: Say): SettingField {
  const options = field.options.map(({ value, label }) => ({ value, label: say(label) }));
  return { ...field, title: say(field.title), options };
}

/** Sets what a form says and tells the chat; else gives what is wrong, by key. Where a value by itself is wrong, none is set. */
type TakeForm = (filled: Filled) => Promise<Readonly<Record<string, string>> | undefined>;

export function createTakeForm(options: {
  /** By the tool's short name. */
  find(tool: string): Readonly<{ tool?: Tool }>;
  mayChange(sender: string): Promise<boolean>;
  inForce: Pick<SettingsInForce, 'of'>;
  change: ChangeSetting;
  holdsSecret: HoldsSecret;
  replies: Pick<Replies, 'say'>;
  log: Log;
}): TakeForm {
  const { find, mayChange, inForce, change, holdsSecret, replies, log } = options;

  return async (filled) => {
    const { action, conversation, chatType, sender, values } = filled;
    const say = sayIn(sender.language);
    const sent = readAction(action);
    const { tool } = sent?.does.view === 'tool' ? find(sent.does.tool) : {};
    const [first] = Object.keys(values);
    if (tool === undefined)
      return first === undefined ? undefined : { [first]: say`This tool no longer exists.` };
    const refused = (await mayChange(sender.id)) ? othersMenu(sent?.menu, filled) : mayNotChange;
    if (refused !== undefined) {
      log.warn({ sender: sender.id }, 'somebody sent a form of settings that is not theirs');
      return { [tool.settings?.fields[0]?.key ?? '']: say(refused) };
    }
    const changes = formChanges(tool, await inForce.of(conversation, tool), values, holdsSecret, say);
    const problems = changes.flatMap(([field, value]) => {
      const checked = value === undefined ? undefined : tool.settings?.check(field.key, value);
      if (checked?.ok !== false) return [];
      return [[field.key, say`Please ${sayProblem(field, checked.problem, say)}.`] as const];
    });
    if (problems.length > 0) return Object.fromEntries(problems);
    const done: string[] = [];
    for (const [field, value] of changes) {
      const place = placeOf({ conversation, chatType, sender: sender.id });
      const problem = await change(place, tool, field, value);
      if (problem !== undefined) return { [field.key]: say`Please ${sayProblem(field, problem, say)}.` };
      const now = showSetting(field, valueOf(field, await inForce.of(conversation, tool)), say);
      const unset = value === undefined ? `, ${say`no longer set in this chat`}` : '';
      done.push(`- ${say(field.title)}: ${now}${unset}`);
    }
    if (done.length === 0) return undefined;
    const text = [say`${toolTitle(tool, say)}, set in this chat by ${inlineCode(sender.name)}:`, '', ...done];
    await replies.say(conversation, filled.id, text.join('\n'));
    return undefined;
  };
}
