import type { Logger } from '@slack/bolt';
import type { Log } from '../../lib/log.ts';

/** Logs for the SDK. Its debug lines are dropped, because they contain payloads and one-time addresses. */
export function toSlackLogger(log: Log): Logger {
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...said) => log.warn({ from: 'bolt' }, words(said)),
    error: (...said) => {
      // A socket that ends names no cause, as at each stop. The code that opened it reports that it is gone.
      const level = /^WebSocket error occurred:\s*$/.test(words(said)) ? 'debug' : 'error';
      log[level]({ from: 'bolt' }, words(said));
    },
    setLevel: () => undefined,
    getLevel: () => 'info' as ReturnType<Logger['getLevel']>,
    setName: () => undefined,
  };
}

function words(said: readonly unknown[]): string {
  return said.map((one) => (one instanceof Error ? one.message : String(one))).join(' ');
}
