import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { childEnv } from './child-env.ts';
import { cliPath, type CliHome } from './run-cli.ts';
import { startTelegramServer, type TelegramServer } from './telegram-server/start-telegram-server.ts';

/** `skillet start` as a process of its own, connected to a Telegram server. */
export type RunningBot = Readonly<{
  telegram: TelegramServer;
  process: ChildProcess;
  /** Tells it to end and waits until it has; gives its exit code. */
  end(): Promise<unknown>;
}>;

/** Starts the bot in this home, `toml` being the rest of its config; resolves when it is ready. */
export async function startRunningBot(t: TestContext, home: CliHome, toml = ''): Promise<RunningBot> {
  const telegram = await startTelegramServer();
  t.after(() => telegram.close());
  await home.write(
    'config.toml',
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n${toml}`,
  );
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: home.folder,
    env: childEnv(home.folder),
    stdio: 'ignore',
  });
  t.after(() => bot.kill('SIGKILL'));
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
