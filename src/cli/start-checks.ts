import { checkStart } from '../operator/check-start.ts';
import { isServed } from '../channels/terminal/control.ts';
import type { Config } from '../config/complete-config.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';

/** What `start` refuses or warns of, for this process's environment (G2). */
export async function startChecks(config: Config): Promise<readonly Diagnostic[]> {
  return checkStart(config, { env: process.env, isRunning: await isServed(config.bot.dataDir) });
}

/** Logs its warnings; throws its errors, all in one OperatorError. */
export async function passStartChecks(config: Config, log: Log): Promise<void> {
  const found = await startChecks(config);
  const errors = found.filter(({ level }) => level === 'error');
  if (errors.length > 0) throw new OperatorError(errors.map(diagnosticLine).join('\n'));
  for (const { message, code, line } of found) log.warn({ code, line }, message);
}

/** `config.toml:4: warning SKILL_UNKNOWN: …` */
export function diagnosticLine({ level, code, message, path, line }: Diagnostic): string {
  const place = path === undefined || line === undefined ? '' : `${path}:${line}: `;
  return `${place}${level} ${code}: ${message}`;
}
