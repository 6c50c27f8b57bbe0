import { mkdirSync } from 'node:fs';
import { createModels } from '../agent/create-models.ts';
import type { Config } from '../config/complete-config.ts';
import { watchConfig } from '../config/watch-config.ts';
import type { AccessSettings } from '../core/access-settings.ts';
import type { Channel } from '../core/channel.ts';
import { systemClock } from '../core/clock.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Log } from '../core/log.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import { openStore } from '../stores/open-store.ts';
import type { Store } from '../stores/store.ts';
import { controlPath, serveControl, type Control, type Operate } from './control.ts';
import { createBot, type Bot } from './create-bot.ts';
import type { ChannelNeeds } from './open-channels.ts';
import { openHealth } from './open-health.ts';
import { openLibrary } from './open-library.ts';
import type { HealthServer } from './serve-health.ts';

export type OpenBot = Bot &
  Readonly<{
    /** Stops the bot and closes all that was opened for it. */
    close(): Promise<void>;
  }>;

/** Opens everything a bot needs and puts it together; nothing runs before `start`. */
export async function openBot(options: {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  channels(needs: ChannelNeeds): Promise<readonly Channel[]>;
  changeAccess?: (access: AccessSettings) => AccessSettings;
  mostTries?: number;
  onSetAside?: (key: string) => void;
  /** Address for health and metrics (L4). */
  listen?: string;
  log: Log;
}): Promise<OpenBot> {
  const { config, env, changeAccess, mostTries, onSetAside, listen, log } = options;
  const clock = systemClock;
  mkdirSync(config.bot.dataDir, { recursive: true, mode: 0o700 });
  const store = await openStore(config.store.url, { log, clock });
  const health = await openHealth({ ...(listen === undefined ? {} : { listen }), store, clock, log });
  const sandbox = openSandbox(config.sandbox.mode, config.sandbox);
  const library = await openLibrary(config, log);
  const channels = await options.channels({
    hasAnswered: (conversation) => store.transcripts.answered(conversationKey(conversation)),
    skillNames: () => library.current().names,
    isAtWork: async (conversation) => (await store.inbox.waitingIn(conversationKey(conversation))).length > 0,
    lead: store.lead,
    ...(isShared(config) ? { reserve: sharedLimits(store, log) } : {}),
    log,
    clock,
  });
  const bot = createBot({
    config,
    store: health.store,
    library,
    sandbox,
    channels: channels.map(health.watchChannel),
    makeModels: ({ models }) => createModels(models, { log, clock, measure: health.measureModel }),
    ...(changeAccess === undefined ? {} : { changeAccess }),
    ...(mostTries === undefined ? {} : { mostTries }),
    ...(onSetAside === undefined ? {} : { onSetAside }),
    health: health.ofStore,
    meter: health.meter,
    clock,
    log,
  });
  const control = await openControl(config, bot.operate, log);
  const watch = watchConfig(config, { env, onChange: bot.reconfigure });
  // While the bot only waits, for a retry or to stop, nothing else keeps the process alive.
  const alive = setInterval(() => undefined, 60_000);
  let server: HealthServer | undefined;
  const close = async (): Promise<void> => {
    watch.stop();
    await Promise.all([control?.close(), bot.stop()]);
    await server?.close();
    await library.close();
    await sandbox.close();
    await store.close();
    clearInterval(alive);
  };
  return {
    ...bot,
    async start() {
      try {
        server = await health.serve(bot.redact);
        await bot.start();
      } catch (error) {
        // What is open would keep the process alive that cannot do its work.
        await close();
        throw error;
      }
    },
    close,
  };
}

/** Without its socket the bot works; only the commands that ask a running bot do not. */
async function openControl(config: Config, operate: Operate, log: Log): Promise<Control | undefined> {
  const path = controlPath(config.bot.dataDir);
  try {
    return await serveControl({ path, operate, log });
  } catch (error) {
    log.warn(
      { err: error, path },
      'the control socket cannot be opened (its path may be too long): `pair` and `inbox` work only while the bot is stopped',
    );
    return undefined;
  }
}

/** Whether other processes may work on the same store (Q9). */
function isShared({ store }: Config): boolean {
  return !store.url.startsWith('sqlite:');
}

/** Where the store can't tell, each process keeps the limits by itself (H8). */
function sharedLimits({ reserve }: Pick<Store, 'reserve'>, log: Log): Store['reserve'] {
  return async (limits) => {
    try {
      return await reserve(limits);
    } catch (error) {
      log.warn({ err: error }, 'limits could not be shared with the other processes');
      return 0;
    }
  };
}
