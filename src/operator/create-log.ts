import { pino } from 'pino';
import type { Log } from '../lib/log.ts';

type LogOptions = Readonly<{
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  format: 'pretty' | 'json';
  /** Redacts each line, also errors of libraries (S3). */
  redact(text: string): string;
  write(line: string): void;
}>;

/** A log of JSON lines, or of readable ones for a terminal (L5). */
export function createLog({ level, format, redact, write }: LogOptions): Log {
  const out = {
    write: (line: string) => write(redact(format === 'json' ? line : pretty(line))),
  };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, out);
}

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

function pretty(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown> & {
    err?: { message?: string; stack?: string };
  };
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const cause = err === undefined ? [] : [`error=${JSON.stringify(err.message)}`];
  return `${[String(time).slice(11, 19), (levels[Number(level)] ?? '').padEnd(5), msg, ...rest, ...cause].join(' ')}\n`;
}
