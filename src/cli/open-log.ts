import { createLog } from '../operator/create-log.ts';
import type { Config } from '../config/complete-config.ts';
import { secretsOfConfig, secretsOfProxies } from '../config/secrets-of-config.ts';
import type { Log } from '../lib/log.ts';
import { createRedactor } from '../lib/redaction/redact.ts';
import { guardOutput } from './console.ts';

export type OpenLog = Readonly<{
  log: Log;
  /** Replaces the redaction of lines and output: secrets of a bot change with its config (U3). */
  redactBy(redact: (text: string) => string): void;
  /** Undefined: standard error again. */
  writeBy(write: ((line: string) => void) | undefined): void;
}>;

/** To standard error, without secrets. */
export function openLog(config: Config, level = config.log.level): OpenLog {
  let redact = createRedactor([...secretsOfConfig(config), ...secretsOfProxies(process.env)]);
  const toStandardError = (line: string): void => void process.stderr.write(line);
  let write = toStandardError;
  const log = createLog({
    level,
    format: config.log.format ?? (process.stderr.isTTY ? 'pretty' : 'json'),
    redact: (text) => redact(text),
    write: (line) => write(line),
  });
  return {
    log,
    redactBy(newest) {
      redact = newest;
      guardOutput(newest);
    },
    writeBy(next = toStandardError) {
      write = next;
    },
  };
}
