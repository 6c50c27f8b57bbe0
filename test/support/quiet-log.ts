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
    /** The first line, past or to come, that matches. */
    line(matches: (line: Logged) => boolean): Promise<Logged>;
  }>;

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
      new Promise((resolve) => {
        const found = lines.find(matches);
        if (found !== undefined) return resolve(found);
        const tell = (line: Logged): void => {
          if (!matches(line)) return;
          waiting.delete(tell);
          resolve(line);
        };
        waiting.add(tell);
      }),
  };
}
