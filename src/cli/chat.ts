import { Readable } from 'node:stream';
import { openBot, type OpenBot } from '../app/open-bot.ts';
import { builtIns } from '../app/resolve-command.ts';
import { createTerminal } from '../channels/terminal/create-terminal.ts';
import type { AccessSettings } from '../core/access-settings.ts';
import { chatTypes, conversationKey } from '../core/conversation.ts';
import { OperatorError } from '../core/errors.ts';
import { logOf } from './log-of.ts';
import type { ChatOptions } from './options.ts';
import { openConfig } from './open-config.ts';
import { print } from './print.ts';

/** Who types, unless `--user` says otherwise: the owner (A9). */
const ownName = 'owner';

/** `chat`: the same bot through the same gate, inbox and agent, with this terminal as its only channel (H5). */
export async function chat({ config: flag, once, as: wanted, user = ownName }: ChatOptions): Promise<void> {
  const as = chatTypes.find((type) => type === wanted);
  if (as === undefined) throw new OperatorError(`--as is "${wanted}": write ${chatTypes.join(', ')}.`);
  const config = await openConfig(flag);
  const log = logOf(config, config.log.level === 'info' ? 'warn' : config.log.level);
  // Opened with the bot and needed by the terminal before: both are there before anything is typed.
  const opened: { bot?: OpenBot } = {};
  const terminals: ReturnType<typeof createTerminal>[] = [];
  const bot = await openBot({
    config,
    env: process.env,
    changeAccess: terminalAccess,
    channels: async ({ skillNames, log: channelLog, clock }) => {
      const terminal = createTerminal({
        input: once === undefined ? process.stdin : Readable.from([once]),
        output: process.stdout,
        colour: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
        user,
        as,
        completions: () => [...builtIns, ...skillNames()],
        whole: once !== undefined,
        onInterrupt: () => opened.bot?.cancel(conversationKey(terminal.conversation)),
        idle: async () => opened.bot?.idle(),
        clock,
        log: channelLog,
      });
      terminals.push(terminal);
      return [terminal];
    },
    log,
  });
  opened.bot = bot;
  if (once === undefined && process.stdin.isTTY) {
    print(`${config.bot.name} · you are terminal:${user} in a ${as} chat · /help, /skills · /exit leaves`);
  }
  await bot.start();
  await terminals[0]?.closed;
  await bot.close();
}

/** The terminal's owner owns the bot, and the rooms it pretends to be in are allowed ones. */
function terminalAccess(access: AccessSettings): AccessSettings {
  const rooms = { ...access.channels.get('terminal'), groupsMode: 'open' } as const;
  return {
    ...access,
    owners: [...access.owners, `terminal:${ownName}`],
    channels: new Map([...access.channels, ['terminal', rooms]]),
  };
}
