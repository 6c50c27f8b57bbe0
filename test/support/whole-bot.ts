import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openBot, type OpenBot } from '../../src/bot/open-bot.ts';
import { openChannels } from '../../src/bot/open-channels.ts';
import { readConfigFile } from '../../src/config/load-config.ts';
import type { SandboxReach } from '../../src/sandbox/open-sandbox.ts';
import type { Loose } from '../servers/chat/chat-chunks.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import { startMessagesServer, type MessagesServer } from '../servers/messages/messages-server.ts';
import { knowPeople } from './known-people.ts';
import { quietLog } from './quiet-log.ts';
import { startSlackServer, type SlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer, type TelegramServer } from '../servers/telegram/start-telegram-server.ts';

/** The whole bot, as `skillet start` opens it, on test servers and in a folder of its own. */
export type WholeBot = Readonly<{
  telegram: TelegramServer;
  slack: SlackServer;
  messages: MessagesServer;
  bot: OpenBot;
  log: ReturnType<typeof quietLog>;
  /** Folder of config, data and workspace. */
  home: string;
  /** Writes the config file anew; its channels and model stay. */
  reconfigure(toml: string): Promise<void>;
  /** Writes a skill into the workspace. */
  skill(name: string, text: string): Promise<void>;
  /** Ends this bot and starts another on the same folder. */
  restart(): Promise<WholeBot>;
}>;

type Script = Parameters<typeof startMessagesServer>[0]['script'];

export type WholeBotOptions = Readonly<{
  /** More of config.toml, beside channels and model. */
  toml?: string;
  /** More of its table [telegram]. */
  telegram?: string;
  /** More of its table [slack]. */
  slack?: string;
  /** What the model answers; without it no model is configured and the offline model answers. */
  script?: Script;
  /** The API of the model's server; default: what SKILLET_TEST_API names, else the Messages API. */
  api?: 'anthropic' | 'openai';
  /** In what the model's server differs from OpenAI's; for `api: 'openai'`. */
  loose?: Loose;
  /** Front matter and body by name. */
  skills?: Readonly<Record<string, string>>;
  channels?: readonly ('telegram' | 'slack')[];
  /** Failed tries after which a message is set aside. */
  mostTries?: number;
  /** Telegram's privacy mode is on. */
  privacy?: boolean;
  /** Scopes of Slack's bot token; all by default. */
  scopes?: readonly string[];
  /** False: Telegram takes any number of messages at once. */
  flood?: boolean;
  /** The bot never met anybody before, so it says its first words to each person (U19). */
  strangers?: true;
  /** Where hosts lead that skills may reach. */
  reach?: SandboxReach;
  /** Its environment; empty by default. */
  env?: Readonly<Record<string, string>>;
  /** `auto` for commands that are to run as on a server; otherwise they run in memory, and nothing is tried at the start. `toml` may say its own. */
  sandbox?: 'auto';
}>;

export async function startWholeBot(
  t: Readonly<{ after(end: () => Promise<void>): void }>,
  options: WholeBotOptions = {},
): Promise<WholeBot> {
  const { toml = '', script, skills = {}, channels = ['telegram'] } = options;
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-whole-'));
  const telegram = await startTelegramServer({
    privacy: options.privacy ?? false,
    flood: options.flood ?? true,
  });
  const slack = await startSlackServer(options.scopes === undefined ? {} : { scopes: options.scopes });
  const { api = process.env['SKILLET_TEST_API'] ?? 'anthropic' } = options;
  const isChat = api === 'openai';
  const messages = isChat
    ? await startChatServer({ script: script ?? [], loose: options.loose ?? {} })
    : await startMessagesServer({ script: script ?? [] });
  const file = path.join(home, 'config.toml');
  const bots: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const close of bots) await close();
    await Promise.all([telegram.close(), slack.close(), messages.close()]);
    await rm(home, { recursive: true, force: true });
  });

  const reconfigure = (more: string): Promise<void> =>
    writeFile(
      file,
      [
        ...(channels.includes('telegram')
          ? [
              `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n${options.telegram ?? ''}`,
            ]
          : []),
        ...(channels.includes('slack')
          ? [
              `[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${slack.url}"\n${options.slack ?? ''}`,
            ]
          : []),
        ...(script === undefined
          ? []
          : [
              `[models.default]\nmodel = "claude-sonnet-5-5"\napi = "${api}"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"`,
            ]),
        more,
        ...(options.sandbox === 'auto' || more.includes('[sandbox]') ? [] : ['[sandbox]\nmode = "virtual"']),
      ].join('\n'),
      { mode: 0o600 },
    );
  const skill = async (name: string, text: string): Promise<void> => {
    const folder = path.join(home, 'workspace', 'skills', name);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'SKILL.md'), text);
  };
  await reconfigure(toml);
  for (const [name, text] of Object.entries(skills)) await skill(name, text);

  const begin = async (): Promise<WholeBot> => {
    const parsed = await readConfigFile({ file, env: {} });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const { config } = parsed;
    if (bots.length === 0 && options.strangers !== true) await knowPeople(config.store.url);
    const log = quietLog();
    const { mostTries, reach } = options;
    const bot = await openBot({
      config,
      env: options.env ?? {},
      channels: (needs) => openChannels(config, needs),
      ...(mostTries === undefined ? {} : { mostTries }),
      ...(reach === undefined ? {} : { reach }),
      ...(config.server.listen === undefined ? {} : { listen: config.server.listen }),
      log,
    });
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => (closed ??= bot.close());
    bots.push(close);
    await bot.start();
    const restart = async (): Promise<WholeBot> => {
      await close();
      return begin();
    };
    return { telegram, slack, messages, bot, log, home, reconfigure, skill, restart };
  };
  return begin();
}
