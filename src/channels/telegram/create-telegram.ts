import { fixed } from '../../core/texts/say.ts';
import type { ReactionTypeEmoji, UserFromGetMe } from 'grammy/types';
import { createRateLimiter, type RateLimitRule, type Reserve } from '../rate-limiter.ts';
import { albumOf, createFetchFile, largestFile } from './files.ts';
import { captionFits, telegramFits } from './from-markdown.ts';
import { pollUpdates } from './poll-updates.ts';
import { receiveWebhook } from './receive-webhook.ts';
import { createSendPart } from './send-part.ts';
import { createSetMenus, namesOf } from './set-menus.ts';
import { createShowStatus } from './show-status.ts';
import { createTakeUpdates } from './take-updates.ts';
import {
  createTelegramApi,
  longestUploadSeconds,
  saidBy,
  TelegramFault,
  type TelegramApi,
} from './telegram-api.ts';
import { wantedUpdates } from './to-event.ts';
import { chatTypeOf } from './to-message.ts';
import { createTroubleLog } from '../trouble-log.ts';
import type { Channel, Menus, OnEvent, Press } from '../../core/channel.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';

const firstPauseMs = 1000;

const longestPauseMs = 30_000;

export type TelegramOptions = Readonly<{
  token: string;
  /** Telegram's own by default. */
  apiRoot?: string;
  mode: 'polling' | 'webhook';
  /** Webhook mode: Telegram posts to `url`, whose path is served at `listen`. */
  webhook?: Readonly<{ url: string; secret: string; listen: Readonly<{ host: string; port: number }> }>;
  paced: boolean;
  /** Put on a message once it is stored. */
  reaction?: ReactionTypeEmoji['emoji'];
  /** Resolves when this process alone does `what`, with a signal that is aborted when it no longer does (Q9). */
  lead(what: string, until: AbortSignal): Promise<AbortSignal>;
  /** Given if other processes send in the bot's name (H8). */
  reserve?: Reserve;
  log: Log;
  clock: Clock;
}>;

/**
 * Telegram as a channel (H1, H3): grammY's API client with our own acknowledgement, so that no update is lost (Q1).
 */
