import { fixed } from '../../core/texts/say.ts';
import type { Bot } from 'grammy';
import type { ReactionTypeEmoji, UserFromGetMe } from 'grammy/types';
import { createRateLimiter, type RateLimitRule, type Reserve } from '../rate-limiter.ts';
import { albumKind, createTelegramFetchFile, largestTelegramFile } from './files.ts';
import { telegramCaptionFits, splitForTelegram } from './from-markdown.ts';
import { listenToTelegram } from './listen.ts';
import { pollUpdates } from './poll-updates.ts';
import { receiveWebhook } from './receive-webhook.ts';
import { numberOf } from './send-alone.ts';
import { createSendPart } from './send-part.ts';
import { createSetMenus, namesOf, writeTelegramCommand } from './set-menus.ts';
import { createShowStatus } from './show-status.ts';
import {
  createTelegramApi,
  createTelegramBot,
  longestUploadSeconds,
  saidBy,
  TelegramFault,
  type TelegramApi,
} from './telegram-api.ts';
import { isInGroup, wantedKinds } from './to-event.ts';
import { telegramChatType } from './to-message.ts';
import { createTroubleLog } from '../trouble-log.ts';
import type { Channel, OnEvent, Press } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { ThumbsBy } from '../../core/rating.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createMarkdownTask } from '../../lib/markdown/long-markdown.ts';
import { splitPlain } from '../../lib/markdown/split-markdown.ts';

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export type TelegramSettings = Readonly<{
  token: string;
  apiRoot?: string;
  mode: 'polling' | 'webhook';
  /** Telegram posts to `url`; the bot listens on `listen`, behind a reverse proxy. */
  webhook?: Readonly<{ url: string; secret: string; listen: Readonly<{ host: string; port: number }> }>;
  paced: boolean;
  /** The reaction on a message once it is stored; undefined for none. */
  reaction?: ReactionTypeEmoji['emoji'];
  /** How people rate answers, from the config: by reactions unless it says otherwise (U17). */
  feedback?: ThumbsBy | 'off';
}>;

export type TelegramDeps = Readonly<{
  /** Resolves when only this process does `what`. The signal aborts when it no longer does (Q9). */
  lead(what: string, until: AbortSignal): Promise<AbortSignal>;
  /** Set if other processes send in the bot's name, too (H8). */
  reserve?: Reserve;
  log: Log;
  clock: Clock;
}>;

/** Makes the channel. It acknowledges updates itself, so that none is lost (H1, H3, Q1). */
export function createTelegram(settings: TelegramSettings, deps: TelegramDeps): Channel {
  const { log, clock, reserve } = deps;
  const bot = createTelegramBot(settings);
  const api = bot.api.raw;
  const uploads = createTelegramApi({ ...settings, timeoutSeconds: longestUploadSeconds });
  const shared = reserve && { name: 'telegram', reserve };
  const pace = createRateLimiter(settings.paced ? telegramPace : [], clock, shared);
  const parts = createSendPart({ api, uploads, pace, clock, log });
  const split = createMarkdownTask(new URL('./split-worker', import.meta.url), {
    read: splitForTelegram,
    plain: splitPlain,
    log,
  });
  const statuses = createShowStatus({ api, parts, pace, clock, log });
  const setMenus = createSetMenus(api);
  let commands: ReadonlySet<string> | undefined;
  const connection = createConnection(settings, deps, { bot, commands: () => commands });

  return {
    name: 'telegram',
    start: connection.start,
    async stop() {
      await connection.stop();
      await statuses.stop();
    },
    split: (markdown) => split({ markdown }),
    files: { largest: largestTelegramFile, fitsCaption: telegramCaptionFits, album: albumKind },
    tableRows: 30,
    send: parts.send,
    find: async () => undefined,
    edit: parts.edit,
    remove: parts.remove,
    status: statuses.show,
    fetchFile: createTelegramFetchFile({ api, ...settings }),
    async setMenus(menus, language) {
      commands = namesOf(menus);
      return setMenus(menus, language);
    },
    lookUpChat: (conversation) => lookUpChat(conversation, { api, log }),
    async hasMember({ chat }, person) {
      return isInGroup(await api.getChatMember({ chat_id: Number(chat), user_id: numberOf(person) }));
    },
    command: (_, name, args) => writeTelegramCommand(name, args),
    thumbs: 'reactions',
    // Only supergroups have addresses for their messages.
    messageLink({ chat, thread }, id) {
      const room = /^-100(\d+)$/.exec(chat)?.[1];
      return room === undefined
        ? undefined
        : `https://t.me/c/${[room, thread, id].filter(Boolean).join('/')}`;
    },
    directLink: (skill) => connection.directLink(skill),
  };
}

