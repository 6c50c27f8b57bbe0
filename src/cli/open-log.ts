import { constants, openSync, writeSync } from 'node:fs';
import { createLog } from '../operator/create-log.ts';
import type { Config } from '../config/complete-config.ts';
import { secretsOfConfig, secretsOfProxies } from '../config/secrets-of-config.ts';
import type { Log } from '../lib/log.ts';
import { createRedactor } from '../lib/redaction/redact.ts';
import { guardOutput } from './console.ts';

export type OpenLog = Readonly<{
  log: Log;
  /** Replaces the redaction of lines and output, because the secrets of a bot change with its config (U3). */
  redactBy(redact: (text: string) => string): void;
  /** Where lines go from now on. Undefined stands for standard error. */
  writeBy(write: ((line: string) => void) | undefined): void;
}>;

/** How many bytes may wait for a reader of the log. Lines beyond that are lost. */
const mostWaiting = 1024 * 1024;

/**
 * A log to standard error, without secrets. Lines that can't be written are lost and counted, because a log never ends
 * or delays the bot (S15).
 */
export function openLog(config: Config, level = config.log.level): OpenLog {
  let redact = createRedactor([...secretsOfConfig(config), ...secretsOfProxies(process.env)]);
  let lost = 0;
  const toStandardError = createWriter((error) => {
    if (error !== undefined) lost += 1;
    else if (lost > 0) {
      const lines = lost;
      lost = 0;
      log.warn({ lines }, 'lines of the log were lost: they could not be written');
    }
  });
  let write: (line: string) => void = toStandardError;
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

/** Writes lines. `written` is called for each of them, with an error if it was lost. Never throws and never waits. */
function createWriter(written: (error?: Error) => void): (line: string) => void {
  const terminal = process.stderr.isTTY ? openWithoutWaiting() : undefined;
  if (terminal !== undefined)
    return (line) => {
      try {
        writeSync(terminal, line);
      } catch (error) {
        return written(error as Error);
      }
      written();
    };
  return (line) => {
    if (process.stderr.writableLength > mostWaiting) written(new Error('nobody reads the log'));
    else process.stderr.write(line, (error) => written(error ?? undefined));
  };
}

/**
 * Opens the terminal without waiting for it: Node would wait, and a person can stop a terminal with Ctrl-S. Undefined
 * if this system has no such file.
 */
function openWithoutWaiting(): number | undefined {
  try {
    return openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
}
