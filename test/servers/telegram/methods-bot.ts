import { badRequest } from './bot-api-error.ts';
import { list, string } from './check-arguments.ts';
import type { Arguments } from './read-call.ts';
import type { World } from './world.ts';

type Method = (args: Arguments) => unknown;

const scopes = [
  'default',
  'all_private_chats',
  'all_group_chats',
  'all_chat_administrators',
  'chat',
  'chat_administrators',
  'chat_member',
];
const mostCommands = 100;
/** A press can be answered for that long. */
const pressMs = 15_000;

/** Methods about the bot itself: who it is, its menus, presses of its buttons. */
export function botMethods(world: World): Readonly<Record<string, Method>> {
  return {
    getme: () => world.me,
    setmycommands(args) {
      const commands = list(args, 'commands');
      if (commands === undefined) throw badRequest('commands must be non-empty');
      if (commands.length > mostCommands) throw badRequest('BOT_COMMANDS_TOO_MUCH');
      for (const command of commands) checkCommand(command as Arguments);
      world.commands.set(scopeOf(args), commands);
      world.changed();
      return true;
    },
    getmycommands: (args) => world.commands.get(scopeOf(args)) ?? [],
    deletemycommands(args) {
      world.commands.delete(scopeOf(args));
      return true;
    },
    answercallbackquery(args) {
      const press = world.presses.get(string(args, 'callback_query_id'));
      if (press === undefined || press.answered || world.clock.now() - press.at > pressMs) {
        throw badRequest('query is too old and response timeout expired or query ID is invalid');
      }
      const text = string(args, 'text');
      if (text.length > 200) throw badRequest('MESSAGE_TOO_LONG');
      press.answered = true;
      press.text = text || undefined;
      world.changed();
      return true;
    },
  };
}

function checkCommand(command: Arguments): void {
  const stray = Object.keys(command).find((key) => !['command', 'description', 'is_ephemeral'].includes(key));
  if (stray !== undefined) throw badRequest(`unknown field "${stray}" in a command`);
  const name = string(command, 'command').replace(/^\//, '');
  const description = string(command, 'description').trim();
  if (!/^[a-z0-9_]{1,32}$/.test(name)) throw badRequest('BOT_COMMAND_INVALID');
  if (description === '' || [...description].length > 256)
    throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
}

function scopeOf(args: Arguments): string {
  const scope = (args['scope'] ?? { type: 'default' }) as Arguments;
  const type = string(scope, 'type');
  if (!scopes.includes(type)) throw badRequest('unsupported BotCommandScope specified');
  const where = [string(scope, 'chat_id'), string(scope, 'user_id')];
  return [type, ...where, string(args, 'language_code')].filter((part) => part !== '').join(' ');
}