function createConnection(
  settings: TelegramSettings,
  deps: TelegramDeps,
  { bot, commands }: Readonly<{ bot: Bot; commands: () => ReadonlySet<string> | undefined }>,
): Pick<Channel, 'start' | 'stop' | 'directLink'> {
  const { log, clock } = deps;
  const stopping = new AbortController();
  const waiting = { clock, log, signal: stopping.signal };
  const api = bot.api.raw;
  let intake: Intake | undefined;

  return {
    async start(onEvent) {
      webhookOf(settings);
      const me = await connect(api, waiting);
      bot.botInfo = me;
      const { foresee } = listenToTelegram(bot, {
        commands,
        onEvent,
        stored: (message) => react(message, settings.reaction, { api, log }),
        clock,
        pressed: (press, words) => answerPress(press, words, { api, log }),
        log,
      });
      const lead = (until: AbortSignal) => deps.lead(`telegram:${me.id} updates`, until);
      const wanted = wantedKinds(settings.feedback);
      intake = await openIntake(settings, { bot, foresee, lead, wanted, ...waiting });
      if (!me.can_read_all_group_messages) await tellPrivacy(onEvent, log);
      log.info({ bot: me.username, mode: settings.mode }, 'Telegram is connected');
    },
    async stop() {
      stopping.abort();
      await intake?.stop();
    },
    directLink: (skill) => (bot.isInited() ? directLink(bot.botInfo.username, skill) : undefined),
  };
}

type Intake = Readonly<{ stop(): Promise<void> }>;
type Calls = Readonly<{ api: TelegramApi; log: Log }>;

async function openIntake(
  settings: TelegramSettings,
  deps: Parameters<typeof pollUpdates>[0] & Waiting,
): Promise<Intake> {
  const { bot, log } = deps;
  const webhook = webhookOf(settings);
  if (webhook === undefined) return pollUpdates(deps);
  const { url, secret, listen } = webhook;
  const receiver = await receiveWebhook({ bot, listen, path: new URL(url).pathname, secret, log });
  try {
    const webhook = { url, secret_token: secret, allowed_updates: deps.wanted };
    await untilReached(() => bot.api.raw.setWebhook(webhook), deps);
  } catch (error) {
    await receiver.stop();
    throw refusedWebhook(url, error);
  }
  return receiver;
}

/** Answers a press, which ends the spinner of the button. */
function answerPress({ id }: Press, words: string | undefined, { api, log }: Calls): void {
  api.answerCallbackQuery({ callback_query_id: id, text: words?.slice(0, 200) }).catch((error: unknown) => {
    const level = saidBy(error, /query is too old/) ? 'debug' : 'warn';
    log[level]({ err: error }, 'a button press could not be answered');
  });
}

function react(
  { conversation, platformId }: Message,
  emoji: TelegramSettings['reaction'],
  { api, log }: Calls,
): void {
  if (emoji === undefined || platformId === undefined) return;
  const message = { chat_id: Number(conversation.chat), message_id: Number(platformId) };
  api
    .setMessageReaction({ ...message, reaction: [{ type: 'emoji', emoji }] })
    .catch((error: unknown) => log.debug({ err: error }, 'a reaction could not be set'));
}

async function lookUpChat({ chat }: Conversation, { api, log }: Calls): ReturnType<Channel['lookUpChat']> {
  try {
    const found = await api.getChat({ chat_id: Number(chat) });
    const chatType = telegramChatType(found);
    const person = chatType === 'private' ? `telegram:${found.id}` : undefined;
    return { chatType, external: false, name: found.title, person };
  } catch (error) {
    log.warn({ err: error, chat }, 'could not look up the type of a chat');
    return { chatType: 'unknown', external: false };
  }
}

