import { createHash } from 'node:crypto';
import type { Act, Button, WriteCommand } from '../../core/channel.ts';
import type { Form } from '../../core/form.ts';
import { chatIdOf, type Conversation } from '../../core/conversation.ts';
import type { SettingField } from '../../core/setting-field.ts';
import { fixed, sayIn, type Fixed, type Say } from '../../core/texts/say.ts';
import { whatToEnter } from '../../core/tool-settings.ts';
import type { Tool } from '../../core/tool.ts';
import { inlineCode, oneLine } from '../../lib/text/text.ts';
import { toolTitle } from '../../tools/tool-title.ts';
import {
  optionsOf,
  sayProblem,
  showSetting,
  stepped,
  settingValue,
  type HoldsSecret,
} from './setting-values.ts';
import type { LayeredSettings, Who } from '../../tools/settings/settings-in-force.ts';

export type SettingView = Readonly<{ text: string; buttons: readonly Button[] }>;

/**
 * What a button of `/settings` does. Tool, field and option are short names by `nameOf`, which stay the same when the
 * bot restarts.
 */
export type SettingAction = Readonly<{
  view: keyof typeof layouts;
  tool?: string;
  field?: string;
  option?: string;
  page?: number;
}>;

/** How a view is written into a button: its letter, then these parts. */
const layouts = {
  tools: ['m', 'page'],
  tool: ['t', 'tool', 'page'],
  field: ['f', 'tool', 'field', 'page'],
  choose: ['c', 'tool', 'field', 'option', 'page'],
  up: ['u', 'tool', 'field'],
  down: ['d', 'tool', 'field'],
  reset: ['r', 'tool', 'field'],
  done: ['x'],
} as const;

export const settingPrefix = 'set';

/** Writes the action of a button, which has at most 44 bytes. */
export function writeAction(menu: string, action: SettingAction): string {
  const [letter, ...parts] = layouts[action.view];
  return [settingPrefix, menu, letter, ...parts.map((part) => action[part] ?? 0)].join(':');
}

/** Reads the action of a button. It may come from anybody, so nothing in it is trusted. Undefined for other buttons. */
export function readAction(action: string): Readonly<{ menu: string; does: SettingAction }> | undefined {
  const [prefix, menu, letter, ...rest] = action.split(':');
  const views = Object.keys(layouts) as readonly SettingAction['view'][];
  const view = views.find((one) => layouts[one][0] === letter);
  if (prefix !== settingPrefix || menu === undefined || view === undefined) return undefined;
  const [, ...parts] = layouts[view];
  const page = Math.max(0, Math.min(1_000, Number.parseInt(rest.at(-1) ?? '', 10) || 0));
  const does = parts.map((part, index) => [part, part === 'page' ? page : (rest[index] ?? '')] as const);
  return { menu, does: { view, ...Object.fromEntries(does) } };
}

/** A short name for a text, because an action has room for only 64 bytes. */
export function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** Identifies this person's menu in this chat. Whether they may press it is still checked. */
export function menuOf(conversation: Conversation, sender: string): string {
  return nameOf(JSON.stringify([chatIdOf(conversation), sender]));
}

/** Says why a press on another person's or chat's menu is refused. Undefined if the menu is theirs. */
export function othersMenu(menu: string | undefined, { conversation, sender }: Act): Fixed | undefined {
  return menu === menuOf(conversation, sender.id)
    ? undefined
    : fixed`Somebody else opened this. Open the settings yourself to change them.`;
}

type Reader = Readonly<{
  menu: string;
  say: Say;
  conversation: Conversation;
  /** Writes a command as people type it in this chat. */
  write: (name: string, args?: string) => string;
}>;

export function settingsReader({ conversation, sender, language }: Who, writeCommand: WriteCommand): Reader {
  return {
    menu: menuOf(conversation, sender),
    say: sayIn(language),
    conversation,
    write: (name, args) => writeCommand(conversation, name, args),
  };
}

export function toolsView(tools: readonly Tool[], reader: Reader, page = 0): SettingView {
  const { say, write } = reader;
  if (tools.length === 0) return { text: say`No tool here has settings.`, buttons: [] };
  const shown = pageOf(tools, page);
  const keysOf = ({ settings }: Tool) => (settings?.fields ?? []).map(({ key }) => `\`${key}\``).join(', ');
  const usage = say`Choose a tool, or write ${write('settings', 'TOOL')}. To set a value, write ${write('settings', 'TOOL KEY VALUE')}.`;
  return {
    text: [
      say`Settings of tools in this chat:`,
      '',
      ...shown.map((tool) => `- \`${tool.name}\` ${toolTitle(tool, say)}: ${keysOf(tool)}`),
      '',
      usage,
    ].join('\n'),
    buttons: [
      ...shown.map((tool) => button(reader, toolTitle(tool, say), { view: 'tool', tool: nameOf(tool.name) })),
      ...turning(reader, tools.length, { view: 'tools', page }),
      button(reader, say`Done`, { view: 'done' }),
    ],
  };
}

export function toolView(tool: Tool, layered: LayeredSettings, reader: Reader, page = 0): SettingView {
  const { say, write } = reader;
  const fields = tool.settings?.fields ?? [];
  const name = nameOf(tool.name);
  const shown = pageOf(fields, page);
  const usage = say`${write('settings', `${tool.name} KEY VALUE`)} sets one in this chat. The value \`default\` removes what this chat has set.`;
  return {
    text: [
      say`**${toolTitle(tool, say)}** in this chat:`,
      '',
      ...shown.map((field) => `- \`${field.key}\` ${say(field.title)}: ${whatHolds(field, layered, say)}`),
      '',
      ...layered.problems.map((one) => problemOf(tool, one, say)),
      '',
      usage,
    ].join('\n'),
    buttons: [
      ...shown.map((field) =>
        button(reader, say(field.title), { view: 'field', tool: name, field: nameOf(field.key) }),
      ),
      ...turning(reader, fields.length, { view: 'tool', tool: name, page }),
      button(reader, say`All tools`, { view: 'tools' }),
      button(reader, say`Done`, { view: 'done' }),
    ],
  };
}

