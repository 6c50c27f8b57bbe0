import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Log } from '../log.ts';
import { killOne } from './kill-processes.ts';

export type EndWithUs = (group: number) => () => void;

/** Reads `+ GROUP` and `- GROUP`. At the end of input it kills the groups that are left. */
const watch = `
  while read -r sign group; do
    if [ "$sign" = + ]; then set -- "$@" "$group"; continue; fi
    for one do shift; [ "$one" = "$group" ] || set -- "$@" "$one"; done
  done
  for group do kill -s KILL -- "-$group"; done`;

/**
 * Kills process groups when this process ends. After kill -9 a small shell does it, which notices the end of its pipe.
 * Without a shell, which is logged, groups are killed only at an ordinary end.
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
    // Detached, so that signals from a terminal do not end it first.
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
