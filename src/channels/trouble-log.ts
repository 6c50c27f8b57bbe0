import type { Log } from '../lib/log.ts';
import { oneLine } from '../lib/text/text.ts';

export type TroubleLog = Readonly<{
  /** Logs a failure at the 1st, 2nd, 4th, 8th … time in a row. */
  failed(error: unknown, fields: object, message: string, level?: 'warn' | 'error'): void;
  over(): void;
}>;

export function createTroubleLog(log: Log): TroubleLog {
  const state = { last: '', times: 0 };
  return {
    failed(error, fields, message, level = 'warn') {
      const why = whyOf(error);
      const what = `${message}: ${why}`;
      state.times = what === state.last ? state.times + 1 : 1;
      state.last = what;
      const { times } = state;
      log.debug({ err: error, ...fields }, message);
      if (!Number.isInteger(Math.log2(times))) return;
      log[level]({ why, ...fields, times: times === 1 ? undefined : times }, message);
    },
    over() {
      state.times = 0;
    },
  };
}

function whyOf(error: unknown): string {
  const said: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    const { message } = at;
    if (!said.some((one) => one.includes(message))) said.push(message);
  }
  return oneLine(said.join(': ') || String(error), 300);
}