function problemOf(
  { name, settings }: Tool,
  { key, layer, problem }: LayeredSettings['problems'][number],
  say: Say,
): string {
  const field = settings?.fields.find((one) => one.key === key);
  const why = sayProblem(field, problem, say);
  const table = inlineCode(`[tools.${name}]`);
  if (key === undefined)
    return layer === 'chat'
      ? say`What is set in this chat can't be used: ${why}.`
      : say`${table} in the config can't be used: ${why}.`;
  return layer === 'chat'
    ? say`What is set in this chat can't be used for ${inlineCode(key)}: ${why}.`
    : say`${table} in the config can't be used for ${inlineCode(key)}: ${why}.`;
}

/** The view of one setting. `typing` says how to send a value as a message. */
export function fieldView(
  tool: Tool,
  field: SettingField,
  layered: LayeredSettings,
  reader: Reader,
  { page = 0, typing }: Readonly<{ page?: number; typing?: string }> = {},
): SettingView {
  const { say } = reader;
  const of = { tool: nameOf(tool.name), field: nameOf(field.key) };
  const value = settingValue(field, layered);
  const chosen = new Set(Array.isArray(value) ? value : [value]);
  const options = optionsOf(field).map(({ value: option, label }) =>
    button(reader, `${chosen.has(option) ? '✓ ' : ''}${say(label)}`, {
      view: 'choose',
      ...of,
      option: nameOf(String(option)),
      page,
    }),
  );
  const steps = (['down', 'up'] as const).flatMap((view) => {
    const to = stepped(field, value, view);
    return to === undefined ? [] : [button(reader, `${view === 'up' ? '+' : '−'} → ${to}`, { view, ...of })];
  });
  const isSetHere = layered.from.get(field.key) === 'chat';
  return {
    text: [
      say`${`**${toolTitle(tool, say)}: ${say(field.title)}**`} in this chat: ${whatHolds(field, layered, say)}`,
      ...(field.description === undefined ? [] : ['', oneLine(say(field.description), 300)]),
      ...(typing === undefined ? [] : ['', typing]),
    ].join('\n'),
    buttons: [
      ...pageOf(options, page),
      ...turning(reader, options.length, { view: 'field', ...of, page }),
      ...steps,
      ...(isSetHere ? [button(reader, say`Unset in this chat`, { view: 'reset', ...of })] : []),
      button(reader, say`Back`, { view: 'tool', tool: of.tool }),
    ],
  };
}

/** A value and who set it, as in `on (this chat)`. */
function whatHolds(field: SettingField, layered: LayeredSettings, say: Say): string {
  const value = settingValue(field, layered);
  const shown = showSetting(field, value, say);
  if (value === undefined) return shown;
  const from = layered.from.get(field.key);
  return `${shown} (${from === undefined ? say`default` : from === 'chat' ? say`this chat` : say`config`})`;
}

/** A form with all settings of a tool. It never has secrets in it (X3). */
export function settingsForm(
  tool: Tool,
  layered: LayeredSettings,
  { conversation, menu, say }: Reader,
  holdsSecret: HoldsSecret,
): Form {
  return {
    title: toolTitle(tool, say),
    text: say`These settings apply to this chat. Leave a field empty to use the default.`,
    action: writeAction(menu, { view: 'tool', tool: nameOf(tool.name) }),
    conversation,
    words: { save: say`Save`, cancel: say`Cancel`, on: say`On`, off: say`Off` },
    fields: (tool.settings?.fields ?? []).map((field) => {
      const value = settingValue(field, layered);
      const hidden = field.secret || holdsSecret(value);
      const options = field.options.map((option) => ({ ...option, label: say(option.label) }));
      return {
        field: { ...field, title: say(field.title), options },
        value: hidden ? undefined : value,
        hint: hintOf(field, hidden && layered.values[field.key] !== undefined, say),
      };
    }),
  };
}

function hintOf(field: SettingField, isHidden: boolean, say: Say): string {
  const { description, unit } = field;
  const rule = whatToEnter(field, say);
  const shown = showSetting(field, field.default, say).replaceAll('`', '');
  return [
    ...(description === undefined ? [] : [say(description)]),
    `${rule.charAt(0).toUpperCase()}${rule.slice(1)}${unit === undefined ? '' : ` (${say(unit)})`}.`,
    ...(isHidden ? [say`A value is set. Leave this empty to keep it.`] : []),
    ...(field.default === undefined ? [] : [say`Default: ${shown}.`]),
  ].join(' ');
}

function button({ menu }: Reader, label: string, action: SettingAction): Button {
  return { label: oneLine(label, 60), action: writeAction(menu, action) };
}

const pageSize = 20;

function pageOf<Item>(items: readonly Item[], page: number): readonly Item[] {
  return items.slice(page * pageSize, (page + 1) * pageSize);
}

function turning(reader: Reader, count: number, here: SettingAction & { page: number }): readonly Button[] {
  const { page } = here;
  const { say } = reader;
  return [
    ...(page > 0 ? [button(reader, `‹ ${say`Before`}`, { ...here, page: page - 1 })] : []),
    ...((page + 1) * pageSize < count ? [button(reader, `${say`More`} ›`, { ...here, page: page + 1 })] : []),
  ];
}
