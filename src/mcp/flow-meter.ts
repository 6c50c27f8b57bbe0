import type { Clock } from '../lib/clock.ts';
import { steadyTime } from '../lib/async/monotonic-clock.ts';

/** What a server may send within a minute: more than any use of it needs, and little enough to be read beside other work. */
const mostMessages = 6_000;
const mostBytes = 64 * 1024 * 1024;
const mostValues = 1_000_000;
const windowMs = 60_000;
const nothing = { messages: 0, bytes: 0, values: 0 };

/** Counts what a server sends: gives why it is to be ended, where that is too much for one minute (X7). */
export function createFlowMeter(
  clock: Clock,
): (messages: number, bytes: number, values?: number) => string | undefined {
  const now = steadyTime(clock);
  let since = now();
  let sum = nothing;
  return (messages, bytes, values = 0) => {
    if (now() - since >= windowMs) {
      since = now();
      sum = nothing;
    }
    sum = { messages: sum.messages + messages, bytes: sum.bytes + bytes, values: sum.values + values };
    if (sum.messages > mostMessages) return `it sent more than ${mostMessages} messages within a minute`;
    if (sum.bytes > mostBytes) return `it sent more than ${mostBytes} bytes within a minute`;
    if (sum.values > mostValues) return `it sent more than ${mostValues} values within a minute`;
    return undefined;
  };
}
