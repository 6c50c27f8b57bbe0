import type { Log } from '../lib/log.ts';
import type { LogLine, PluginLog } from './tool-context.ts';

/** The bot's log for a plugin: every line says whose it is, whatever its fields say. */
export function namedLog(log: Log, names: Readonly<Record<string, string>>): PluginLog {
  const line =
    (level: keyof Log): LogLine =>
    (fields: object | string, message?: string) =>
      typeof fields === 'string'
        ? log[level]({ ...names }, fields)
        : log[level]({ ...fields, ...names }, message ?? '');
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
