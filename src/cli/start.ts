import { giveMemoryBack, memoryHere } from '../operator/health/give-memory-back.ts';
import type { ServiceManager } from '../operator/health/notify-systemd.ts';
import { startWatchdog } from '../operator/health/watchdog.ts';
import { hasChannels, openChannels } from '../bot/open-channels.ts';
import { openBot, type OpenBot } from '../bot/open-bot.ts';
import type { Config } from '../config/complete-config.ts';
import { stopMarginMs } from '../lib/async/shutdown.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { SharedOptions } from './command.ts';
import { openConfig } from './open-config.ts';
import { openLog } from './open-log.ts';
import { outliveReaders, print } from './console.ts';
import { passStartChecks } from '../operator/check-start.ts';
import { skilletHere } from '../core/skillet-here.ts';

/** Runs the bot until a signal. Without a channel it chats in this terminal. */
export async function start({ config: flag }: SharedOptions): Promise<void> {
  const config = await openConfig(flag);
  if (!hasChannels(config)) {
    print(connectText(config));
    const { chat } = await import('./chat.ts');
    return chat({ config: flag, as: 'private' });
  }
  outliveReaders();
  const stopping = new AbortController();
  const ended = stopSignal();
  void ended.then(() => stopping.abort());
  const { log, redactBy } = openLog(config);
  await passStartChecks(config, log);
  const bot = await openBot({
    config,
    env: process.env,
    channels: (needs) => openChannels(config, needs),
    listen: config.server.listen,
    until: stopping.signal,
    log,
  }).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
    log.info({ err: error }, 'stopping: the start was cancelled');
    return undefined;
  });
  if (bot === undefined) return;
  redactBy(bot.redact);
  const manager = await serviceManager(log);
  // This comes before the first turn, because messages that wait are answered before the bot is ready (S15).
  const watchdog = startWatchdog(log);
  const started = bot.start();
  const memory = memoryHere();
  if (memory !== undefined) void giveMemoryBack(memory, { clock: systemClock, signal: stopping.signal });
  // A signal also ends a start that waits for a platform.
  const early = await Promise.race([started, ended]);
  if (early === undefined) {
    log.info({ config: config.path ?? 'defaults' }, 'Skillet is ready');
    await manager?.ready();
    // A store that goes away now has its own notice (Q11).
    await offerOwnership(bot, config, log).catch((error: unknown) =>
      log.warn({ err: error }, 'could not look up whether this bot has an owner'),
    );
  } else {
    started.catch((error: unknown) => {
      const isStop = error instanceof Error && error.name === 'AbortError';
      log.info(isStop ? {} : { err: error }, 'the start was cancelled');
    });
  }
  log.info({ signal: await ended }, 'stopping');
  const late = setTimeout(
    () => {
      log.warn({}, 'the stop takes too long: the rest is interrupted and continues at the next start');
      process.exit(1);
    },
    config.bot.shutdownSeconds * 1_000 + stopMarginMs,
  );
  await Promise.all([manager?.stopping(), bot.close()]);
  clearTimeout(late);
  watchdog.stop();
}

/** Finds systemd. Its code is loaded only if systemd started the bot. */
async function serviceManager(log: Log): Promise<ServiceManager | undefined> {
  if (process.env['NOTIFY_SOCKET'] === undefined) return undefined;
  const { findServiceManager } = await import('../operator/health/notify-systemd.ts');
  return findServiceManager(process.env, log);
}

/** Tells the first owner how to own the bot (A10). Logs have other readers, so they never hold the token. */
async function offerOwnership(
  { users, pairing }: OpenBot,
  { telegram, slack }: Config,
  log: Log,
): Promise<void> {
  if ((await users.owners()).length > 0) return;
  if (!process.stdout.isTTY) {
    log.warn({}, `this bot has no owner yet: run "${skilletHere()} pair claim" to become its owner`);
    return;
  }
  const claim = `start claim_${await pairing.newOwnerToken()}`;
  print(
    'This bot has no owner yet. To become its owner, send it this in a direct message within ten minutes:',
  );
  if (telegram.token !== undefined) print(`  on Telegram  /${claim}`);
  if (slack.botToken !== undefined) print(`  on Slack     ${claim}`);
}

/**
 * Resolves at the first signal; the second one ends the process at once. SIGHUP counts, too: the terminal is gone, or
 * somebody wants a new start (S15).
 */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.once(signal, () => resolve(signal));
  });
}

function connectText({ models }: Config): string {
  const missing = Object.hasOwn(models.aliases, 'default')
    ? 'Slack or Telegram'
    : 'Slack, Telegram or a language model';
  return `No channel is configured, so this is a chat in your terminal. To connect ${missing}:
  ${skilletHere()} init
By hand: see docs/how-to/set-up.md
`;
}
