import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Log } from '../log.ts';
import { killOne } from './kill-processes.ts';

/** Has a process group ended with this process. Gives how to take that back. */
export type EndWithUs = (group: number) => () => void;

/** Reads `+ GROUP` and `- GROUP` line by line. Where there is nobody any more to write them it ends the groups that are left. */
const watch = `
  while read -r sign group; do
    if [ "$sign" = + ]; then set -- "$@" "$group"; continue; fi
    for one do shift; [ "$one" = "$group" ] || set -- "$@" "$one"; done
  done
  for group do kill -s KILL -- "-$group"; done`;

/**
 * Has process groups ended when this process ends, in whatever way. kill -9 leaves it no time for that, so while there are any
 * a small shell waits for the end of a pipe that only this process holds. Where no shell can be started the log says so, and
 * they end with an ordinary end alone.
 */
export function createEndWithUs(log: Pick<Log, 'warn'>): EndWithUs {
  const groups = new Set<number>();
  let watcher: Writable | undefined;
  const endAll = (): void => groups.forEach((group) => killOne(-group));

  function tell(line: string): void {
    watcher ??= startWatch();
    watcher.write(`${line}\n`);
  }

  function startWatch(): Writable {
    // A session of its own: what ends all processes of a terminal is not to end it first.
    const shell = spawn('/bin/sh', ['-c', watch], {
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const { stdin } = shell;
    const lose = (error?: Error): void => {
      if (watcher !== stdin) return;
      watcher = undefined;
      log.warn(
        { err: error },
        'MCP servers may outlive this process where it is killed: /bin/sh does not run',
      );
    };
    shell.once('error', lose);
    shell.once('exit', () => lose());
    stdin.on('error', lose);
    shell.unref();
    (stdin as Writable & { unref?(): void }).unref?.();
    for (const group of groups) stdin.write(`+ ${group}\n`);
    return stdin;
  }

  return (group) => {
    if (groups.size === 0) process.once('exit', endAll);
    tell(`+ ${group}`);
    groups.add(group);
    return () => {
      if (!groups.delete(group)) return;
      if (groups.size > 0) return tell(`- ${group}`);
      process.removeListener('exit', endAll);
      const last = watcher;
      watcher = undefined;
      last?.end(`- ${group}\n`);
    };
  };
}
