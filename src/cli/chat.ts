import { Readable } from 'node:stream';
import { openBot, type OpenBot } from '../app/open-bot.ts';
import { builtIns } from '../app/resolve-command.ts';
import { createTerminal } from '../channels/terminal/create-terminal.ts';
import type { AccessSettings } from '../core/access-settings.ts';
import { conversationKey } from '../core/conversation.ts';
import type { ChatOptions } from './options.ts';
import { openConfig } from './open-config.ts';
import { openLog } from './open-log.ts';
import { print } from './print.ts';

/** Who types, unless `--user` says otherwise: the owner (A9). */
const ownName = 'owner';

/** `chat`: the same bot through the same gate, inbox and agent, with this terminal as its only channel (H5). */
export async function chat({ config: flag, once, as, user = ownName }: ChatOptions): Promise<void> {
  const config = await openConfig(flag);
  const { log, redactBy } = openLog(config, config.log.level === 'info' ? 'warn' : config.log.level);
  // Whoever waits for the end of a command is told at once when no answer comes.
  const patient = once === undefined && process.stdin.isTTY;
  const given: string[] = [];
  // Opened with the bot and needed by the terminal before: both are there before anything is typed.
  const opened: { bot?: OpenBot } = {};
  const terminals: ReturnType<typeof createTerminal>[] = [];
  const bot = await openBot({
    config,
    env: process.env,
    changeAccess: terminalAccess,
    ...(patient ? {} : { mostTries: 1 }),
    onSetAside: (key) => given.push(key),
    channels: async ({ skillNames, log: channelLog, clock }) => {
      const terminal = createTerminal({
        input: once === undefined ? process.stdin : Readable.from([once]),
        output: process.stdout,
        colour: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
        user,
        as,
        completions: () => [...builtIns, ...skillNames()],
        whole: once !== undefined,
        onInterrupt: () => void opened.bot?.cancel(conversationKey(terminal.conversation)),
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
  redactBy(bot.redact);
  if (once === undefined && process.stdin.isTTY) {
    print(`${config.bot.name} · you are terminal:${user} in a ${as} chat · /help, /skills · /exit leaves`);
  }
  await bot.start();
  await terminals[0]?.closed;
  if (!patient && given.length > 0) {
    // The person knows; nobody needs to see to it later.
    for (const key of given) await bot.operate('inbox drop', key);
    process.exitCode = 1;
  }
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
