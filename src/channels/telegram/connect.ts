import type { UserFromGetMe } from 'grammy/types';
import type { Clock } from '../../lib/clock.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import { createTroubleLog } from '../trouble-log.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramFault } from './telegram-fault.ts';

const firstPauseMs = 1000;
const longestPauseMs = 30_000;

type Waiting = Readonly<{ clock: Clock; log: Log; signal: AbortSignal }>;

/** Asks Telegram who the bot is, for as long as Telegram can't be reached. Rejects with OperatorError for a bad token, with the signal's reason when it is aborted. */
export async function connect(api: TelegramApi, waiting: Waiting): Promise<UserFromGetMe> {
  try {
    const me = await untilReached(() => api.getMe(), waiting);
    if (!me.can_read_all_group_messages) warnOfPrivacy(me, waiting.log);
    return me;
  } catch (error) {
    const isTokenBad = error instanceof TelegramFault && (error.code === 401 || error.code === 404);
    throw isTokenBad ? badToken(error) : error;
  }
}

/** Repeats a call that may be repeated until Telegram says yes or no to it. */
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

/** 409: another process sets the webhook at this moment. */
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
