import type { Act, Channel, Filled, Press, WriteCommand } from '../../core/channel.ts';
import { readSetting } from '../../core/read-setting.ts';
import type { OpenForm } from '../../core/form.ts';
import type { Message } from '../../core/message.ts';
import type { SettingField, SettingValue } from '../../core/setting-field.ts';
import { fixed, inEveryLanguage, sayIn, type Say } from '../../core/texts/say.ts';
import type { Tool } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { toSenderAlone, type Replies } from '../../replies/replies.ts';
import type { Store } from '../../store/store.ts';
import { toolTitle } from '../../tools/tool-title.ts';
import { announce } from './announce.ts';
import type { SettingEntries } from '../../tools/settings/setting-entries.ts';
import {
  optionsOf,
  sayProblem,
  showSetting,
  stepped,
  settingValue,
  withOption,
  type HoldsSecret,
} from './setting-values.ts';
import {
  fieldView,
  nameOf,
  othersMenu,
  readAction,
  settingsReader,
  settingsForm,
  toolsView,
  toolView,
  type SettingAction,
  type SettingView,
} from './setting-views.ts';
import type { LayeredSettings, SettingsInForce, Who } from '../../tools/settings/settings-in-force.ts';

export type ShowDeps = Readonly<{
  /** Every tool that has settings, sorted by name. */
  tools: () => readonly Tool[];
  inForce: SettingsInForce;
  entries: SettingEntries;
  mayChange: (sender: string) => Promise<boolean>;
  holdsSecret: HoldsSecret;
  chat: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    writeCommand: WriteCommand;
    replies: Replies;
    store: Store;
    clock: Clock;
  }>;
  log: Log;
}>;

export const mayNotChange = fixed`Only an owner or an approver can change settings.`;

export function whoOf({
  conversation,
  chatType,
  sender,
  privateReply,
}: Pick<Act, 'conversation' | 'chatType' | 'sender' | 'privateReply'>): Who {
  const { id, name, language } = sender;
  return { conversation, chatType, sender: id, name, language, direct: privateReply?.direct?.conversation };
}

/** Finds a tool and its field, each by its name or short name. */
export function findSetting(
  tools: readonly Tool[],
  tool: string,
  field = '',
): Readonly<{ tool?: Tool; field?: SettingField }> {
  const found = tools.find(({ name }) => name === tool || nameOf(name) === tool);
  const of = found?.settings?.fields.find(({ key }) => key === field || nameOf(key) === field);
  return { tool: found, field: of };
}

export function showTools(who: Who, deps: ShowDeps, page = 0): SettingView {
  return toolsView(deps.tools(), settingsReader(who, deps.chat.writeCommand), page);
}

export async function showTool(who: Who, tool: Tool, deps: ShowDeps, page = 0): Promise<SettingView> {
  const layered = await deps.inForce.of(who.conversation, tool);
  return toolView(tool, layered, settingsReader(who, deps.chat.writeCommand), page);
}

/** Shows one setting. If its value is typed, the person's next message counts as the value. */
export async function showField(
  who: Who,
  { tool, field }: Readonly<{ tool: Tool; field: SettingField }>,
  { inForce, entries, chat }: ShowDeps,
  page = 0,
): Promise<SettingView> {
  const isTyped = !['boolean', 'select', 'multiselect'].includes(field.kind);
  if (isTyped) await entries.begin(who, { tool: tool.name, key: field.key, secret: field.secret });
  const layered = await inForce.of(who.conversation, tool);
  const typing = isTyped ? askFor(field, who, sayIn(who.language)) : undefined;
  return fieldView(tool, field, layered, settingsReader(who, chat.writeCommand), { page, typing });
}

