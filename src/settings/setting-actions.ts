import { createHash } from 'node:crypto';
import type { Act } from '../core/channel.ts';
import { fixed, type Fixed } from '../core/texts/say.ts';
import { chatIdOf, type Conversation } from '../core/conversation.ts';

/** What a button under a menu of settings does. Tool, key and option are named by `nameOf`, which a restart does not change. */
export type SettingAction =
  | Readonly<{ view: 'tools'; page: number }>
  | Readonly<{ view: 'tool'; tool: string; page: number }>
  | Readonly<{ view: 'field'; tool: string; field: string; page: number }>
  /** Chooses, or of several switches one on or off. */
  | Readonly<{ view: 'choose'; tool: string; field: string; option: string; page: number }>
  | Readonly<{ view: 'up' | 'down' | 'reset'; tool: string; field: string }>
  | Readonly<{ view: 'done' }>;

/** First part of every such action. */
export const settingPrefix = 'set';

/** A short name for a tool, key or option: an action has room for 64 bytes, and a tool's own name may have as many. */
export function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** Whose menu it is: of this person in this chat. It gives no right: that is judged at each press. */
export function menuOf(conversation: Conversation, sender: string): string {
  return nameOf(JSON.stringify([chatIdOf(conversation), sender]));
}

/** What is told who may not change settings. */
export const mayNotChange = fixed`Only an owner or an approver can change settings.`;

/** What is told who acts on a menu that another person opened, or that was opened in another chat; undefined if it is their own. */
export function othersMenu(
  menu: string | undefined,
  { conversation, sender }: Pick<Act, 'conversation' | 'sender'>,
): Fixed | undefined {
  return menu === menuOf(conversation, sender.id)
    ? undefined
    : fixed`Somebody else opened this. Open the settings yourself to change them.`;
}

/** At most 44 bytes. */
export function writeAction(menu: string, action: SettingAction): string {
  const parts: readonly (string | number)[] = (() => {
    switch (action.view) {
      case 'tools':
        return ['m', action.page];
      case 'tool':
        return ['t', action.tool, action.page];
      case 'field':
        return ['f', action.tool, action.field, action.page];
      case 'choose':
        return ['c', action.tool, action.field, action.option, action.page];
      case 'up':
      case 'down':
      case 'reset':
        return [action.view[0] ?? '', action.tool, action.field];
      case 'done':
        return ['x'];
    }
  })();
  return [settingPrefix, menu, ...parts].join(':');
}

/** What a pressed button says; undefined if it is no such action. Anybody may have written it. */
export function readAction(action: string): Readonly<{ menu: string; does: SettingAction }> | undefined {
  const [prefix, menu, kind, ...rest] = action.split(':');
  if (prefix !== settingPrefix || menu === undefined) return undefined;
  const does = actionOf(kind ?? '', rest);
  return does === undefined ? undefined : { menu, does };
}

function actionOf(kind: string, rest: readonly string[]): SettingAction | undefined {
  const page = Math.max(0, Math.min(1_000, Number.parseInt(rest.at(-1) ?? '', 10) || 0));
  const [tool = '', field = '', option = ''] = rest;
  switch (kind) {
    case 'm':
      return { view: 'tools', page };
    case 't':
      return { view: 'tool', tool, page };
    case 'f':
      return { view: 'field', tool, field, page };
    case 'c':
      return { view: 'choose', tool, field, option, page };
    case 'u':
      return { view: 'up', tool, field };
    case 'd':
      return { view: 'down', tool, field };
    case 'r':
      return { view: 'reset', tool, field };
    case 'x':
      return { view: 'done' };
    default:
      return undefined;
  }
}
