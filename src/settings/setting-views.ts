import type { Button } from '../core/channel.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { fixed, sayIn, type Say } from '../core/texts/say.ts';
import { whatToEnter } from '../core/tool-settings.ts';
import type { Tool } from '../core/tool.ts';
import { inlineCode, oneLine } from '../lib/text/text.ts';
import type { LayeredSettings } from './layer-settings.ts';
import { nameOf, writeAction, type SettingAction } from './setting-actions.ts';
import { toolTitle } from '../tools/tool-title.ts';

const words: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['on', true],
  ['yes', true],
  ['false', false],
  ['off', false],
  ['no', false],
]);

const noneWords: ReadonlySet<string> = new Set(['none', '-']);

/** What stands in a message, and the buttons under it. */
export type SettingView = Readonly<{ text: string; buttons: readonly Button[] }>;

/** How a command is written in the chat. */
export type WriteHere = (name: string, args?: string) => string;

/** Who reads a view: their menu, and their language. */
export type Reader = Readonly<{ menu: string; say: Say }>;

/** How many things one message lets choose from; the rest is a page further. */
const pageSize = 20;

/** The tools that have settings. */
export function toolsView(
  tools: readonly Tool[],
  { menu, say }: Reader,
  write: WriteHere,
  page = 0,
): SettingView {
  if (tools.length === 0) return { text: say`No tool here has settings.`, buttons: [] };
  const lines = pageOf(tools, page).map(
    (tool) => `- \`${tool.name}\` ${toolTitle(tool, say)}: ${keysOf(tool).join(', ')}`,
  );
  return {
    text: [say`Settings of tools in this chat:`, '', ...lines, '', usage(write, say)].join('\n'),
    buttons: [
      ...pageOf(tools, page).map((tool) =>
        button(menu, toolTitle(tool, say), { view: 'tool', tool: nameOf(tool.name), page: 0 }),
      ),
      ...turning({ menu, say }, tools.length, page, (to) => ({ view: 'tools', page: to })),
      button(menu, say`Done`, { view: 'done' }),
    ],
  };
}

/** One tool: what its settings are here. */
export function toolView(
  tool: Tool,
  layered: LayeredSettings,
  { menu, say }: Reader,
  write: WriteHere,
  page = 0,
): SettingView {
  const fields = tool.settings?.fields ?? [];
  const name = nameOf(tool.name);
  const lines = pageOf(fields, page).map((field) => `- \`${field.key}\` ${oneField(field, layered, say)}`);
  const problems = layered.problems.map(({ key, layer, problem }) => {
    const found = fields.find((field) => field.key === key);
    const why = sayProblem(found, problem, say);
    const table = inlineCode(`[tools.${tool.name}]`);
    if (key === undefined)
      return layer === 'chat'
        ? say`What is set in this chat can't be used: ${why}.`
        : say`${table} in the config can't be used: ${why}.`;
    return layer === 'chat'
      ? say`What is set in this chat can't be used for ${inlineCode(key)}: ${why}.`
      : say`${table} in the config can't be used for ${inlineCode(key)}: ${why}.`;
  });
  return {
    text: [
      say`**${toolTitle(tool, say)}** in this chat:`,
      '',
      ...lines,
      '',
      ...problems,
      usageOf(tool, write, say),
    ].join('\n'),
    buttons: [
      ...pageOf(fields, page).map((field) =>
        button(menu, say(field.title), { view: 'field', tool: name, field: nameOf(field.key), page: 0 }),
      ),
      ...turning({ menu, say }, fields.length, page, (to) => ({ view: 'tool', tool: name, page: to })),
      button(menu, say`All tools`, { view: 'tools', page: 0 }),
      button(menu, say`Done`, { view: 'done' }),
    ],
  };
}

/** One setting: what it is, and how it is changed. `typing`: a value may come as a message. */
export function fieldView(
  tool: Tool,
  field: SettingField,
  layered: LayeredSettings,
  { menu, say }: Reader,
  more: Readonly<{ page?: number; typing?: string }> = {},
): SettingView {
  const { page = 0, typing } = more;
  const of = { tool: nameOf(tool.name), field: nameOf(field.key) };
  const value = valueOf(field, layered);
  const chosen = new Set(Array.isArray(value) ? value : [value]);
  const options = optionsOf(field).map(({ value: option, label }) =>
    button(menu, `${chosen.has(option) ? '✓ ' : ''}${say(label)}`, {
      view: 'choose',
      ...of,
      option: nameOf(String(option)),
      page,
    }),
  );
  const steps = (['down', 'up'] as const).flatMap((view) => {
    const to = stepped(field, value, view);
    return to === undefined ? [] : [button(menu, `${view === 'up' ? '+' : '−'} → ${to}`, { view, ...of })];
  });
  return {
    text: [
      say`${`**${toolTitle(tool, say)}: ${say(field.title)}**`} in this chat: ${oneField(field, layered, say, false)}`,
      ...(field.description === undefined ? [] : ['', oneLine(say(field.description), 300)]),
      ...(typing === undefined ? [] : ['', typing]),
    ].join('\n'),
    buttons: [
      ...pageOf(options, page),
      ...turning({ menu, say }, options.length, page, (to) => ({ view: 'field', ...of, page: to })),
      ...steps,
      ...(layered.from.get(field.key) === 'chat'
        ? [button(menu, say`Unset in this chat`, { view: 'reset', ...of })]
        : []),
      button(menu, say`Back`, { view: 'tool', tool: of.tool, page: 0 }),
    ],
  };
}

