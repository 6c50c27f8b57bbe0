import { listsId } from '../access/chat-migrations.ts';
import type { Users } from '../access/users.ts';
import type { Button, Channel, WriteCommand, Filled, OpenForm } from '../core/channel.ts';
import { SendError } from '../core/errors.ts';
import type { Message } from '../core/message.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { sayIn, fixed, type Fixed } from '../core/texts/say.ts';
import type { Tool } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import { nearest } from '../lib/text/text.ts';
import type { Replies } from '../replies/replies.ts';
import { placeOf, type ChangeSetting, type Who } from './change-setting.ts';
import {
  createPressSettings,
  answersAsking,
  createShowSettings,
  type PressSettings,
} from './show-settings.ts';
import { mayNotChange, readAction, type SettingAction } from './setting-actions.ts';
import type { SettingEntries } from './setting-entries.ts';
import { readSetting, sayProblem, showSetting, valueOf, type SettingView } from './setting-views.ts';
import { createTakeForm, type HoldsSecret } from './settings-form.ts';
import type { SettingsInForce } from './settings-in-force.ts';
import { toolTitle } from '../tools/tool-title.ts';

type Changed = SettingView & Readonly<{ taken: boolean }>;

/** `/settings` (I3, X3), by text and by buttons, the same on every channel. Owners and approvers only. */
export type SettingsTalk = Readonly<{
  /** Whether words after a mention mean this command: they begin with a tool that has settings. */
  isMeant(args: string): boolean;
  answer(message: Message, args: string, openForm?: OpenForm): Promise<SettingView>;
  /** What a person may set up in a conversation, as on a page of their own; nothing for who may not. */
  menu(who: Who): Promise<SettingView | undefined>;
  press: PressSettings;
  /** Sets what a form says and tells the chat; else gives what is wrong, by key, and sets nothing. */
  takeForm(filled: Filled): Promise<Readonly<Record<string, string>> | undefined>;
  /** Takes a message that is a value the bot asked for, and answers it; false where it is none. No value continues from here (X3). */
  takeValue(message: Message): Promise<boolean>;
}>;

