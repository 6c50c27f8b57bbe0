import { badRequest, BotApiError } from './bot-api-error.ts';
import type { Arguments } from './read-call.ts';

/** Arguments of the methods that the server knows; nested objects one level deep. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  getme: [],
  getupdates: ['offset', 'limit', 'timeout', 'allowed_updates'],
  setwebhook: ['url', 'max_connections', 'allowed_updates', 'drop_pending_updates', 'secret_token'],
  deletewebhook: ['drop_pending_updates'],
  getwebhookinfo: [],
  sendmessage: [
    'chat_id',
    'message_thread_id',
    'text',
    'parse_mode',
    'link_preview_options',
    'disable_notification',
    'reply_parameters',
    'reply_markup',
    'ephemeral_message_parameters',
  ],
  sendmessagedraft: [
    'chat_id',
    'message_thread_id',
    'draft_id',
    'text',
    'parse_mode',
    'can_stop',
    'keep_on_stop',
  ],
  senddocument: [
    'chat_id',
    'message_thread_id',
    'document',
    'caption',
    'parse_mode',
    'disable_content_type_detection',
    'disable_notification',
    'reply_parameters',
    'reply_markup',
    'ephemeral_message_parameters',
  ],
  sendvoice: [
    'chat_id',
    'message_thread_id',
    'voice',
    'caption',
    'parse_mode',
    'duration',
    'disable_notification',
    'reply_parameters',
    'reply_markup',
    'ephemeral_message_parameters',
  ],
  sendmediagroup: ['chat_id', 'message_thread_id', 'media', 'disable_notification', 'reply_parameters'],
  sendphoto: [
    'chat_id',
    'message_thread_id',
    'photo',
    'caption',
    'parse_mode',
    'show_caption_above_media',
    'disable_notification',
    'reply_parameters',
    'reply_markup',
    'ephemeral_message_parameters',
  ],
  editmessagetext: ['chat_id', 'message_id', 'text', 'parse_mode', 'link_preview_options', 'reply_markup'],
  editmessagereplymarkup: ['chat_id', 'message_id', 'reply_markup'],
  editephemeralmessagetext: [
    'chat_id',
    'receiver_user_id',
    'ephemeral_message_id',
    'text',
    'parse_mode',
    'link_preview_options',
    'reply_markup',
  ],
  editephemeralmessagereplymarkup: ['chat_id', 'receiver_user_id', 'ephemeral_message_id', 'reply_markup'],
  deleteephemeralmessage: ['chat_id', 'receiver_user_id', 'ephemeral_message_id'],
  deletemessage: ['chat_id', 'message_id'],
  sendchataction: ['chat_id', 'message_thread_id', 'action'],
  setmessagereaction: ['chat_id', 'message_id', 'reaction', 'is_big'],
  setmycommands: ['commands', 'scope', 'language_code'],
  getmycommands: ['scope', 'language_code'],
  deletemycommands: ['scope', 'language_code'],
  answercallbackquery: ['callback_query_id', 'text', 'show_alert', 'url', 'cache_time'],
  getchat: ['chat_id'],
  getchatmember: ['chat_id', 'user_id'],
  getfile: ['file_id'],
};

const nested: Readonly<Record<string, readonly string[]>> = {
  link_preview_options: ['is_disabled', 'url', 'prefer_small_media', 'prefer_large_media', 'show_above_text'],
  reply_parameters: [
    'message_id',
    'ephemeral_message_id',
    'chat_id',
    'allow_sending_without_reply',
    'quote',
    'quote_parse_mode',
  ],
  ephemeral_message_parameters: ['receiver_user_id', 'callback_query_id', 'replace_callback_query_message'],
  reply_markup: ['inline_keyboard'],
  scope: ['type', 'chat_id', 'user_id'],
};

/**
 * Refuses unknown methods as the platform does, and unknown arguments, which the platform would pass over in silence:
 * a test should hear of a misspelt one.
 */
export function checkArguments(method: string, args: Arguments): void {
  const known = parameters[method];
  if (known === undefined) throw new BotApiError(404, 'Not Found: method not found');
  for (const [name, value] of Object.entries(args)) {
    if (!known.includes(name)) throw badRequest(`unknown parameter "${name}" of ${method}`);
    const inside = nested[name];
    if (inside === undefined || value === undefined) continue;
    if (typeof value !== 'object' || value === null) throw badRequest(`object expected as ${name}`);
    const stray = Object.keys(value).find((key) => !inside.includes(key));
    if (stray !== undefined) throw badRequest(`unknown field "${stray}" in ${name} of ${method}`);
  }
}

/** A whole number, also as text, as every scalar may come. Nothing when it is absent; refused when it is no number. */
export function integer(args: Arguments, name: string): number | undefined {
  const value = args[name];
  if (value === undefined || value === '') return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) {
    throw badRequest(`invalid ${name} specified`);
  }
  return number;
}

export function flag(args: Arguments, name: string): boolean {
  const value = args[name];
  return value === true || value === 'true' || value === 1 || value === '1';
}

/** Text; absent is empty. */
export function string(args: Arguments, name: string): string {
  const value = args[name];
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') throw badRequest(`field "${name}" must be of type String`);
  return value;
}

export function list(args: Arguments, name: string): readonly unknown[] | undefined {
  const value = args[name];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw badRequest(`expected an Array of ${name}`);
  return value as readonly unknown[];
}