function directLink(username: string, skill: string | undefined): string {
  const payload = `skill_${skill ?? ''}`;
  const start = skill !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(payload) ? `?start=${payload}` : '';
  return `https://t.me/${username}${start}`;
}

async function tellPrivacy(onEvent: OnEvent, log: Log): Promise<void> {
  const key = 'telegram:privacy';
  await onEvent({ type: 'notice', key, markdown: privacyNotice }).catch((error: unknown) =>
    log.warn({ err: error }, 'could not notify the owners of privacy mode'),
  );
}

const privacyNotice = fixed`My privacy mode is on: in groups Telegram gives me commands and replies to me, but not mentions. To change that, send /setprivacy to [BotFather](https://t.me/BotFather) and switch it off, then take me out of my groups and add me again, or make me an administrator there.`;

/** Limits (H8): one message a second and five at once for a chat, twenty a minute for a group, thirty a second in all. */
const telegramPace: readonly RateLimitRule[] = [
  { kind: 'bucket', count: 5, ms: 1000, of: (chat) => chat },
  { kind: 'window', count: 20, ms: 60_000, of: (chat) => (chat.startsWith('-') ? chat : undefined) },
  { kind: 'window', count: 30, ms: 1000, of: () => 'all' },
];

/** The webhook's settings. Without the secret anybody could post updates (H3). */
function webhookOf({ mode, webhook }: TelegramSettings): TelegramSettings['webhook'] {
  if (mode === 'polling') return undefined;
  if (webhook === undefined || !/^[A-Za-z0-9_-]{1,256}$/.test(webhook.secret)) {
    throw new OperatorError(
      'Telegram webhook mode needs a secret of 1 to 256 characters A-Z, a-z, 0-9, _ and -: set [telegram] webhook_secret (for example from `openssl rand -hex 32`), or use mode = "polling".',
    );
  }
  if (!URL.canParse(webhook.url)) {
    throw new OperatorError(`[telegram] webhook_url is no URL: ${webhook.url}`);
  }
  return webhook;
}

function refusedWebhook(url: string, error: unknown): unknown {
  if (!(error instanceof TelegramFault) || error.code !== 400) return error;
  return new OperatorError(
    `Telegram refused the webhook ${url}: ${error.description}. It must be https on port 443, 80, 88 or 8443.`,
    { cause: error },
  );
}

type Waiting = Readonly<{ clock: Clock; log: Log; signal: AbortSignal }>;

/** Connects and returns who the bot is. Throws OperatorError for a bad token. */
async function connect(api: TelegramApi, waiting: Waiting): Promise<UserFromGetMe> {
  try {
    const me = await untilReached(() => api.getMe(), waiting);
    if (!me.can_read_all_group_messages) warnOfPrivacy(me, waiting.log);
    return me;
  } catch (error) {
    const isTokenBad = error instanceof TelegramFault && (error.code === 401 || error.code === 404);
    throw isTokenBad ? badToken(error) : error;
  }
}

export async function untilReached<Result>(
  call: () => Promise<Result>,
  { clock, log, signal }: Waiting,
): Promise<Result> {
  const trouble = createTroubleLog(log);
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof TelegramFault) || isRefusal(error)) throw error;
      trouble.failed(error, { waitMs: pauseMs }, 'Telegram could not be reached; trying again');
      await clock.sleep(Math.max(pauseMs, error.retryAfterMs ?? 0), signal);
    }
  }
}

/** Whether Telegram refused for good. 409 means that another process is setting the webhook. */
function isRefusal({ kind, code }: TelegramFault): boolean {
  return kind === 'answered' && code < 500 && code !== 429 && code !== 409;
}

function badToken(cause: TelegramFault): OperatorError {
  return new OperatorError(
    `Telegram does not know this bot token (${cause.code} ${cause.description}). Copy the token again from @BotFather (/mybots, API Token) into [telegram] token.`,
    { cause },
  );
}

function warnOfPrivacy({ username }: UserFromGetMe, log: Log): void {
  log.warn(
    { bot: username },
    'privacy mode is on: in groups Telegram delivers only commands and replies to the bot, not mentions of it. Switch it off with @BotFather (/setprivacy), then take the bot out of its groups and add it again, or make it an administrator there.',
  );
}