/** Opens a form if the platform can. Returns false if buttons and text have to be used. */
export async function openedForm(
  who: Who,
  tool: Tool,
  openForm: OpenForm | undefined,
  { inForce, holdsSecret, chat, log }: ShowDeps,
): Promise<boolean> {
  if (openForm === undefined) return false;
  try {
    const layered = await inForce.of(who.conversation, tool);
    await openForm(settingsForm(tool, layered, settingsReader(who, chat.writeCommand), holdsSecret));
    return true;
  } catch (error) {
    log.warn({ err: error, tool: tool.name }, 'could not show a settings form');
    return false;
  }
}

function askFor({ secret, placeholder }: SettingField, { chatType, direct }: Who, say: Say): string {
  const of = askings[chatType === 'private' || direct !== undefined ? 'private' : 'group'];
  const asked = placeholder === undefined ? say(of.plain) : say(of.example, inlineCode(placeholder));
  const hidden = say`The model never sees it, and I delete your message if I can.`;
  return secret ? `${asked} ${hidden}` : asked;
}

const askings = {
  private: {
    plain: fixed`Or write the value as your next message, within 10 minutes.`,
    example: fixed`Or write the value as your next message, such as ${0}, within 10 minutes.`,
  },
  group: {
    plain: fixed`Or write the value as a reply to this message, within 10 minutes.`,
    example: fixed`Or write the value as a reply to this message, such as ${0}, within 10 minutes.`,
  },
};

/** Whether a message replies to a question for a value, in any language and at any time later. */
export function answersAsking(
  { replyTo }: Message,
  of: readonly (keyof typeof askings)[] = ['private', 'group'],
): boolean {
  if (replyTo?.own !== true) return false;
  const lines = replyTo.text.split('\n');
  return of
    .map((where) => askings[where])
    .flatMap(({ plain, example }) => [plain, example])
    .flatMap(inEveryLanguage)
    .some((sentence) => {
      const [begin = ''] = sentence.split('{0}');
      return lines.some((line) => line.startsWith(begin.trim()));
    });
}

/** Handles a press. Returns the new view or why the press was refused; undefined if a form opened instead. */
export async function pressSettings(
  pressed: Press,
  openForm: OpenForm | undefined,
  deps: ShowDeps,
): Promise<SettingView | Readonly<{ refused: string }> | undefined> {
  const { action, sender } = pressed;
  const who = whoOf(pressed);
  const read = readAction(action);
  const refused = (await deps.mayChange(sender.id)) ? othersMenu(read?.menu, pressed) : mayNotChange;
  if (refused !== undefined || read === undefined) {
    deps.log.warn({ sender: sender.id }, 'somebody pressed a settings button that is not theirs');
    return refused === undefined ? undefined : { refused: sayIn(sender.language)(refused) };
  }
  await deps.entries.end(who);
  const { tool } = read.does.view === 'tool' ? findSetting(deps.tools(), read.does.tool ?? '') : {};
  if (tool !== undefined && (await openedForm(who, tool, openForm, deps))) return undefined;
  return act(who, read.does, deps);
}

async function act(who: Who, does: SettingAction, deps: ShowDeps): Promise<SettingView> {
  const { view, page } = does;
  const say = sayIn(who.language);
  if (view === 'tools') return showTools(who, deps, page);
  if (view === 'done') return { text: say`Settings closed.`, buttons: [] };
  const { tool, field } = findSetting(deps.tools(), does.tool ?? '', does.field);
  if (tool === undefined) return showTools(who, deps);
  if (view === 'tool') return showTool(who, tool, deps, page);
  if (field === undefined) return showTool(who, tool, deps);
  if (view === 'field') return showField(who, { tool, field }, deps, page);
  const next = nextValue(field, await deps.inForce.of(who.conversation, tool), does);
  if (view !== 'reset' && next === undefined) return showField(who, { tool, field }, deps);
  const problem = await deps.inForce.change(who, tool, field, next);
  if (problem === undefined) await announce(who, toolTitle(tool, say), deps.chat);
  const shown = await showField(who, { tool, field }, deps, page);
  if (problem === undefined) return shown;
  const why = say`Not changed: ${sayProblem(field, problem, say)}.`;
  return { ...shown, text: `${shown.text}\n\n${why}` };
}

