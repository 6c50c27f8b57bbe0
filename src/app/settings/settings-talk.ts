import type { Button, Channel, Press } from '../../core/channel.ts';
import { listsId } from '../../core/chat-id.ts';
import { nearest } from '../../core/nearest.ts';
import type { Filled, OpenForm } from '../../core/form.ts';
import type { Log } from '../../core/log.ts';
import type { Message } from '../../core/message.ts';
import type { SettingField, SettingValue } from '../../core/setting-field.ts';
import type { Tool } from '../../core/tool.ts';
import { placeOf, type ChangeSetting, type Who } from './change-setting.ts';
import { createRemoveSecret } from './remove-secret.ts';
import type { People } from '../door/people.ts';
import {
  mayNotChange,
  menuOf,
  nameOf,
  othersMenu,
  readAction,
  type SettingAction,
} from './setting-actions.ts';
import type { SettingEntries } from './setting-entries.ts';
import { settingsForm, type HoldsSecret } from './settings-form.ts';
import { readSetting, showSetting } from './setting-text.ts';
import {
  fieldView,
  optionsOf,
  stepped,
  toolsView,
  toolView,
  valueOf,
  type SettingView,
} from './setting-views.ts';
import type { SettingsInForce } from './settings-in-force.ts';
import { createTakeForm } from './take-settings-form.ts';
import { toolTitle } from '../tool-title.ts';
import type { Voice } from '../voice.ts';

type Changed = SettingView & Readonly<{ taken: boolean }>;

/** `/settings` (I3, X3), by text and by buttons, the same on every channel. Owners and approvers only. */
export type SettingsTalk = Readonly<{
  /** Whether words after a mention mean this command: they begin with a tool that has settings. */
  isMeant(args: string): boolean;
  answer(message: Message, args: string, openForm?: OpenForm): Promise<SettingView>;
  /** What becomes of the message whose button was pressed, or why nothing does; nothing where a form was opened instead. */
  press(press: Press, openForm?: OpenForm): Promise<SettingView | Readonly<{ refused: string }> | undefined>;
  /** Sets what a form says and tells the chat; else gives what is wrong, by key, and sets nothing. */
  takeForm(filled: Filled): Promise<Readonly<Record<string, string>> | undefined>;
  /** Takes a message that is a value the bot asked for, and answers it; false where it is none. No value goes on from here (X3). */
  takeValue(message: Message): Promise<boolean>;
}>;

