import type { Log } from '../../src/core/log.ts';

/** One line of a log, as a test looks at it. */
export type Logged = Readonly<{
  level: keyof Log;
  fields: Readonly<Record<string, unknown>>;
  message: string;
}>;

/** A log that keeps its lines instead of writing them. */
export function quietLog(): Log & Readonly<{ lines: readonly Logged[] }> {
  const lines: Logged[] = [];
  const keep =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields: { ...fields }, message });
    };
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}
