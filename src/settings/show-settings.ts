import type { WriteCommand, OpenForm, Press } from '../core/channel.ts';
import type { Message } from '../core/message.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import { fixed, inEveryLanguage, sayIn, type Say } from '../core/texts/say.ts';
import type { Tool } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import { inlineCode } from '../lib/text/text.ts';
import { placeOf, type Who, type ChangeSetting } from './change-setting.ts';
import {
  menuOf,
  nameOf,
  mayNotChange,
  othersMenu,
  readAction,
  type SettingAction,
} from './setting-actions.ts';
import type { SettingEntries } from './setting-entries.ts';
import {
  fieldView,
  toolsView,
  toolView,
  sayProblem,
  optionsOf,
  stepped,
  valueOf,
  type SettingView,
  type Reader,
  type WriteHere,
} from './setting-views.ts';
import { settingsForm, type HoldsSecret } from './settings-form.ts';
import type { SettingsInForce } from './settings-in-force.ts';

/** Settings as they stand before a person: each view with what is in force in their chat (X3). */
export type ShowSettings = Readonly<{
  /** A tool and a field of it by name, or by the short name that buttons carry. */
  find(tool: string, field?: string): Readonly<{ tool?: Tool; field?: SettingField }>;
  overview(who: Who, page?: number): SettingView;
  ofTool(who: Who, tool: Tool, page?: number): Promise<SettingView>;
  /** Where a value has to be written, it is waited for from here on. */
  ofField(who: Who, tool: Tool, field: SettingField, page?: number): Promise<SettingView>;
  /** Whether a form of this tool stands before the person: where it can't be shown there are still buttons and text. */
  inForm(who: Who, tool: Tool, openForm: OpenForm | undefined): Promise<boolean>;
}>;

export function createShowSettings(options: {
  tools(): readonly Tool[];
  inForce: Pick<SettingsInForce, 'of'>;
  entries: Pick<SettingEntries, 'begin'>;
  holdsSecret: HoldsSecret;
  writeCommand: WriteCommand;
  log: Log;
}): ShowSettings {
  const { tools, inForce, entries, holdsSecret, writeCommand, log } = options;
  const writeIn =
    ({ conversation }: Who): WriteHere =>
    (name, args) =>
      writeCommand(conversation, name, args);

  const readerOf = ({ conversation, sender, language }: Who): Reader => ({
    menu: menuOf(conversation, sender),
    say: sayIn(language),
  });

  return {
    find(tool, field = '') {
      const found = tools().find(({ name }) => name === tool || nameOf(name) === tool);
      const of = found?.settings?.fields.find(({ key }) => key === field || nameOf(key) === field);
      return { tool: found, field: of };
    },
    overview: (who, page = 0) => toolsView(tools(), readerOf(who), writeIn(who), page),
    async ofTool(who, tool, page = 0) {
      const layered = await inForce.of(who.conversation, tool);
      return toolView(tool, layered, readerOf(who), writeIn(who), page);
    },
    async ofField(who, tool, field, page = 0) {
      const types = !['boolean', 'select', 'multiselect'].includes(field.kind);
      if (types) await entries.begin(who, { tool: tool.name, key: field.key, secret: field.secret });
      const layered = await inForce.of(who.conversation, tool);
      const typing = types ? { typing: askFor(field, who.chatType, sayIn(who.language)) } : {};
      return fieldView(tool, field, layered, readerOf(who), { page, ...typing });
    },
    async inForm(who, tool, openForm) {
      if (openForm === undefined) return false;
      try {
        const layered = await inForce.of(who.conversation, tool);
        await openForm(
          settingsForm(tool, layered, { ...readerOf(who), conversation: who.conversation, holdsSecret }),
        );
        return true;
      } catch (error) {
        log.warn({ err: error, tool: tool.name }, 'a form of settings could not be shown');
        return false;
      }
    },
  };
}

function askFor({ secret, placeholder }: SettingField, chatType: Message['chatType'], say: Say): string {
  const of = askings[chatType === 'private' ? 'private' : 'group'];
  const asked = placeholder === undefined ? say(of.plain) : say(of.example, inlineCode(placeholder));
  const hidden = say`The model never sees it, and I delete your message if I can.`;
  return secret ? `${asked} ${hidden}` : asked;
}

/** What a value is asked for by. */
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

/** Whether a message answers one that asked for a value, in whatever language: it is a value, whenever it comes. */
export function answersAsking({ replyTo }: Message): boolean {
  if (replyTo?.own !== true) return false;
  const lines = replyTo.text.split('\n');
  return Object.values(askings)
    .flatMap(({ plain, example }) => [plain, example])
    .flatMap(inEveryLanguage)
    .some((sentence) => {
      const [begin = ''] = sentence.split('{0}');
      return lines.some((line) => line.startsWith(begin.trim()));
    });
}

/** What becomes of the message whose button was pressed, or why nothing does; undefined if a form was opened instead. */
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
    const say = sayIn(who.language);
    if (does.view === 'tools') return show.overview(who, does.page);
    if (does.view === 'done') return { text: say`Settings closed.`, buttons: [] };
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
    if (problem === undefined) return view;
    const why = say`Not changed: ${sayProblem(field, problem, say)}.`;
    return { ...view, text: `${view.text}\n\n${why}` };
  }

  return async (pressed, openForm) => {
    const { conversation, chatType, sender } = pressed;
    const who = { conversation, chatType, sender: sender.id, language: sender.language };
    const read = readAction(pressed.action);
    const refused = (await mayChange(sender.id)) ? othersMenu(read?.menu, pressed) : mayNotChange;
    if (refused !== undefined || read === undefined) {
      log.warn({ sender: sender.id }, 'somebody pressed a button of settings that is not theirs');
      return refused === undefined ? undefined : { refused: sayIn(sender.language)(refused) };
    }
    await entries.end(who);
    const { does } = read;
    const { tool } = does.view === 'tool' ? show.find(does.tool) : {};
    if (tool !== undefined && (await show.inForm(who, tool, openForm))) return undefined;
    return act(who, does);
  };
}

/** What a press makes of a value; undefined if it means none any more. */
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
