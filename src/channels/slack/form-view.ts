import { z } from 'zod';
import type { Filled } from '../../core/channel.ts';
import type { Form, FormField } from '../../core/form.ts';
import type { SlackBlock } from './buttons.ts';
import { viewSubmission, type ViewSubmission } from './payloads.ts';
import { slackName } from './plain-text.ts';
import type { SlackIdentity } from './slack-options.ts';
import { senderKind } from './to-message.ts';

/** Marks a form as one of ours. */
export const formCallback = 'skillet:form';
const actionId = 'skillet:value';
/** A modal accepts 100 blocks, of which one is the text. */
const mostFields = 99;

/** Writes a form as a modal (X3). What is too long is cut, so that the form opens. */
export function toFormView({ title, text, action, conversation, fields, words }: Form): SlackBlock {
  return {
    type: 'modal',
    callback_id: formCallback,
    private_metadata: JSON.stringify([action, conversation.chat, conversation.thread ?? '']),
    title: plain(title, 24),
    submit: plain(words.save, 24),
    close: plain(words.cancel, 24),
    blocks: [
      { type: 'section', text: plain(text, 3000) },
      ...fields.slice(0, mostFields).map((one) => ({
        type: 'input',
        block_id: one.field.key,
        label: plain(one.field.title, 2000),
        hint: plain(one.hint, 2000),
        // An empty field means that the setting is not set.
        optional: true,
        element: { action_id: actionId, ...elementOf(one, words) },
      })),
    ],
  };
}

export function toFilled(payload: unknown, me: SlackIdentity): Filled | undefined {
  const sent = viewSubmission.safeParse(payload);
  if (!sent.success || sent.data.view.callback_id !== formCallback) return undefined;
  const { user, view, trigger_id: trigger } = sent.data;
  const place = metadata.safeParse(view.private_metadata);
  if (!place.success) return undefined;
  const [action, chat, thread] = place.data;
  const kind = senderKind(user.team_id, true, me);
  return {
    id: `slack:${me.team}:form:${trigger}`,
    conversation: { channel: 'slack', chat, thread: thread === '' ? undefined : thread },
    chatType: 'unknown',
    external: kind === 'guest',
    sender: { id: `slack:${user.id}`, name: slackName(user.name, user.username) ?? user.id, kind },
    action,
    values: valuesOf(view.state.values),
  };
}

function valuesOf(state: ViewSubmission['view']['state']['values']): Filled['values'] {
  const values: Record<string, string | readonly string[]> = {};
  for (const [key, actions] of Object.entries(state)) {
    const entered = actions[actionId];
    if (entered === undefined) continue;
    const { value, selected_option: one, selected_options: several } = entered;
    const text = one?.value ?? value;
    if (several) values[key] = several.flatMap((chosen) => chosen?.value ?? []);
    else if (text) values[key] = text;
  }
  return values;
}

const metadata = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'no JSON' });
      return z.NEVER;
    }
  })
  .pipe(z.tuple([z.string(), z.string().min(1), z.string()]));

function elementOf({ field, value }: FormField, words: Form['words']): SlackBlock {
  const { kind, placeholder, whole, min, max } = field;
  const example = placeholder === undefined ? {} : { placeholder: plain(placeholder, 150) };
  switch (kind) {
    case 'boolean': {
      const options = [option('true', words.on), option('false', words.off)];
      const initial = options.find((one) => one['value'] === String(value));
      return {
        type: 'static_select',
        options,
        initial_option: initial,
      };
    }
    case 'select': {
      const options = optionsOf(field);
      const initial = options.find((one) => one['value'] === value);
      return {
        type: 'static_select',
        options,
        initial_option: initial,
      };
    }
    case 'multiselect': {
      const options = optionsOf(field);
      const initial = options.filter((one) => Array.isArray(value) && value.includes(one['value']));
      return {
        type: 'multi_static_select',
        options,
        initial_options: initial.length === 0 ? undefined : initial,
      };
    }
    case 'number':
      return {
        type: 'number_input',
        is_decimal_allowed: whole !== true,
        min_value: min === undefined ? undefined : String(min),
        max_value: max === undefined ? undefined : String(max),
        initial_value: value === undefined ? undefined : String(value),
        ...example,
      };
    case 'url':
      return { type: 'url_text_input', ...textOf(value), ...example };
    case 'string':
    case 'secret':
    case 'path':
    case 'text':
    case 'code':
      return {
        type: 'plain_text_input',
        multiline: kind === 'text' || kind === 'code',
        max_length: max === undefined ? undefined : Math.max(1, max),
        ...textOf(value),
        ...example,
      };
  }
}

function textOf(value: FormField['value']): SlackBlock {
  return typeof value === 'string' && value !== '' ? { initial_value: value } : {};
}

function optionsOf({ options }: FormField['field']): readonly SlackBlock[] {
  return options.slice(0, 100).map(({ value, label }) => option(value, label));
}

function option(value: string, label: string): SlackBlock {
  return { text: plain(label, 75), value };
}

function plain(text: string, most: number): SlackBlock {
  const points = [...text];
  const cut = points.length <= most ? text : `${points.slice(0, most - 1).join('')}…`;
  return { type: 'plain_text', text: cut === '' ? '-' : cut };
}
