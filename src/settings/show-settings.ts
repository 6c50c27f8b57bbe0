import type { WriteCommand } from '../core/channel.ts';
import type { SettingField } from '../core/setting-field.ts';
import type { OpenForm } from '../core/form.ts';
import type { Log } from '../lib/log.ts';
import type { Message } from '../core/message.ts';
import type { Tool } from '../core/tool.ts';
import type { Who } from './change-setting.ts';
import { menuOf, nameOf } from './setting-actions.ts';
import type { SettingEntries } from './setting-entries.ts';
import { settingsForm, type HoldsSecret } from './settings-form.ts';
import { fieldView, toolsView, toolView, type SettingView, type WriteHere } from './setting-views.ts';
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

  return {
    find(tool, field = '') {
      const found = tools().find(({ name }) => name === tool || nameOf(name) === tool);
      const of = found?.settings?.fields.find(({ key }) => key === field || nameOf(key) === field);
      return { ...(found === undefined ? {} : { tool: found }), ...(of === undefined ? {} : { field: of }) };
    },
    overview: (who, page = 0) => toolsView(tools(), menuOf(who.conversation, who.sender), writeIn(who), page),
    async ofTool(who, tool, page = 0) {
      const layered = await inForce.of(who.conversation, tool);
      return toolView(tool, layered, menuOf(who.conversation, who.sender), writeIn(who), page);
    },
    async ofField(who, tool, field, page = 0) {
      const { conversation, sender } = who;
      const types = !['boolean', 'select', 'multiselect'].includes(field.kind);
      if (types) await entries.begin(who, { tool: tool.name, key: field.key, secret: field.secret });
      const layered = await inForce.of(conversation, tool);
      const typing = types ? { typing: askFor(field, who.chatType) } : {};
      return fieldView(tool, field, layered, menuOf(conversation, sender), { page, ...typing });
    },
    async inForm(who, tool, openForm) {
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
    },
  };
}

function askFor({ secret, placeholder, kind }: SettingField, chatType: Message['chatType']): string {
  const how = chatType === 'private' ? 'as your next message' : 'as a reply to this message';
  const example = placeholder === undefined ? '' : `, such as \`${placeholder.replaceAll('`', '')}\``;
  const hidden = secret ? ' It is kept from the model, and your message is deleted where I can do that.' : '';
  return `${asked} the ${kind === 'number' ? 'number' : 'value'} ${how}${example}, within 10 minutes.${hidden}`;
}

/** What a value is asked for by: an answer to such a message is a value, whenever it comes. */
const asked = 'Or write';

/** Whether a message answers one that asked for a value. */
export function answersAsking({ replyTo }: Message): boolean {
  return replyTo?.own === true && /^Or write the (number|value) as /m.test(replyTo.text);
}
