import type { Visit, Home } from '../../core/channel.ts';
import type { Log } from '../../lib/log.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import { slackErrorCode, toSendError, type CallSlack } from './slack-error.ts';
import { toHomeView } from './home-tab.ts';
import { userOf } from './slack-options.ts';

const everybody = 'views.publish';
const mostTries = 5;

/** Shows the Home tab of a person. Only the newest version is published, and nothing waits for it. */
export function createShowHome(
  call: CallSlack,
  pace: RateLimiter,
  log: Log,
): (of: Visit, home: Home, hash?: string) => void {
  const newest = new Map<string, Home>();

  async function publish(user: string, home: Home, view: object, hash: string | undefined): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      await pace.wait(everybody);
      if (newest.get(user) !== home) return;
      try {
        await call('views.publish', { user_id: user, view, hash });
        return;
      } catch (error) {
        const { retryAfterMs } = toSendError(error, 'a Home tab');
        if (retryAfterMs === undefined || tries === mostTries) throw error;
        pace.pause(everybody, retryAfterMs);
      }
    }
  }

  return ({ conversation, sender }, home, hash) => {
    const user = userOf(sender.id);
    newest.set(user, home);
    publish(user, home, toHomeView(home, conversation.chat), hash)
      .catch((error: unknown) => {
        const code = slackErrorCode(error);
        const level = code === 'hash_conflict' ? 'debug' : 'warn';
        log[level]({ err: code === undefined ? error : undefined, code }, 'the Home tab could not be shown');
      })
      .finally(() => {
        if (newest.get(user) === home) newest.delete(user);
      });
  };
}
