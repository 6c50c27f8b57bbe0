import type { SandboxLimits } from '../sandbox.ts';

/**
 * How a program is started under the limits of a single process; it follows, then its arguments. With `awaits` it says a
 * line on descriptor 3 and starts the program when it hears one: never, where the other end is gone.
 */
export function limitsCommand(
  limits: SandboxLimits,
  {
    ownUsers = false,
    awaits = false,
  }: Readonly<{
    /** Processes are counted for this command alone. */ ownUsers?: boolean;
    awaits?: boolean;
  }> = {},
): readonly [string, ...string[]] {
  const most = limits.processes * 4 + 64;
  const set = [
    ...limitLines(limits),
    // One letter in dash, another in bash.
    ...(ownUsers ? [`{ ulimit -p ${most} || ulimit -u ${most}; } 2>/dev/null`] : []),
  ];
  const start = awaits ? 'echo >&3; read line <&3 || exit 1; exec "$@" 3>&-' : 'exec "$@"';
  return ['/bin/sh', '-c', `${set.join('; ')}; ${start}`, 'sh'];
}

/** Lines of a shell that set the limits of a single process for what it starts. */
export function limitLines({ memoryMb, cpuSeconds, diskMb }: SandboxLimits): readonly string[] {
  // Wider than what is watched for all together, which names the limit that was met: these hold where nobody looks.
  return [
    `ulimit -t ${cpuSeconds + 5}`,
    // In blocks of 512 bytes.
    `ulimit -f ${diskMb * 2_048}`,
    // A runtime such as Node's reserves much that it never uses.
    `ulimit -d ${(memoryMb + 1_024) * 1_024}`,
    'ulimit -n 1024',
    'ulimit -c 0',
  ];
}
