import type { Json } from './event-payloads.ts';
import { slackMethods } from './method-table.ts';

/** Slack's rate tiers, kept when a test asks for them. */
export type RateLimits = Readonly<{
  /** Seconds to wait, 0 when the call may go (and is counted). */
  wait(method: string, args: Json): number;
}>;

const perMinute = { t1: 1, t2: 20, t3: 50, t4: 100, t5: 600 } as const;

/** `strict: false` lets everything through. Messages: one a second a channel, with a burst of `burst`. */
export function createRateLimits(strict: boolean, burst: number): RateLimits {
  const times = new Map<string, number[]>();
  const over = (key: string, count: number, ms: number): number => {
    const now = Date.now();
    const recent = (times.get(key) ?? []).filter((at) => now - at < ms);
    times.set(key, recent);
    if (recent.length >= count) return Math.max(1, Math.ceil(((recent[0] ?? now) + ms - now) / 1000));
    recent.push(now);
    return 0;
  };
  return {
    wait(method, args) {
      const known = slackMethods[method];
      if (!strict || known === undefined) return 0;
      if (method === 'chat.postMessage')
        return over(`${method} ${String(args['channel'])}`, burst, burst * 1000);
      return over(method, perMinute[known.tier], 60_000);
    },
  };
}
