import type { Clock } from '../../../src/lib/clock.ts';
import { badRequest } from './bot-api-error.ts';
import type { QueuedUpdate, UpdateQueue } from './update-queue.ts';

export type Webhook = Readonly<{ url: string; secret: string }>;

export type WebhookDelivery = Readonly<{
  set(webhook: Webhook | undefined): void;
  current(): Webhook | undefined;
  /** Looks for updates that can be posted now. */
  wake(): void;
  lastError(): Readonly<{ date: number; message: string }> | undefined;
  stop(): Promise<void>;
}>;

const longestRetryMs = 60_000;

/**
 * Posts updates to the bot: per chat only the head of its queue, chats side by side. What is not answered with 2xx is
 * sent again at once, then after `retryMs`, doubling. A JSON answer with a `method` is carried out as a call.
 */
export function createWebhookDelivery(options: {
  queue: UpdateQueue;
  clock: Clock;
  retryMs: number;
  call: (args: Readonly<Record<string, unknown>>) => Promise<unknown>;
}): WebhookDelivery {
  const { queue, clock, retryMs, call } = options;
  const stopping = new AbortController();
  const underWay = new Map<number | undefined, Promise<void>>();
  let webhook: Webhook | undefined;
  let lastError: { date: number; message: string } | undefined;

  function wake(): void {
    if (webhook === undefined || stopping.signal.aborted) return;
    for (const update of queue.heads()) {
      if (underWay.has(update.chat)) continue;
      const work = deliver(update).finally(() => {
        underWay.delete(update.chat);
        wake();
      });
      underWay.set(update.chat, work);
    }
  }

  async function deliver(update: QueuedUpdate): Promise<void> {
    let delay = 0;
    while (webhook !== undefined && !stopping.signal.aborted && queue.waiting().includes(update)) {
      const retryAfter = await post(update, webhook);
      if (retryAfter === undefined) return queue.remove(update);
      const wait = Math.max(delay, retryAfter * 1000);
      delay = delay === 0 ? retryMs : Math.min(longestRetryMs, delay * 2);
      await clock.sleep(wait, stopping.signal).catch((reason: unknown) => {
        if (!stopping.signal.aborted) throw reason;
      });
    }
  }

  /** Nothing when it was taken; else the seconds the bot asks to be left alone. */
  async function post(update: QueuedUpdate, { url, secret }: Webhook): Promise<number | undefined> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          // So that a balancer spreads them.
          connection: 'close',
          ...(secret === '' ? {} : { 'x-telegram-bot-api-secret-token': secret }),
        },
        body: JSON.stringify(update.body),
        signal: stopping.signal,
      });
      const body = await response.text();
      if (response.ok) {
        await callFrom(body);
        return undefined;
      }
      fail(`Wrong response from the webhook: ${response.status} ${response.statusText}`);
      return Number(response.headers.get('retry-after') ?? 0);
    } catch (error) {
      fail(`Connection failed: ${String(error)}`);
      return 0;
    }
  }

  async function callFrom(body: string): Promise<void> {
    if (!body.trimStart().startsWith('{')) return;
    const args = JSON.parse(body) as Record<string, unknown>;
    if (typeof args['method'] === 'string') await call(args);
  }

  function fail(message: string): void {
    lastError = { date: Math.floor(clock.now() / 1000), message };
  }

  return {
    set(next) {
      if (next !== undefined) checkUrl(next.url);
      webhook = next;
      wake();
    },
    current: () => webhook,
    wake,
    lastError: () => lastError,
    async stop() {
      stopping.abort();
      await Promise.all(underWay.values());
    },
  };
}

/** As a Bot API server of one's own: plain http is taken on the loopback only. */
function checkUrl(url: string): void {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  const isLocal = hostname === '127.0.0.1' || hostname === 'localhost';
  if (protocol === 'https:' || (protocol === 'http:' && isLocal)) return;
  throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
}