/** The value that a press leads to. Undefined if there is none. */
function nextValue(
  field: SettingField,
  layered: LayeredSettings,
  { view, option }: SettingAction,
): SettingValue | undefined {
  const value = settingValue(field, layered);
  if (view === 'up' || view === 'down') return stepped(field, value, view);
  if (view !== 'choose') return undefined;
  const chosen = optionsOf(field).find((one) => nameOf(String(one.value)) === option);
  return chosen === undefined ? undefined : withOption(field, value, chosen.value);
}

/**
 * Stores the values of a form. Returns problems by key, and one invalid value keeps all from being stored. Undefined:
 * it is done.
 */
export async function takeForm(
  filled: Filled,
  deps: ShowDeps,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { action, conversation, sender, values } = filled;
  const { inForce } = deps;
  const say = sayIn(sender.language);
  const sent = readAction(action);
  const { tool } = sent?.does.view === 'tool' ? findSetting(deps.tools(), sent.does.tool ?? '') : {};
  const [first] = Object.keys(values);
  if (tool === undefined)
    return first === undefined ? undefined : { [first]: say`This tool no longer exists.` };
  const refused = (await deps.mayChange(sender.id)) ? othersMenu(sent?.menu, filled) : mayNotChange;
  if (refused !== undefined) {
    deps.log.warn({ sender: sender.id }, 'somebody sent a settings form that is not theirs');
    return { [tool.settings?.fields[0]?.key ?? '']: say(refused) };
  }
  const changes = formChanges(tool, await inForce.of(conversation, tool), filled, deps.holdsSecret);
  const problems = changes.flatMap(([field, value]) => {
    const checked = value === undefined ? undefined : tool.settings?.check(field.key, value);
    if (checked?.ok !== false) return [];
    return [[field.key, say`Please ${sayProblem(field, checked.problem, say)}.`] as const];
  });
  if (problems.length > 0) return Object.fromEntries(problems);
  const done: string[] = [];
  for (const [field, value] of changes) {
    const problem = await inForce.change(whoOf(filled), tool, field, value);
    if (problem !== undefined) return { [field.key]: say`Please ${sayProblem(field, problem, say)}.` };
    const now = showSetting(field, settingValue(field, await inForce.of(conversation, tool)), say);
    const unset = value === undefined ? `, ${say`no longer set in this chat`}` : '';
    done.push(`- ${say(field.title)}: ${now}${unset}`);
  }
  if (done.length === 0) return undefined;
  const text = [say`${toolTitle(tool, say)}, set in this chat by ${inlineCode(sender.name)}:`, '', ...done];
  const { chat } = deps;
  const alone = toSenderAlone({ ...filled, sentAt: chat.clock.now() });
  await chat.store.commit({
    outbox: await chat.replies.rows(conversation, filled.id, text.join('\n'), alone),
  });
  await announce(whoOf(filled), toolTitle(tool, say), chat);
  return undefined;
}

/** The changes in a form. An emptied field is unset, but an empty hidden field keeps its value. */
function formChanges(
  { settings }: Tool,
  layered: LayeredSettings,
  { values, sender }: Filled,
  holdsSecret: HoldsSecret,
): readonly (readonly [SettingField, SettingValue | undefined])[] {
  const all = settings?.fields ?? [];
  return all.flatMap((field): ReturnType<typeof formChanges> => {
    const before = settingValue(field, layered);
    const entered = values[field.key];
    if (entered === undefined) {
      const stays = field.secret || holdsSecret(before) || layered.from.get(field.key) !== 'chat';
      return stays ? [] : [[field, undefined]];
    }
    const after = typeof entered === 'string' ? readSetting(field, entered, sayIn(sender.language)) : entered;
    return JSON.stringify(after) === JSON.stringify(before) ? [] : [[field, after]];
  });
}
