import { createLog } from '../app/create-log.ts';
import type { Config } from '../config/complete-config.ts';
import { secretsOfConfig } from '../config/secrets-of-config.ts';
import type { Log } from '../core/log.ts';
import { createRedactor } from '../core/redact.ts';

/** The log as config wants it, secrets removed. On standard error. */
export function logOf(config: Config, level = config.log.level): Log {
  return createLog({
    level,
    format: config.log.format ?? (process.stderr.isTTY ? 'pretty' : 'json'),
    redact: createRedactor(secretsOfConfig(config)),
    write: (line) => process.stderr.write(line),
  });
}
