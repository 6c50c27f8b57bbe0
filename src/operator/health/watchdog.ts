import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Log } from '../../lib/log.ts';

const { url: debuggedAt } = process.getBuiltinModule('node:inspector');

/**
 * The shell that watches. Time is in hundredths of a second of the machine's uptime. Silence counts only while the
 * shell itself was awake, and a process that is stopped, as in a debugger, is left alone. Without a clock or a `sleep`
 * that works, the shell ends and kills nobody.
 */
const script = `
beat=1 last=0 slept=-1
trap 'beat=1' USR1
trap '' INT TERM HUP PIPE
(read -r _ <&3; read -r _ _ _ parent _ </proc/self/stat; [ $parent != $$ ] || kill -KILL $$) 2>/dev/null &
exec 3<&-
while :; do
  read -r up _ </proc/uptime || exit 3
  now=\${up%.*}\${up#*.}
  [ $slept != 0 ] || [ $((now-last)) -ge $(($3/2)) ] || exit 3
  [ $((now-last)) -le $((3*$3)) ] || beat=1
  [ $beat = 0 ] || since=$now
  beat=0 last=$now
  [ $((now-since)) -lt $2 ] || break
  sleep $4 &
  wait $!
  slept=$?
  [ $slept = 0 ] || [ $slept -gt 128 ] || exit 3
  while read -r key value _; do
    [ "$key" != State: ] || case $value in [Tt]) beat=1;; esac
  done </proc/$1/status
done 2>/dev/null
echo "$5" >&4 &
kill -KILL $1
`;

/** Ends the process if its event loop blocks for 30 s (S9). A shell takes 1 MB, a thread 14 MB. */
export function startWatchdog(
  log: Pick<Log, 'warn'>,
  {
    silenceSeconds = 30,
    roundSeconds = 5,
    path = `${process.env['PATH'] ?? ''}:/usr/bin:/bin`,
  }: Readonly<{ silenceSeconds?: number; roundSeconds?: number; path?: string }> = {},
): Readonly<{ stop(): void }> {
  if (process.platform !== 'linux') return { stop: () => undefined };
  const silence = `The event loop stood still for ${silenceSeconds} s: the process ends itself.`;
  const line = JSON.stringify({ level: 60, time: new Date().toISOString(), msg: silence });
  const args = [
    process.pid,
    Math.round(silenceSeconds * 100),
    Math.round(roundSeconds * 100),
    roundSeconds,
    process.stderr.isTTY ? silence : line,
  ].map(String);
  const shell = spawn('/bin/sh', ['-c', script, 'skillet-watchdog', ...args], {
    env: { PATH: path },
    // The shell ends with the pipe. Its standard error is inherited as number 2, because as its own it would switch the
    // log to blocking writes, here too.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 2],
  });
  const beat = setInterval(
    () => {
      // A debugger stops the loop, so nothing is watched then.
      if (debuggedAt() !== undefined) stop();
      else shell.kill('SIGUSR1');
    },
    (roundSeconds * 1_000) / 2,
  );
  beat.unref();
  shell.unref();
  // Without free file descriptors there are no streams.
  const { stdio }: Partial<ChildProcess> = shell;
  const pipe = stdio?.[3] as Socket | undefined;
  pipe?.unref();
  const gone = (reason: unknown): void => {
    clearInterval(beat);
    log.warn({ reason }, 'there is no watchdog, so nothing notices a blocked event loop');
  };
  shell.once('error', gone).once('exit', gone);

  function stop(): void {
    clearInterval(beat);
    shell.off('exit', gone);
    pipe?.destroy();
  }
  return { stop };
}
