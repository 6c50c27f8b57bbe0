import type { BotCommand, LanguageCode } from 'grammy/types';
import { TelegramFault, type TelegramApi } from './telegram-api.ts';
import type { MenuEntry, Menus } from '../../core/menus.ts';
import type { Diagnostic } from '../../core/codes.ts';

const mostEntries = 100;

const longestName = 32;

const longestDescription = 256;

const scopes = { private: 'all_private_chats', group: 'all_group_chats' } as const;

/** Makes the function that sets the menus. It returns a note for each entry that is not shown (I1). */
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
        language_code: language === undefined ? undefined : (language as LanguageCode),
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
      const { commands, diagnostics } = toMenu(menus[room], room);
      found.push(...diagnostics, ...(await set(scopes[room], commands, language)));
    }
    return [...new Map(found.map((diagnostic) => [diagnostic.message, diagnostic])).values()];
  };
}

/** Names of all commands in the menus, both with `-` and with `_`. */
export function namesOf(menus: Menus): ReadonlySet<string> {
  const entries: readonly MenuEntry[] = [...menus.private, ...menus.group];
  const names = entries.map(({ name }) => name.toLowerCase());
  return new Set(names.flatMap((name) => [name, name.replaceAll('-', '_')]));
}

/**
 * Writes a menu of at most 100 entries, each on one line of 256 characters (I1). Telegram refuses the whole menu for
 * one bad entry.
 */
export function toMenu(
  entries: readonly MenuEntry[],
  room: keyof Menus,
): Readonly<{ commands: readonly BotCommand[]; diagnostics: readonly Diagnostic[] }> {
  const commands = new Map<string, BotCommand>();
  const owners = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  const leaveOut = (code: string, name: string, why: string): void => {
    diagnostics.push({ level: 'warning', code, message: `/${name} is not in Telegram's menu: ${why}` });
  };
  for (const entry of entries) {
    const command = entry.name.toLowerCase().replaceAll('-', '_');
    const owner = owners.get(command);
    if (!/^[a-z0-9_]+$/.test(command)) {
      leaveOut(
        'MENU_NAME_UNUSABLE',
        entry.name,
        'menus allow a-z, 0-9, - and _ only; typed out it works, as does /skill',
      );
    } else if (command.length > longestName) {
      leaveOut(
        'MENU_NAME_UNUSABLE',
        entry.name,
        `menus allow ${longestName} characters; typed out it works, as does /skill`,
      );
    } else if (owner !== undefined) {
      leaveOut(
        'MENU_NAME_TAKEN',
        entry.name,
        `there it would read /${command}, which is ${owner}; rename one`,
      );
    } else if (commands.size === mostEntries) {
      leaveOut(
        'MENU_FULL',
        entry.name,
        `it holds ${mostEntries} entries; typed out it works, as does /skill`,
      );
    } else {
      owners.set(command, entry.name);
      const alone = entry.alone === true && room === 'group' ? { is_ephemeral: true } : {};
      commands.set(command, { command, description: describe(entry), ...alone });
    }
  }
  return { commands: [...commands.values()], diagnostics };
}

function describe({ name, description, hint }: MenuEntry): string {
  const tail = hint === undefined ? '' : ` · ${flat(hint).slice(0, 100)}`;
  const head = flat(description) || name;
  const room = longestDescription - tail.length;
  return (head.length <= room ? head : `${whole(head.slice(0, room - 1))}…`) + tail;
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The text without half a surrogate pair at its end. */
function whole(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

/** Writes a command with `_` for `-`, as Telegram links it. Code is copied by a tap. */
export function writeTelegramCommand(name: string, args = ''): string {
  const tappable = name.toLowerCase().replaceAll('-', '_');
  const isLink = /^[a-z0-9_]{1,32}$/.test(tappable);
  if (args === '' && isLink) return `/${tappable}`;
  return isLink ? `\`/${tappable} ${args}\`` : `\`${`/skill ${name} ${args}`.trim()}\``;
}
