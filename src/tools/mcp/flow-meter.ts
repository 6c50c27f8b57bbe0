import type { Clock } from '../../core/clock.ts';
import { steadyTime } from '../../core/steady-time.ts';

/** What a server may send within a minute: more than any use of it needs, and little enough to be read beside other work. */
const mostMessages = 6_000;
const mostBytes = 64 * 1024 * 1024;
const windowMs = 60_000;

/** Counts what a server sends: gives why it is to be ended, where that is too much for one minute (X7). */
export function createFlowMeter(clock: Clock): (messages: number, bytes: number) => string | undefined {
  const now = steadyTime(clock);
  let since = now();
  let sum = { messages: 0, bytes: 0 };
  return (messages, bytes) => {
    if (now() - since >= windowMs) {
      since = now();
      sum = { messages: 0, bytes: 0 };
    }
    sum = { messages: sum.messages + messages, bytes: sum.bytes + bytes };
    if (sum.messages > mostMessages) return `it sent more than ${mostMessages} messages within a minute`;
    if (sum.bytes > mostBytes) return `it sent more than ${mostBytes} bytes within a minute`;
    return undefined;
  };
}
