import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import path from 'node:path';
import { openBot } from '../../src/bot/open-bot.ts';
import { openChannels } from '../../src/bot/open-channels.ts';
import { readConfigFile } from '../../src/config/load-config.ts';
import { knowPeople } from './known-people.ts';
import { childEnv } from './child-env.ts';
import { cliPath } from './cli-path.ts';
import type { CliHome } from './run-cli.ts';
import { quietLog } from './quiet-log.ts';
import { startTelegramServer, type TelegramServer } from '../servers/telegram/start-telegram-server.ts';

/** `skillet start` as a process of its own, connected to a Telegram server. */
export type RunningBot = Readonly<{
  telegram: TelegramServer;
  process: ChildProcess;
  /** Tells it to end and waits until it has; gives its exit code. */
  end(): Promise<unknown>;
}>;

/** Starts the bot in this home, `toml` being the rest of its config, `flags` for Node, `env` besides a child's; resolves when it is ready. */
export async function startRunningBot(
  t: TestContext,
  home: CliHome,
  toml = '',
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningBot> {
  const { telegram, before } = await serveTelegram(t, home, toml);
  const bot = spawn(process.execPath, [...flags, cliPath, 'start'], {
    cwd: home.folder,
    env: { ...childEnv(home.folder), ...env },
    stdio: 'ignore',
  });
  before(() => bot.kill('SIGKILL'));
  await telegram.until('the menus', () => telegram.calls('setMyCommands').length > 1);
  return {
    telegram,
    process: bot,
    async end() {
      const ended = once(bot, 'exit');
      bot.kill('SIGTERM');
      return (await ended)[0] as unknown;
    },
  };
}

/** The same bot in the process of the tests, which starts sooner: for commands, which are in another one. */
export async function openRunningBot(
  t: TestContext,
  home: CliHome,
  toml = '',
): Promise<Readonly<{ telegram: TelegramServer; end(): Promise<void> }>> {
  const { telegram, before } = await serveTelegram(t, home, toml);
  const file = path.join(home.folder, 'config.toml');
  const parsed = await readConfigFile({ file, env: {}, cwd: home.folder, home: home.folder });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { config } = parsed;
  const bot = await openBot({
    config,
    env: {},
    channels: (needs) => openChannels(config, needs),
    ...(config.server.listen === undefined ? {} : { listen: config.server.listen }),
    log: quietLog(),
  });
  let closed: Promise<void> | undefined;
  const end = (): Promise<void> => (closed ??= bot.close());
  before(end);
  await bot.start();
  return { telegram, end };
}

/** What is to be done `before` it closes is done when the test has ended, too. */
async function serveTelegram(t: TestContext, home: CliHome, toml: string) {
  const telegram = await startTelegramServer();
  const ends: (() => unknown)[] = [];
  t.after(async () => {
    for (const end of ends) await end();
    await telegram.close();
  });
  await home.write(
    'config.toml',
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n${toml}`,
  );
  await knowPeople(`sqlite:${home.folder}/data/skillet.db`);
  return { telegram, before: (end: () => unknown): void => void ends.push(end) };
}
