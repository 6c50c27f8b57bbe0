import type { App } from '../../app.ts';
import type { Button } from '../../core/channel.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import type { Requester } from '../../core/tool.ts';
import type { SettingField } from '../../core/setting-field.ts';
import { whatToEnter } from '../../core/tool-settings.ts';
import { codeBlock, inlineCode } from '../../lib/text/text.ts';
import { beyondGroup, directMessage } from '../../replies/private-parts.ts';
import type { InputForm } from './input-form.ts';

type ShownForm = Readonly<{ id: string; server: string; tool: string; form: InputForm }>;

const mostButtons = 6;

/** Makes the function that shows a server's question to the person alone, once for each id (X9, U16). */
export function createShowForm({ store, replies }: App) {
  return async (shown: ShownForm, requester: Requester, at: number): Promise<void> => {
    const { conversation, chatType, sender, language, replyTo } = requester;
    const say = sayIn(language);
    const key = `input:${shown.id}`;
    const isPrivate = chatType === 'private';
    const buttons = buttonsOf(shown, say);
    const place = isPrivate ? conversation : directMessage(sender);
    const rows = await replies.rows(
      place,
      key,
      formText(shown, say),
      isPrivate ? { buttons, replyTo } : { buttons },
    );
    const of = { person: sender, key, group: conversation, at, language };
    await store.commit({ outbox: isPrivate ? rows : beyondGroup(rows, of) });
  };
}

function formText({ id, server, tool, form }: ShownForm, say: Say): string {
  const { message, fields } = form;
  return [
    say`The MCP server ${inlineCode(server)} asks you something before it continues with ${inlineCode(tool)}. These are its words:`,
    codeBlock(message),
    ...fields.map((field) => fieldText(field, say)),
    say`Answer within 30 minutes. What you write goes to that server, so write no secrets. Reply:`,
    codeBlock(exampleOf(id, fields, say)),
    say`To refuse, reply ${inlineCode(`${say`no`} ${id}`)}.`,
  ].join('\n\n');
}

function fieldText(field: SettingField, say: Say): string {
  const { key, title, description, required, default: preset } = field;
  const notes = [
    title === key ? '' : title,
    description ?? '',
    whatToEnter(field, say),
    required ? '' : say`optional`,
    preset === undefined ? '' : say`if left out: ${inlineCode(String(preset))}`,
  ];
  return `- ${inlineCode(key)}: ${notes.filter((note) => note !== '').join('; ')}`;
}

/** What to reply, with three dots for what the person fills in. */
function exampleOf(id: string, fields: readonly SettingField[], say: Say): string {
  const [only, ...more] = fields;
  if (only === undefined) return `${say`yes`} ${id}`;
  return more.length === 0 ? `${id} …` : [id, ...fields.map(({ key }) => `${key}: …`)].join('\n');
}

function buttonsOf({ id, form: { fields } }: ShownForm, say: Say): readonly Button[] {
  const [only, ...more] = fields;
  const choices = only?.kind === 'select' && more.length === 0 ? only.options : [];
  const shown = choices.length <= mostButtons ? choices : [];
  return [
    ...shown.map(({ label }, at) => ({ label, action: `input:${id}:${at}` })),
    { label: say`Do not answer`, action: `input:${id}:no` },
  ];
}