export function createSettingsTalk(options: {
  /** Every tool that has settings, sorted by name. */
  tools(): readonly Tool[];
  inForce: Pick<SettingsInForce, 'of'>;
  change: ChangeSetting;
  entries: SettingEntries;
  people: Pick<People, 'isOwner'>;
  approvers(): readonly string[];
  holdsSecret: HoldsSecret;
  channels: ReadonlyMap<string, Channel>;
  voice: Pick<Voice, 'answer' | 'say'>;
  log: Log;
}): SettingsTalk {
  const { tools, inForce, change, entries, people, approvers, holdsSecret, channels, voice, log } = options;

  const removeSecret = createRemoveSecret({ channels, log });

  async function mayChange(sender: string): Promise<boolean> {
    return listsId(approvers(), sender) || (await people.isOwner(sender));
  }

  function find(tool: string, field = ''): Readonly<{ tool?: Tool; field?: SettingField }> {
    const found = tools().find(({ name }) => name === tool || nameOf(name) === tool);
    const of = found?.settings?.fields.find(({ key }) => key === field || nameOf(key) === field);
    return { ...(found === undefined ? {} : { tool: found }), ...(of === undefined ? {} : { field: of }) };
  }

  const overview = ({ conversation, sender }: Who, page = 0): SettingView =>
    toolsView(tools(), menuOf(conversation, sender), page);

  async function ofTool({ conversation, sender }: Who, tool: Tool, page = 0): Promise<SettingView> {
    return toolView(tool, await inForce.of(conversation, tool), menuOf(conversation, sender), page);
  }

  /** Where a value has to be written, it is waited for from here on. */
  async function ofField(who: Who, tool: Tool, field: SettingField, page = 0): Promise<SettingView> {
    const { conversation, sender } = who;
    const types = !['boolean', 'select', 'multiselect'].includes(field.kind);
    if (types) await entries.begin(who, { tool: tool.name, key: field.key, secret: field.secret });
    const layered = await inForce.of(conversation, tool);
    const typing = types ? { typing: askFor(field, who.chatType) } : {};
    return fieldView(tool, field, layered, menuOf(conversation, sender), { page, ...typing });
  }

  async function set(
    who: Who,
    tool: Tool,
    field: SettingField,
    value: SettingValue | undefined,
  ): Promise<Changed> {
    const problem = await change(placeOf(who), tool, field, value);
    const back: readonly Button[] = (await ofTool(who, tool)).buttons.filter(
      ({ label }) => label === 'All tools',
    );
    if (problem !== undefined) return { text: notSet(tool, field, problem), buttons: [], taken: false };
    const layered = await inForce.of(who.conversation, tool);
    const now = showSetting(field, valueOf(field, layered));
    const where = value === undefined ? 'is no longer set in this chat; in force' : 'in this chat';
    return { text: `${toolTitle(tool)}, ${field.title} ${where}: ${now}.`, buttons: back, taken: true };
  }

  async function take(message: Message, tool: Tool, field: SettingField, typed: string): Promise<Changed> {
    const who = whoOf(message);
    // Gone before anything else is said: the next one may not find it there.
    const removed = field.secret ? await removeSecret(message) : '';
    const value = typed.trim().toLowerCase() === 'default' ? undefined : readSetting(field, typed);
    const view = await set(who, tool, field, value);
    return { ...view, text: `${view.text}${removed}` };
  }

  async function press(
    pressed: Press,
    openForm?: OpenForm,
  ): Promise<SettingView | Readonly<{ refused: string }> | undefined> {
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
    const { tool } = does.view === 'tool' ? find(does.tool) : {};
    if (tool !== undefined && (await opened(who, tool, openForm))) return undefined;
    return act(who, does);
  }

  /** Whether a form of this tool stands before the person: where it can't be shown there are still buttons and text. */
  async function opened(who: Who, tool: Tool, openForm: OpenForm | undefined): Promise<boolean> {
    if (openForm === undefined) return false;
    try {
      const layered = await inForce.of(who.conversation, tool);
      const menu = menuOf(who.conversation, who.sender);
      await openForm(settingsForm(tool, layered, { conversation: who.conversation, menu, holdsSecret }));
      return true;
    } catch (error) {
      log.warn({ err: error, tool: tool.name }, 'a form of settings could not be shown');
      return false;
    }
  }

  async function act(who: Who, does: SettingAction): Promise<SettingView> {
    if (does.view === 'tools') return overview(who, does.page);
    if (does.view === 'done') return { text: 'The settings are as you left them.', buttons: [] };
    const { tool, field } = find(does.tool, 'field' in does ? does.field : '');
    if (tool === undefined) return overview(who);
    if (does.view === 'tool') return ofTool(who, tool, does.page);
    if (field === undefined) return ofTool(who, tool);
    if (does.view === 'field') return ofField(who, tool, field, does.page);
    const layered = await inForce.of(who.conversation, tool);
    const value = valueOf(field, layered);
    const next = does.view === 'reset' ? undefined : nextValue(field, value, does);
    if (does.view !== 'reset' && next === undefined) return ofField(who, tool, field);
    const problem = await change(placeOf(who), tool, field, next);
    const view = await ofField(who, tool, field, does.view === 'choose' ? does.page : 0);
    return problem === undefined ? view : { ...view, text: `${view.text}\n\nNot changed: ${problem}.` };
  }

  return {
    press,
    isMeant(args) {
      const [word = ''] = args.split(/\s+/);
      const names = tools().map(({ name }) => name);
      // A slip in the name must not send what stands behind it to a model.
      return word !== '' && (names.includes(word) || nearest(word, names).length > 0);
    },
    takeForm: createTakeForm({ find, mayChange, inForce, change, holdsSecret, voice, log }),
    async answer(message, args, openForm) {
      const who = whoOf(message);
      const [, name = '', key = '', typed = ''] = /^(\S*)\s*(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
      const { tool, field } = find(name, key);
      if (!(await mayChange(who.sender))) {
        // Whoever it was who tried, a secret has no business in the chat.
        if (field?.secret === true && typed !== '') await removeSecret(message);
        return { text: mayNotChange, buttons: [] };
      }
      if (name === '') return overview(who);
      if (tool === undefined) {
        const { text, buttons } = overview(who);
        return { text: `There is no tool of that name with settings.\n\n${text}`, buttons };
      }
      if (key === '')
        return (await opened(who, tool, openForm)) ? { text: '', buttons: [] } : ofTool(who, tool);
      if (field === undefined) {
        const { text, buttons } = await ofTool(who, tool);
        return { text: `There is no setting of that name.\n\n${text}`, buttons };
      }
      return typed === '' ? ofField(who, tool, field) : take(message, tool, field, typed);
    },
    async takeValue(message) {
      const entry = await entries.meant(message);
      if (entry === 'again') return true;
      if (entry === undefined) return isLate(message) ? late(message) : false;
      const { tool, field } = find(entry.tool, entry.key);
      if (tool === undefined || field === undefined || !(await mayChange(message.sender.id))) return false;
      const { text, buttons, taken } = await take(message, tool, field, message.text);
      await voice.answer(message, text, { buttons });
      await entries.took(message, taken);
      return true;
    },
  };

  async function late(message: Message): Promise<boolean> {
    if (!(await mayChange(message.sender.id))) return false;
    const removed = await removeSecret(message);
    await voice.answer(message, `That came too late: write /settings again.${removed}`);
    return true;
  }
}

function whoOf({ conversation, chatType, sender }: Message): Who {
  return { conversation, chatType, sender: sender.id };
}

function notSet(tool: Tool, { title }: SettingField, problem: string): string {
  return `${toolTitle(tool)}, ${title}: that can't be set. Please ${problem}.`;
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

function askFor({ secret, placeholder, kind }: SettingField, chatType: Message['chatType']): string {
  const how = chatType === 'private' ? 'as your next message' : 'as an answer to this message';
  const example = placeholder === undefined ? '' : `, such as \`${placeholder.replaceAll('`', '')}\``;
  const hidden = secret ? ' It is kept from the model, and your message is deleted where I can do that.' : '';
  return `${asked} the ${kind === 'number' ? 'number' : 'value'} ${how}${example}, within 10 minutes.${hidden}`;
}

/** What a value is asked for by: an answer to such a message is a value, whenever it comes. */
const asked = 'Or write';

function isLate({ replyTo }: Message): boolean {
  return replyTo?.own === true && /^Or write the (number|value) as /m.test(replyTo.text);
}
