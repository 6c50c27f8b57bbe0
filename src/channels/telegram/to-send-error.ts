import { SendError } from '../../core/errors.ts';
import { TelegramFault } from './telegram-fault.ts';

/** What the outbox may do about a failed send or edit (Q6, H8): Telegram's answers told apart. */
export function toSendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  if (!(error instanceof TelegramFault)) {
    return new SendError('unknown', 'the send failed in an unforeseen way', { cause: error });
  }
  const { kind, code, message, movedTo, retryAfterMs } = error;
  const outcome = kind === 'answered' ? outcomeOf(error) : kind === 'not_sent' ? 'retry' : 'unknown';
  const advice = kind === 'answered' ? adviceOn(code, error.description) : '';
  return new SendError(outcome, `${message}${advice}`, {
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(movedTo === undefined ? {} : { movedTo }),
  });
}

function outcomeOf({ code, movedTo }: TelegramFault): SendError['outcome'] {
  if (movedTo !== undefined || code === 429) return 'retry';
  // A wrong token can be mended; what waits is sent then.
  if (code === 401 || code === 404) return 'retry';
  return code >= 500 ? 'unknown' : 'refused';
}

function adviceOn(code: number, description: string): string {
  if (code === 401)
    return ' (the token is not valid any more: put a new one from @BotFather into the config)';
  if (/blocked by the user/.test(description)) return ' (the person blocked the bot)';
  if (/kicked|not a member/.test(description)) return ' (add the bot to that chat again)';
  if (/not enough rights|CHAT_WRITE_FORBIDDEN/.test(description)) return ' (let the bot write in that chat)';
  if (/thread not found/.test(description)) return ' (the topic was deleted)';
  if (/TOPIC_CLOSED/.test(description)) return ' (the topic is closed)';
  return '';
}