/** What holds: what is set, else the default. */
export function valueOf(field: SettingField, { values }: LayeredSettings): SettingValue | undefined {
  return (values[field.key] ?? field.default) as SettingValue | undefined;
}

/** What can be chosen by a button. */
export function optionsOf(
  field: SettingField,
): readonly Readonly<{ value: string | boolean; label: string }>[] {
  if (field.kind !== 'boolean') return field.options;
  return [
    { value: true, label: fixed`On` },
    { value: false, label: fixed`Off` },
  ];
}

/** The number one step further, inside its bounds; undefined if there is none. */
export function stepped(
  { kind, step, min = -Infinity, max = Infinity }: SettingField,
  value: SettingValue | undefined,
  way: 'up' | 'down',
): number | undefined {
  if (kind !== 'number' || step === undefined || typeof value !== 'number') return undefined;
  // Steps of 0.1 would leave tails of binary fractions.
  const next = Number((way === 'up' ? value + step : value - step).toFixed(6));
  const to = Math.min(max, Math.max(min, next));
  return to === value ? undefined : to;
}

function oneField(field: SettingField, layered: LayeredSettings, say: Say, titled = true): string {
  const from = layered.from.get(field.key);
  const where = from === undefined ? say`default` : from === 'chat' ? say`this chat` : say`config`;
  const value = layered.values[field.key] ?? field.default;
  const shown = showSetting(field, value, say);
  return `${titled ? `${say(field.title)}: ` : ''}${shown}${value === undefined ? '' : ` (${where})`}`;
}

function usage(write: WriteHere, say: Say): string {
  return say`Choose a tool, or write ${write('settings', 'TOOL')}. To set a value, write ${write('settings', 'TOOL KEY VALUE')}.`;
}

function usageOf({ name }: Tool, write: WriteHere, say: Say): string {
  return `\n${say`${write('settings', `${name} KEY VALUE`)} sets one in this chat. The value \`default\` removes what this chat has set.`}`;
}

function keysOf({ settings }: Tool): readonly string[] {
  return (settings?.fields ?? []).map(({ key }) => `\`${key}\``);
}

function button(menu: string, label: string, action: SettingAction): Button {
  return { label: oneLine(label, 60), action: writeAction(menu, action) };
}

function pageOf<Item>(items: readonly Item[], page: number): readonly Item[] {
  return items.slice(page * pageSize, (page + 1) * pageSize);
}

function turning(
  { menu, say }: Reader,
  count: number,
  page: number,
  to: (page: number) => SettingAction,
): readonly Button[] {
  return [
    ...(page > 0 ? [button(menu, `‹ ${say`Before`}`, to(page - 1))] : []),
    ...((page + 1) * pageSize < count ? [button(menu, `${say`More`} ›`, to(page + 1))] : []),
  ];
}

/** What a person typed as a value of this setting; whether the tool takes it is for its check to say. */
export function readSetting(field: SettingField, typed: string, say: Say): SettingValue {
  const text = typed.trim();
  const word = text.toLowerCase();
  switch (field.kind) {
    case 'boolean':
      return words.get(word) ?? onOrOff(word, say) ?? text;
    case 'number':
      return /^[+-]?(\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : text;
    case 'select':
      return choiceOf(field, text, say);
    case 'multiselect':
      return noneWords.has(word) || word === say`none`.toLowerCase()
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

/** A value for people, as one line of Markdown. Of a secret only that it is set. */
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

/** What is wrong with a value, as its tool's check says in English, for a person. */
export function sayProblem(field: SettingField | undefined, problem: string, say: Say): string {
  return field !== undefined && problem === whatToEnter(field, sayIn(undefined))
    ? whatToEnter(field, say)
    : say(problem);
}

function onOrOff(word: string, say: Say): boolean | undefined {
  if (word === say`on`.toLowerCase()) return true;
  return word === say`off`.toLowerCase() ? false : undefined;
}

/** By its value or its label, in any case. */
function choiceOf({ options }: SettingField, text: string, say: Say): string {
  const word = text.toLowerCase();
  const found = options.find(({ value, label }) =>
    [value, label, say(label)].some((each) => each.toLowerCase() === word),
  );
  return found?.value ?? text;
}
