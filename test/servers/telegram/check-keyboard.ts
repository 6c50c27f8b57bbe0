import type { InlineKeyboardMarkup } from 'grammy/types';
import { badRequest } from './bot-api-error.ts';

/** Bytes. */
const longestAction = 64;
const mostButtons = 100;

/** An inline keyboard that the platform would take: one purpose a button, actions of 1 to 64 bytes, real links. */
export function checkKeyboard(markup: unknown): InlineKeyboardMarkup | undefined {
  if (markup === undefined) return undefined;
  const rows = (markup as Partial<InlineKeyboardMarkup>).inline_keyboard;
  if (!Array.isArray(rows)) throw badRequest('field "inline_keyboard" must be of type Array');
  if (rows.flat().length > mostButtons) throw badRequest('reply markup is too long');
  for (const row of rows) {
    if (!Array.isArray(row)) throw badRequest('expected an Array of Array of InlineKeyboardButton');
    for (const button of row) checkButton({ ...button });
  }
  // Rows without buttons vanish.
  const inline_keyboard = rows.filter((row) => row.length > 0);
  return inline_keyboard.length === 0 ? undefined : { inline_keyboard };
}

function checkButton(button: Readonly<Record<string, unknown>>): void {
  const { text, callback_data: data, url, ...rest } = button;
  if (typeof text !== 'string' || text === '')
    throw badRequest('can\'t parse inline keyboard button: Field "text" must be of type String');
  const stray = Object.keys(rest)[0];
  if (stray !== undefined) throw badRequest(`unknown field "${stray}" in inline keyboard button`);
  if (data === undefined && url === undefined) {
    throw badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  }
  if (url !== undefined) {
    if (typeof url !== 'string' || !/^(https?|tg):\/\/\S+$/.test(url)) {
      throw badRequest(`inline keyboard button URL '${JSON.stringify(url)}' is invalid: Wrong HTTP URL`);
    }
    return;
  }
  const bytes = typeof data === 'string' ? Buffer.byteLength(data) : 0;
  if (bytes === 0 || bytes > longestAction) throw badRequest('BUTTON_DATA_INVALID');
}