export function createSettingsTalk(options: {
  /** Every tool that has settings, sorted by name. */
  tools(): readonly Tool[];
  inForce: Pick<SettingsInForce, 'of'>;
  change: ChangeSetting;
  entries: SettingEntries;
  users: Pick<Users, 'isOwner'>;
  approvers(): readonly string[];
  holdsSecret: HoldsSecret;
  writeCommand: WriteCommand;
  channels: ReadonlyMap<string, Channel>;
  replies: Pick<Replies, 'answer' | 'say'>;
  log: Log;
}): SettingsTalk {
  const {
    tools,
    inForce,
    change,
    entries,
    users,
    approvers,
    holdsSecret,
    writeCommand,
    channels,
    replies,
    log,
  } = options;
  const show = createShowSettings({ tools, inForce, entries, holdsSecret, writeCommand, log });
  const removeSecret = createRemoveSecret({ channels, log });

  async function mayChange(sender: string): Promise<boolean> {
    return listsId(approvers(), sender) || (await users.isOwner(sender));
  }

  async function set(
    who: Who,
    tool: Tool,
    field: SettingField,
    value: SettingValue | undefined,
  ): Promise<Changed> {
    const problem = await change(placeOf(who), tool, field, value);
    const back: readonly Button[] = (await show.ofTool(who, tool)).buttons.filter(
      (button) => opens(button) === 'tools',
    );
    const say = sayIn(who.language);
    const named = `${toolTitle(tool, say)}, ${say(field.title)}`;
    if (problem !== undefined) {
      const text = say`${named}: that doesn't work. Please ${sayProblem(field, problem, say)}.`;
      return { text, buttons: [], taken: false };
    }
    const layered = await inForce.of(who.conversation, tool);
    const now = showSetting(field, valueOf(field, layered), say);
    const text =
      value === undefined
        ? say`${named} is no longer set in this chat; it is now: ${now}.`
        : say`${named} in this chat: ${now}.`;
    return { text, buttons: back, taken: true };
  }

  async function take(message: Message, tool: Tool, field: SettingField, typed: string): Promise<Changed> {
    const who = whoOf(message);
    // Gone before anything else is said: the next one may not find it there.
    const removed = field.secret ? await removeSecret(message) : '';
    const say = sayIn(who.language);
    const value = typed.trim().toLowerCase() === 'default' ? undefined : readSetting(field, typed, say);
    const view = await set(who, tool, field, value);
    return { ...view, text: `${view.text} ${say(removed)}`.trimEnd() };
  }

  return {
    async menu(who) {
      if (tools().length === 0 || !(await mayChange(who.sender))) return undefined;
      const { text, buttons } = show.overview(who);
      return { text, buttons: buttons.filter((button) => opens(button) !== 'done') };
    },
    press: createPressSettings({ show, inForce, change, entries, mayChange, log }),
    isMeant(args) {
      const [word = ''] = args.split(/\s+/);
      const names = tools().map(({ name }) => name);
      // A slip in the name must not send what stands behind it to a model.
      return word !== '' && (names.includes(word) || nearest(word, names).length > 0);
    },
    takeForm: createTakeForm({ find: show.find, mayChange, inForce, change, holdsSecret, replies, log }),
    async answer(message, args, openForm) {
      const who = whoOf(message);
      const [, name = '', key = '', typed = ''] = /^(\S*)\s*(\S*)\s*([^]*)$/.exec(args.trim()) ?? [];
      const { tool, field } = show.find(name, key);
      const say = sayIn(who.language);
      if (!(await mayChange(who.sender))) {
        // No matter who tried, a secret has no business in the chat.
        if (field?.secret === true && typed !== '') await removeSecret(message);
        return { text: say(mayNotChange), buttons: [] };
      }
      if (name === '') return show.overview(who);
      if (tool === undefined) {
        const { text, buttons } = show.overview(who);
        return { text: `${say`No tool with that name has settings here.`}\n\n${text}`, buttons };
      }
      if (key === '')
        return (await show.inForm(who, tool, openForm)) ? { text: '', buttons: [] } : show.ofTool(who, tool);
      if (field === undefined) {
        const { text, buttons } = await show.ofTool(who, tool);
        return { text: `${say`This tool has no setting of that name.`}\n\n${text}`, buttons };
      }
      return typed === '' ? show.ofField(who, tool, field) : take(message, tool, field, typed);
    },
    async takeValue(message) {
      const entry = await entries.meant(message);
      if (entry === 'again') return true;
      if (entry === undefined) return answersAsking(message) ? late(message) : false;
      const { tool, field } = show.find(entry.tool, entry.key);
      if (tool === undefined || field === undefined || !(await mayChange(message.sender.id))) return false;
      const { text, buttons, taken } = await take(message, tool, field, message.text);
      await replies.answer(message, text, { buttons });
      await entries.took(message, taken);
      return true;
    },
  };

  async function late(message: Message): Promise<boolean> {
    if (!(await mayChange(message.sender.id))) return false;
    const removed = await removeSecret(message);
    const say = sayIn(message.sender.language);
    const late = say`This form has expired. Open the settings again.`;
    await replies.answer(message, `${late} ${say(removed)}`.trimEnd());
    return true;
  }
}

function whoOf({ conversation, chatType, sender }: Message): Who {
  return { conversation, chatType, sender: sender.id, language: sender.language };
}

/** Which view a button of settings opens. */
function opens(button: Button): SettingAction['view'] | undefined {
  return 'action' in button ? readAction(button.action)?.does.view : undefined;
}

/**
 * Deletes a person's message that holds a secret, where the platform lets the bot do that, and says in a sentence what came of
 * it; undefined if there is no such message (a slash command, a terminal).
 */
type RemoveSecret = (message: Pick<Message, 'conversation' | 'platformId'>) => Promise<Fixed>;

function createRemoveSecret(options: {
  channels: ReadonlyMap<string, Pick<Channel, 'remove'>>;
  log: Log;
}): RemoveSecret {
  const { channels, log } = options;

  return async ({ conversation, platformId }) => {
    if (platformId === undefined) return '';
    try {
      await channels.get(conversation.channel)?.remove(conversation, { id: platformId });
      return fixed`Your message was deleted here.`;
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      log.info({ err: error }, 'a message with a secret could not be deleted');
      return fixed`I can’t delete messages here. Please delete yours: it contains a secret.`;
    }
  };
}
