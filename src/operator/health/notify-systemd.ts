import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Log } from '../../lib/log.ts';
import { findProgram } from '../../sandbox/inside-sandbox.ts';

export type ServiceManager = Readonly<{
  /**
   * Says that the start is over. From then on the manager is told in time that the event loop turns, if it asked for
   * that (L11).
   */
  ready(): Promise<void>;
  stopping(): Promise<void>;
}>;

/** How many milliseconds a manager that does not listen may hold up the start or the stop. */
const longestMs = 5_000;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Finds systemd (`Type=notify`, `WatchdogSec`), if it named its socket. Node has no datagram sockets of that kind, so
 * each message is sent by a short process of `systemd-notify`. If the manager can't be reached, the bot logs that and
 * continues.
 */
export function findServiceManager(env: Env, log: Log): ServiceManager | undefined {
  const { NOTIFY_SOCKET, PATH = '' } = env;
  if (NOTIFY_SOCKET === undefined) return undefined;
  const program = findProgram('systemd-notify', PATH);
  if (program === undefined) {
    log.warn({}, 'NOTIFY_SOCKET is set, but systemd-notify is not on PATH: write Type=exec into the unit');
    return undefined;
  }
  const tell = async (...states: readonly string[]): Promise<void> => {
    const limits = { timeout: longestMs, killSignal: 'SIGKILL' } as const;
    await promisify(execFile)(program, [...states], { env: { NOTIFY_SOCKET, PATH }, ...limits }).catch(
      (error: unknown) => {
        log.warn({ err: error }, 'could not report the state to the service manager');
      },
    );
  };
  const everyMs = watchdogMs(env);
  let beat: NodeJS.Timeout | undefined;
  return {
    async ready() {
      await tell('READY=1', 'STATUS=answering');
      if (everyMs === undefined) return;
      beat = setInterval(() => void tell('WATCHDOG=1'), everyMs / 2);
      beat.unref();
    },
    async stopping() {
      clearInterval(beat);
      await tell('STOPPING=1', 'STATUS=finishing what is under way');
    },
  };
}

/** After so many milliseconds of silence the manager restarts the bot. Undefined if it does not watch this process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Env): number | undefined {
  const ms = Number(WATCHDOG_USEC) / 1_000;
  if (!(ms > 0) || (WATCHDOG_PID !== undefined && Number(WATCHDOG_PID) !== process.pid)) return undefined;
  return ms;
}
