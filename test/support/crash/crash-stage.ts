import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startMessagesServer, type MessagesServer } from '../../servers/messages/messages-server.ts';
import { startSlackServer, type SlackServer } from '../../servers/slack/start-slack-server.ts';
import { startTelegramServer, type TelegramServer } from '../../servers/telegram/start-telegram-server.ts';
import { knowPeople } from '../known-people.ts';
import { startBotProcess, type BotProcess, type Preload } from './bot-process.ts';
import { crashModel, type CrashModel } from './crash-model.ts';

/** Platforms and model that outlive every process of the bot, and the folder it works in. */
export type CrashStage = Readonly<{
  telegram: TelegramServer;
  slack: SlackServer;
  messages: MessagesServer;
  model: CrashModel;
  folder: string;
  /** `[store] url`, relative paths by `folder`. */
  storeUrl: string;
  /** Another process on the same store and platforms. Each `number` has a config and a data directory of its own (Q9). */
  start(options?: Readonly<{ number?: number; preload?: Preload; cli?: string }>): BotProcess;
  /** Kills what still runs, closes the servers, removes the folder. */
  close(): Promise<void>;
}>;

export type CrashStageOptions = Readonly<{
  /** `[store] url`; without one an SQLite file in the stage's folder. */
  storeUrl?: string;
  channels?: readonly ('telegram' | 'slack')[];
  /** More of config.toml. */
  toml?: string;
  telegramToml?: string;
  /** More of `[bot]`. */
  botToml?: string;
  /** More of `[models.default]`. */
  modelToml?: string;
  /** The bot never met anybody before, so it says its first words to each person (U19). */
  strangers?: true;
  script?: CrashModel['script'];
  modelDelayMs?: number;
}>;

const ledger = `---
name: ledger
description: Marks something in the ledger of its run.
---
Mark what you are given with scripts/mark.sh.
`;
const markScript = '#!/bin/bash\necho "$1" >> ledger\ncat ledger\n';

export async function openCrashStage(options: CrashStageOptions = {}): Promise<CrashStage> {
  const {
    channels = ['telegram', 'slack'],
    toml = '',
    telegramToml = 'paced = false',
    modelToml = '',
    botToml = '',
  } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-crash-'));
  const { storeUrl = `sqlite:${folder}/data/skillet.db` } = options;
  const model = crashModel(options.modelDelayMs === undefined ? {} : { delayMs: options.modelDelayMs });
  const telegram = await startTelegramServer({ privacy: false, flood: false, patienceMs: 3_600_000 });
  // Slack gives up after three retries; here it goes on, so that every message arrives however long nobody takes it.
  const slack = await startSlackServer({
    ackTimeoutMs: 3_000,
    retryDelaysMs: Array.from({ length: 20_000 }, () => 150),
  });
  const messages = await startMessagesServer({ script: options.script ?? model.script });
  const skill = path.join(folder, 'workspace', 'skills', 'ledger', 'scripts');
  await mkdir(skill, { recursive: true });
  await writeFile(path.join(skill, '..', 'SKILL.md'), ledger);
  await writeFile(path.join(skill, 'mark.sh'), markScript, { mode: 0o755 });
  const configOf = (dataDir: string): string =>
    [
      `[bot]\ndata_dir = "./${dataDir}"\n${botToml}`,
      `[store]\nurl = "${storeUrl}"`,
      ...(channels.includes('telegram')
        ? [`[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\n${telegramToml}`]
        : []),
      ...(channels.includes('slack')
        ? [
            `[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${slack.url}"`,
          ]
        : []),
      `[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n${modelToml}`,
      '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]',
      '[skills]\nbundled = false',
      '[log]\nlevel = "info"\nformat = "json"',
      toml,
    ].join('\n');
  const dataDirs = ['data', 'data-1', 'data-2', 'data-3'];
  for (const [number, dataDir] of dataDirs.entries()) {
    await writeFile(path.join(folder, `config-${number}.toml`), configOf(dataDir), { mode: 0o600 });
  }
  if (options.strangers !== true) await knowPeople(storeUrl);
  const started: BotProcess[] = [];

  return {
    telegram,
    slack,
    messages,
    model,
    folder,
    storeUrl,
    start({ number = 0, preload, cli } = {}) {
      const bot = startBotProcess({
        folder,
        cli,
        config: path.join(folder, `config-${number}.toml`),
        ...(preload === undefined ? {} : { preload: forStore(preload, storeUrl) }),
      });
      started.push(bot);
      return bot;
    },
    async close() {
      model.release();
      await Promise.all(started.filter((bot) => !bot.ended()).map((bot) => bot.kill()));
      await Promise.all([telegram.close(), slack.close(), messages.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function forStore(preload: Preload, storeUrl: string): Preload {
  return storeUrl.startsWith('postgres')
    ? { ...preload, env: { ...preload.env, SKILLET_KILL_PG: '1' } }
    : preload;
}
