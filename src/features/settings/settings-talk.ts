import type { App } from '../../app.ts';
import { listsId } from '../../access/chat-migrations.ts';
import type { Filled, Press } from '../../core/channel.ts';
import { readSetting } from '../../core/read-setting.ts';
import type { OpenForm } from '../../core/form.ts';
import { SendError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { SettingField } from '../../core/setting-field.ts';
import { fixed, sayIn, type Fixed } from '../../core/texts/say.ts';
import type { Tool } from '../../core/tool.ts';
import { redactDeep } from '../../lib/redaction/redact.ts';
import { nearest } from '../../lib/text/text.ts';
import { toSenderAlone } from '../../replies/replies.ts';
import { toolTitle } from '../../tools/tool-title.ts';
import {
  createSettingEntries,
  settingEntries,
  type GroupChat,
} from '../../tools/settings/setting-entries.ts';
import { announce } from './announce.ts';
import { sayProblem, showSetting, settingValue } from './setting-values.ts';
import { readAction, type SettingView } from './setting-views.ts';
import type { Who } from '../../tools/settings/settings-in-force.ts';
import {
  answersAsking,
  findSetting,
  mayNotChange,
  openedForm,
  pressSettings,
  showField,
  showTool,
  showTools,
  takeForm,
  whoOf,
  type ShowDeps,
} from './show-settings.ts';

/** `/settings` for owners and approvers (I3, X3), by text, buttons or forms. */
export type SettingsTalk = Readonly<{
  /** Whether words after a mention are meant as `/settings`: they begin with the name of a tool that has settings. */
  isMeant(args: string): boolean;
  answer(message: Message, args: string, openForm?: OpenForm): Promise<SettingView>;
  /** The menu of settings. Undefined if this person may not change any. */
  menu(who: Who): Promise<SettingView | undefined>;
  press(press: Press, openForm?: OpenForm): ReturnType<typeof pressSettings>;
  /** Takes a filled form. Tells the chat what changed, or returns problems by key. */
  takeForm(filled: Filled): Promise<Readonly<Record<string, string>> | undefined>;
  /**
   * Takes a message that is a value which the bot asked for, so that it goes no further (X3). Returns false for other
   * messages.
   */
  takeValue(message: Message): Promise<boolean>;
}>;

export function createSettingsTalk(
  app: App,
): SettingsTalk & Readonly<{ /** Reads what values are awaited. */ load(): Promise<void> }> {
  const { runtime, store, users, clock, log } = app;
  const stored = store.keyed(settingEntries);
  const entries = createSettingEntries({ stored, signals: store.signals, clock });
  const deps: ShowDeps = {
    tools: () => app.toolsWithSettings().toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    inForce: app.settings,
    entries,
    mayChange: async (sender) =>
      listsId(runtime().config.policy.approvers, sender) || (await users.isOwner(sender)),
    holdsSecret: (value) => redactDeep(value, (text) => runtime().redact(text)) !== value,
    chat: app,
    log,
  };
  return {
    isMeant: (args) => isToolName(args.split(/\s+/)[0] ?? '', deps),
    answer: (message, args, openForm) => answerSettings(message, { args, openForm }, deps),
    menu: (who) => menuFor(who, deps),
    press: (press, openForm) => pressSettings(press, openForm, deps),
    takeForm: (filled) => takeForm(filled, deps),
    takeValue: (message) => takeValue(message, deps),
    load: entries.load,
  };
}

/** Whether the word is a tool's name. A misspelt name counts, too, because what follows must not reach a model. */
function isToolName(word: string, { tools }: ShowDeps): boolean {
  const names = tools().map(({ name }) => name);
  return word !== '' && (names.includes(word) || nearest(word, names).length > 0);
}

async function menuFor(who: Who, deps: ShowDeps): Promise<SettingView | undefined> {
  if (deps.tools().length === 0 || !(await deps.mayChange(who.sender))) return undefined;
  const { text, buttons } = showTools(who, deps);
  return { text, buttons: buttons.filter((button) => !opens(button, 'done')) };
}

function opens(button: SettingView['buttons'][number], view: 'tools' | 'done'): boolean {
  return 'action' in button && readAction(button.action)?.does.view === view;
}

async function answerSettings(
  message: Message,
  { args, openForm }: Readonly<{ args: string; openForm: OpenForm | undefined }>,
  deps: ShowDeps,
): Promise<SettingView> {
  const who = whoOf(message);
  const [, name = '', key = '', typed = ''] = /^(\S*)\s*(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
  const { tool, field } = findSetting(deps.tools(), name, key);
  const say = sayIn(who.language);
  if (!(await deps.mayChange(who.sender))) {
    // A secret must not stay in the chat, no matter who wrote it.
    if (field?.secret === true && typed !== '') await removeSecret(message, deps);
    return { text: say(mayNotChange), buttons: [] };
  }
  if (name === '') return showTools(who, deps);
  if (tool === undefined) {
    const { text, buttons } = showTools(who, deps);
    return { text: `${say`No tool with that name has settings here.`}\n\n${text}`, buttons };
  }
  if (key === '')
    return (await openedForm(who, tool, openForm, deps))
      ? { text: '', buttons: [] }
      : showTool(who, tool, deps);
  if (field === undefined) {
    const { text, buttons } = await showTool(who, tool, deps);
    return { text: `${say`This tool has no setting of that name.`}\n\n${text}`, buttons };
  }
  return typed === ''
    ? showField(who, { tool, field }, deps)
    : setTyped(message, { tool, field, typed }, deps);
}

async function takeValue(message: Message, deps: ShowDeps): Promise<boolean> {
  const { tools, entries, mayChange } = deps;
  const { replies } = deps.chat;
  const forGroup = message.chatType === 'private' && answersAsking(message, ['group']);
  const entry = await entries.meant(message, forGroup);
  if (entry === 'again') return true;
  const isLate = entry === undefined && answersAsking(message);
  const { tool, field } = findSetting(tools(), entry?.tool ?? '', entry?.key);
  const isFound = entry !== undefined && tool !== undefined && field !== undefined;
  if (!(isLate || isFound) || !(await mayChange(message.sender.id))) return false;
  if (!isFound) {
    const say = sayIn(message.sender.language);
    const removed = await removeSecret(message, deps);
    const late = say`This form has expired. Open the settings again.`;
    await replies.answer(message, `${late} ${say(removed)}`.trimEnd(), toSenderAlone(message));
    return true;
  }
  const meant = entry.group === undefined ? message : inGroup(message, entry.group);
  const { text, buttons, taken } = await setTyped(meant, { tool, field, typed: message.text }, deps);
  await replies.answer(meant, text, { ...toSenderAlone(meant), buttons });
  await entries.took(message, taken, forGroup);
  return true;
}

/** What a person says in a direct message about a group, as said in that group. They get the answer where they are. */
function inGroup(message: Message, group: GroupChat): Message {
  const { id, sentAt: at, conversation } = message;
  return { ...message, ...group, privateReply: { kind: 'press', id, at, direct: { conversation } } };
}

type Named = Readonly<{ tool: Tool; field: SettingField }>;

async function setTyped(
  message: Message,
  { tool, field, typed }: Named & Readonly<{ typed: string }>,
  deps: ShowDeps,
): Promise<SettingView & Readonly<{ taken: boolean }>> {
  const { inForce } = deps;
  const who = whoOf(message);
  // The message is removed first, because it may not be found afterwards.
  const removed = field.secret ? await removeSecret(message, deps) : '';
  const say = sayIn(who.language);
  const withRemoved = (text: string): string => `${text} ${say(removed)}`.trimEnd();
  const named = `${toolTitle(tool, say)}, ${say(field.title)}`;
  const value = typed.trim().toLowerCase() === 'default' ? undefined : readSetting(field, typed, say);
  const problem = await inForce.change(who, tool, field, value);
  if (problem !== undefined) {
    const text = say`${named}: that doesn't work. Please ${sayProblem(field, problem, say)}.`;
    return { text: withRemoved(text), buttons: [], taken: false };
  }
  await announce(who, toolTitle(tool, say), deps.chat);
  const now = showSetting(field, settingValue(field, await inForce.of(who.conversation, tool)), say);
  const text =
    value === undefined
      ? say`${named} is no longer set in this chat; it is now: ${now}.`
      : say`${named} in this chat: ${now}.`;
  const { buttons } = await showTool(who, tool, deps);
  return {
    text: withRemoved(text),
    buttons: buttons.filter((button) => opens(button, 'tools')),
    taken: true,
  };
}

/**
 * Deletes a message with a secret and returns what to say about it. Empty if there is no message to delete, as after a
 * slash command or in the terminal.
 */
async function removeSecret(
  { conversation, platformId, privateReply }: Message,
  { chat: { channels }, log }: ShowDeps,
): Promise<Fixed> {
  if (platformId === undefined) return '';
  const where = privateReply?.direct?.conversation ?? conversation;
  try {
    await channels.get(where.channel)?.remove(where, { id: platformId });
    return fixed`Your message was deleted here.`;
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    log.info({ err: error }, 'could not delete a message with a secret');
    return fixed`I can’t delete messages here. Please delete yours: it contains a secret.`;
  }
}