export function createTelegram(options: TelegramOptions): Channel {
  const { log, clock, paced, reaction } = options;
  const api = createTelegramApi(options);
  const shared = options.reserve && { name: 'telegram', reserve: options.reserve };
  const pace = createRateLimiter(paced ? telegramPace : [], clock, shared);
  const uploads = createTelegramApi({ ...options, timeoutSeconds: longestUploadSeconds });
  const parts = createSendPart({ api, uploads, pace });
  const statuses = createShowStatus({ api, parts, pace, clock, log });
  const setMenus = createSetMenus(api);
  const stopping = new AbortController();
  const waiting = { clock, log, signal: stopping.signal };
  let me: UserFromGetMe | undefined;
  let commands: ReadonlySet<string> | undefined;
  let intake: Readonly<{ stop(): Promise<void> }> | undefined;

  /** Ends the button's spinner and shows its presser the words. */
  const answerPress = ({ id }: Press, words?: string): void => {
    const text = words === undefined ? {} : { text: words.slice(0, 200) };
    api.answerCallbackQuery({ callback_query_id: id, ...text }).catch((error: unknown) => {
      const level = saidBy(error, /query is too old/) ? 'debug' : 'warn';
      log[level]({ err: error }, 'a button press could not be answered');
    });
  };

  const react = ({ conversation, platformId }: Message): void => {
    if (reaction === undefined) return;
    const emoji: ReactionTypeEmoji = { type: 'emoji', emoji: reaction };
    api
      .setMessageReaction({
        chat_id: Number(conversation.chat),
        message_id: Number(platformId),
        reaction: [emoji],
      })
      .catch((error: unknown) => log.debug({ err: error }, 'a reaction could not be set'));
  };

  async function tellPrivacy(onEvent: OnEvent): Promise<void> {
    const key = 'telegram:privacy';
    await onEvent({ type: 'notice', key, markdown: privacyNotice }).catch((error: unknown) =>
      log.warn({ err: error }, 'the owners could not be told of privacy mode'),
    );
  }

  async function begin(onEvent: OnEvent, self: UserFromGetMe): Promise<typeof intake> {
    const identity = { id: self.id, username: self.username };
    const current = () => (commands === undefined ? identity : { ...identity, commands });
    const updates = createTakeUpdates({ me: current, onEvent, stored: react, pressed: answerPress, log });
    const webhook = webhookOf(options);
    if (webhook === undefined) {
      const lead = (until: AbortSignal) => options.lead(`telegram:${self.id} updates`, until);
      return pollUpdates({ api, updates, lead, clock, log });
    }
    const { url, secret, listen } = webhook;
    const receiver = await receiveWebhook({ listen, path: new URL(url).pathname, secret, updates, log });
    try {
      const wanted = { url, secret_token: secret, allowed_updates: wantedUpdates };
      await untilReached(() => api.setWebhook(wanted), waiting);
    } catch (error) {
      await receiver.stop();
      throw refusedWebhook(url, error);
    }
    return receiver;
  }

  return {
    name: 'telegram',
    async start(onEvent) {
      webhookOf(options);
      me = await connect(api, waiting);
      intake = await begin(onEvent, me);
      if (!me.can_read_all_group_messages) await tellPrivacy(onEvent);
      log.info({ bot: me.username, mode: options.mode }, 'Telegram is connected');
    },
    async stop() {
      stopping.abort();
      await intake?.stop();
      await statuses.stop();
    },
    split: (markdown) => splitMarkdown(markdown, telegramFits),
    files: { largest: largestFile, fitsCaption: captionFits, album: albumOf },
    tableRows: 30,
    send: parts.send,
    // The Bot API can't search for what it sent.
    find: async () => undefined,
    edit: parts.edit,
    remove: parts.remove,
    status: statuses.show,
    fetchFile: createFetchFile({ api, ...options }),
    async setMenus(menus: Menus, language?: string) {
      commands = namesOf(menus);
      return setMenus(menus, language);
    },
    async lookUpChat({ chat }) {
      try {
        const found = await api.getChat({ chat_id: Number(chat) });
        const name = found.title === undefined ? {} : { name: found.title };
        return { chatType: chatTypeOf(found), external: false, ...name };
      } catch (error) {
        log.warn({ err: error, chat }, 'the type of a chat could not be looked up');
        return { chatType: 'unknown', external: false };
      }
    },
    command: (_, name, args) => writeCommand(name, args),
    directLink(skill) {
      if (me === undefined) return undefined;
      const link = `https://t.me/${me.username}`;
      const payload = `skill_${skill ?? ''}`;
      return skill !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(payload) ? `${link}?start=${payload}` : link;
    },
  };
}

const privacyNotice = fixed`My privacy mode is on: in groups Telegram gives me commands and replies to me, but not mentions. To change that, send /setprivacy to [BotFather](https://t.me/BotFather) and switch it off, then take me out of my groups and add me again, or make me an administrator there.`;

/** H8: one a second a chat with a burst of five, twenty a minute a group, thirty a second overall. */
const telegramPace: readonly RateLimitRule[] = [
  { kind: 'bucket', count: 5, ms: 1000, of: (chat) => chat },
  { kind: 'window', count: 20, ms: 60_000, of: (chat) => (chat.startsWith('-') ? chat : undefined) },
  { kind: 'window', count: 30, ms: 1000, of: () => 'all' },
];

/** Without a secret anybody could post updates (H3). */
function webhookOf({ mode, webhook }: TelegramOptions): TelegramOptions['webhook'] {
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

/**
 * A command as Telegram links it: outside of code, `-` as `_`. One that needs more words is code, which a tap copies.
 */
export function writeCommand(name: string, args = ''): string {
  const tappable = name.toLowerCase().replaceAll('-', '_');
  const isLink = /^[a-z0-9_]{1,32}$/.test(tappable);
  if (args === '' && isLink) return `/${tappable}`;
  return isLink ? `\`/${tappable} ${args}\`` : `\`${`/skill ${name} ${args}`.trim()}\``;
}

type Waiting = Readonly<{ clock: Clock; log: Log; signal: AbortSignal }>;

/** Retries until Telegram can be reached. Rejects with OperatorError for a bad token. */
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

/** 409: another process is setting the webhook. */
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
