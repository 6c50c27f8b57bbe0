import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Log } from '../../lib/log.ts';

const { url: debuggedAt } = process.getBuiltinModule('node:inspector');

/** A stopped process, as in a debugger, is left alone. */
const script = `
n=0
trap 'n=0' USR1
trap '' INT TERM HUP
(read -r _ <&3; read -r _ _ _ parent _ </proc/self/stat; [ $parent != $$ ] || kill -KILL $$) 2>/dev/null &
exec 3<&-
while [ $n -lt $2 ]; do
  sleep $3 2>/dev/null &
  wait $!
  n=$((n+1))
  while read -r key value _; do
    [ "$key" != State: ] || case $value in [Tt]) n=0;; esac
  done </proc/$1/status
done 2>/dev/null
echo "$4" >&2
kill -KILL $1
`;

/** Ends the process if its event loop blocks for 30 s (S9). A shell costs 1 MB, a thread 10. */
export function startWatchdog(
  log: Pick<Log, 'warn'>,
  { rounds = 6, roundSeconds = 5 }: Readonly<{ rounds?: number; roundSeconds?: number }> = {},
): Readonly<{ stop(): void }> {
  if (process.platform !== 'linux') return { stop: () => undefined };
  const silence = `The event loop stood still for ${rounds * roundSeconds} s: the process ends itself.`;
  const line = JSON.stringify({ level: 60, time: new Date().toISOString(), msg: silence });
  const args = [process.pid, rounds, roundSeconds, process.stderr.isTTY ? silence : line].map(String);
  const shell = spawn('/bin/sh', ['-c', script, 'skillet-watchdog', ...args], {
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    // Ends with the pipe.
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const beat = setInterval(
    () => {
      // A debugger stops the loop.
      if (debuggedAt() !== undefined) stop();
      else shell.kill('SIGUSR1');
    },
    (roundSeconds * 1_000) / 2,
  );
  beat.unref();
  shell.unref();
  const pipe = shell.stdio[3] as Socket;
  pipe.unref();
  const gone = (reason: unknown): void => {
    clearInterval(beat);
    log.warn({ reason }, 'no watchdog is there: a loop that stands still is not noticed');
  };
  shell.once('error', gone).once('exit', gone);

  function stop(): void {
    clearInterval(beat);
    shell.off('exit', gone);
    pipe.destroy();
  }
  return { stop };
}
