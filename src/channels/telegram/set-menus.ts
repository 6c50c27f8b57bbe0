import type { BotCommand, LanguageCode } from 'grammy/types';
import type { MenuEntry, Menus } from '../../core/channel.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramFault } from './telegram-fault.ts';
import { toMenu } from './to-menu.ts';

const scopes = { private: 'all_private_chats', group: 'all_group_chats' } as const;

/** Gives the two menus to Telegram, each only when it changed (I1). Diagnostics tell what is not shown, and a refusal. */
export function createSetMenus(
  api: TelegramApi,
): (menus: Menus, language?: string) => Promise<readonly Diagnostic[]> {
  const given = new Map<string, string>();

  async function set(
    scope: (typeof scopes)[keyof typeof scopes],
    commands: readonly BotCommand[],
    language: string | undefined,
  ): Promise<readonly Diagnostic[]> {
    const wanted = JSON.stringify(commands);
    const of = language === undefined ? scope : `${scope} ${language}`;
    if (given.get(of) === wanted) return [];
    try {
      await api.setMyCommands({
        commands: [...commands],
        scope: { type: scope },
        ...(language === undefined ? {} : { language_code: language as LanguageCode }),
      });
      given.set(of, wanted);
      return [];
    } catch (error) {
      if (!(error instanceof TelegramFault)) throw error;
      const message = `Telegram's menu for ${scope} was not set: ${error.message}`;
      return [{ level: 'error', code: 'MENU_NOT_SET', message }];
    }
  }

  return async (menus, language) => {
    const found: Diagnostic[] = [];
    for (const room of ['private', 'group'] as const) {
      const { commands, diagnostics } = toMenu(menus[room]);
      found.push(...diagnostics, ...(await set(scopes[room], commands, language)));
    }
    return [...new Map(found.map((diagnostic) => [diagnostic.message, diagnostic])).values()];
  };
}

/** Every way to type the names of the menus, in lower case: with `-` and with `_`. */
export function namesOf(menus: Menus): ReadonlySet<string> {
  const entries: readonly MenuEntry[] = [...menus.private, ...menus.group];
  const names = entries.map(({ name }) => name.toLowerCase());
  return new Set(names.flatMap((name) => [name, name.replaceAll('-', '_')]));
}
