import type { Logger } from '@slack/bolt';
import type { Log } from '../../lib/log.ts';

/** Debug lines hold payloads and one-time addresses. */
export function toSlackLogger(log: Log): Logger {
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (...said) => log.warn({ from: 'bolt' }, words(said)),
    error: (...said) => log.error({ from: 'bolt' }, words(said)),
    setLevel: () => undefined,
    getLevel: () => 'info' as ReturnType<Logger['getLevel']>,
    setName: () => undefined,
  };
}

function words(said: readonly unknown[]): string {
  return said.map((one) => (one instanceof Error ? one.message : String(one))).join(' ');
}
