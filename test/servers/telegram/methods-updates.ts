import type { Clock } from '../../../src/lib/clock.ts';
import { badRequest, conflict } from './bot-api-error.ts';
import { flag, integer, list, string } from './check-arguments.ts';
import type { WebhookDelivery } from './deliver-webhook.ts';
import type { Arguments } from './read-call.ts';
import type { UpdateQueue } from './update-queue.ts';

export type UpdateMethods = Readonly<{
  methods: Readonly<Record<string, (args: Arguments, gone: AbortSignal) => unknown>>;
  /** An update arrived. */
  wake(): void;
  stop(): void;
}>;

type Poll = { end: (outcome: Error | 'arrived' | 'gone') => void };

/** The platform slows down whoever asks again with the same offset within that time. */
const hurryMs = 3000;
const greatHurryMs = 500;

/** How updates come to the bot: long polling (one poller at a time) or a webhook, never both. */
export function createUpdateMethods(options: {
  queue: UpdateQueue;
  webhook: WebhookDelivery;
  clock: Clock;
}): UpdateMethods {
  const { queue, webhook, clock } = options;
  const last = { offset: NaN, at: -Infinity, conflictAt: -Infinity };
  let pending: Poll | undefined;

  async function getUpdates(args: Arguments, gone: AbortSignal): Promise<unknown> {
    if (webhook.current() !== undefined) {
      throw conflict(
        "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    }
    const offset = integer(args, 'offset') ?? 0;
    const timeoutMs = clamp(integer(args, 'timeout') ?? 0, 0, 50) * 1000;
    const asked = clamp(integer(args, 'limit') ?? 100, 1, 100);
    pending?.end(
      conflict('terminated by other getUpdates request; make sure that only one bot instance is running'),
    );
    allow(args);
    const sinceSame = offset === last.offset ? clock.now() - last.at : Infinity;
    const limit = sinceSame < greatHurryMs ? 1 : asked;
    Object.assign(last, { offset, at: clock.now() });
    if (sinceSame < hurryMs && timeoutMs < hurryMs) await wait(hurryMs, gone);
    if (queue.take(offset, limit).length === 0 && timeoutMs > 0) await wait(timeoutMs, gone, true);
    return queue.take(offset, limit).map(({ body }) => body);
  }

  /** Until the time is over, the caller went away, or (if asked for) an update arrives. Another poller makes it reject. */
  async function wait(ms: number, gone: AbortSignal, untilArrival = false): Promise<void> {
    const timer = new AbortController();
    const over = new Promise<Error | 'arrived' | 'gone'>((resolve) => {
      const poll: Poll = {
        end: (outcome) => {
          if (outcome === 'arrived' && !untilArrival) return;
          if (pending === poll) pending = undefined;
          timer.abort();
          resolve(outcome);
        },
      };
      pending = poll;
      gone.addEventListener('abort', () => poll.end('gone'), { once: true });
      if (gone.aborted) poll.end('gone');
      clock.sleep(ms, timer.signal).then(
        () => poll.end('gone'),
        () => undefined,
      );
    });
    const outcome = await over;
    if (!(outcome instanceof Error)) return;
    // Only the first of a row of conflicts is told at once.
    const sinceConflict = clock.now() - last.conflictAt;
    last.conflictAt = clock.now();
    if (sinceConflict < hurryMs && !gone.aborted) await clock.sleep(hurryMs);
    throw outcome;
  }

  function allow(args: Arguments): void {
    const kinds = list(args, 'allowed_updates');
    if (kinds !== undefined) queue.allow(kinds.map(String));
  }

  return {
    methods: {
      getupdates: getUpdates,
      setwebhook(args) {
        const url = string(args, 'url');
        const secret = string(args, 'secret_token');
        if (!/^[A-Za-z0-9_-]{0,256}$/.test(secret)) {
          throw badRequest('secret token contains unallowed characters');
        }
        pending?.end(conflict('terminated by setWebhook request'));
        allow(args);
        if (flag(args, 'drop_pending_updates')) queue.clear();
        webhook.set(url === '' ? undefined : { url, secret });
        return true;
      },
      deletewebhook(args) {
        if (flag(args, 'drop_pending_updates')) queue.clear();
        webhook.set(undefined);
        return true;
      },
      getwebhookinfo() {
        const error = webhook.lastError();
        return {
          url: webhook.current()?.url ?? '',
          has_custom_certificate: false,
          pending_update_count: queue.waiting().length,
          ...(error === undefined ? {} : { last_error_date: error.date, last_error_message: error.message }),
          ...(queue.allowed().length === 0 ? {} : { allowed_updates: queue.allowed() }),
        };
      },
    },
    wake: () => pending?.end('arrived'),
    stop: () => pending?.end('gone'),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
