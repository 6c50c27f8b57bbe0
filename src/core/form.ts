import type { Act } from './act.ts';
import type { Conversation } from './conversation.ts';
import type { SettingField, SettingValue } from './setting-field.ts';

/** Fields that one person fills in at once, where the platform has such a thing. */
export type Form = Readonly<{
  title: string;
  /** Said above the fields: plain text. */
  text: string;
  /** Comes back with what was filled in: at most 200 bytes of ASCII. */
  action: string;
  /** Where it belongs. */
  conversation: Conversation;
  fields: readonly FormField[];
}>;

/** `value` is never that of a secret. */
export type FormField = Readonly<{ field: SettingField; value?: SettingValue; hint: string }>;

/** Shows a form to the person whose act brought it along. Rejects where it can't be shown (any more). */
export type OpenForm = (form: Form) => Promise<void>;

/** A form that somebody sent. */
export type Filled = Act &
  Readonly<{
    /** By key: what was typed or chosen; absent where a field was left empty. */
    values: Readonly<Record<string, string | readonly string[]>>;
  }>;
