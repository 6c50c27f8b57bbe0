import type { Conversation } from './conversation.ts';
import type { SettingField, SettingValue } from './setting-field.ts';

export type Form = Readonly<{
  title: string;
  text: string;
  /** Comes back with the filled form: at most 200 bytes, ASCII only. */
  action: string;
  conversation: Conversation;
  fields: readonly FormField[];
  /** Labels of buttons and choices, in the language of the person who opens the form (H14). */
  words: Readonly<Record<'save' | 'cancel' | 'on' | 'off', string>>;
}>;

/** One field of a form. `value` is never that of a secret. */
export type FormField = Readonly<{ field: SettingField; value?: SettingValue; hint: string }>;

/** Opens a form for the person whose action allows it. Rejects if it is too late. */
export type OpenForm = (form: Form) => Promise<void>;
