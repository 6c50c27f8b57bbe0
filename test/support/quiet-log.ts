import { inspect } from 'node:util';
import type { Log } from '../../src/lib/log.ts';

/** One line of a log, as a test looks at it. */
export type Logged = Readonly<{
  level: keyof Log;
  fields: Readonly<Record<string, unknown>>;
  message: string;
}>;

export type QuietLog = Log &
  Readonly<{
    lines: readonly Logged[];
    /** The first line, past or to come, that matches. Rejects with the last lines if none comes within two minutes. */
    line(matches: (line: Logged) => boolean): Promise<Logged>;
  }>;

const patienceMs = 120_000;

/** A log that keeps its lines instead of writing them. */
export function quietLog(): QuietLog {
  const lines: Logged[] = [];
  const waiting = new Set<(line: Logged) => void>();
  const keep =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      const line = { level, fields: { ...fields }, message };
      lines.push(line);
      for (const tell of waiting) tell(line);
    };
  return {
    lines,
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    line: (matches) =>
      new Promise((resolve, reject) => {
        const found = lines.find(matches);
        if (found !== undefined) return resolve(found);
        const tell = (line: Logged): void => {
          if (!matches(line)) return;
          waiting.delete(tell);
          clearTimeout(late);
          resolve(line);
        };
        waiting.add(tell);
        const late = setTimeout(() => {
          const last = lines.slice(-10).map((line) => inspect(line, { breakLength: Infinity }));
          reject(
            new Error(`waited in vain for a line of ${matches.toString()}; the last:\n${last.join('\n')}`),
          );
        }, patienceMs).unref();
      }),
  };
}
