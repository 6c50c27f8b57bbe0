import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { ContainerEngine } from './container-engine.ts';
import { nodeSeen, ownPrograms, sandboxEnvironment } from '../inside-sandbox.ts';
import { limitLines, temporaryBytes } from '../limits/kernel-limits.ts';
import type { SandboxCommand, SandboxLimits, ShellRequest } from '../sandbox.ts';

/** Label of containers. Its value is when nobody needs the container any more, in milliseconds since 1970. */
export const containerLabel = 'skillet.until';

export type Mount = Readonly<{ source: string; target: string; writable?: boolean }>;

export type Container = Readonly<{
  /** Name of the container. The same line on its error stream announces the command. */
  name: string;
  image: string;
  until: number;
  node: boolean;
  mounts: readonly Mount[];
  before: readonly string[];
  env: Readonly<Record<string, string>>;
  /** True if it has a terminal, and begins at once. */
  terminal: boolean;
}>;

type ContainerRequest = SandboxCommand & Omit<ShellRequest, 'signal'>;

/** Variables that the client's own settings would put into a container (S2). */
const proxies = ['http_proxy', 'https_proxy', 'ftp_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/**
 * Arguments for a container without network and privileges, with a read-only root and limits (T9). The skill's
 * variables are passed by the client's environment, so that no command line shows them (U3).
 */
export function containerArguments(
  request: ContainerRequest,
  limits: SandboxLimits,
  engine: Pick<ContainerEngine, 'own' | 'limits'>,
  { name, image, until, node, mounts, before, env, terminal }: Container,
): Readonly<{ args: readonly string[]; env: Readonly<Record<string, string>> }> {
  const { argv, env: declared } = request;
  const own = {
    ...Object.fromEntries(proxies.map((each) => [each, ''])),
    ...sandboxEnvironment({}, request),
    ...env,
  };
  const names = Object.keys(declared).filter(
    (each) => isVariable.test(each) && (each === 'TZ' || !Object.hasOwn(own, each)),
  );
  const temporary = temporaryBytes(limits);
  const memory = `${limits.memoryMb}m`;
  const args = [
    ...['run', '--rm', '--interactive', ...(terminal ? ['--tty'] : [])],
    ...['--name', name, '--label', `${containerLabel}=${until}`, '--pull', 'never', '--log-driver', 'none'],
    ...['--network', 'none', '--hostname', 'sandbox', '--read-only', '--no-healthcheck'],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--security-opt', 'label=disable'],
    ...engine.own,
    // Wider than the watched limits.
    ...(engine.limits.pids ? ['--pids-limit', String(limits.processes * 2)] : []),
    ...(engine.limits.memory ? ['--memory', memory, '--memory-swap', memory] : []),
    ...['--ulimit', 'nofile=1024:1024', '--ulimit', 'core=0:0', '--shm-size', String(temporary)],
    ...['--tmpfs', `/tmp:rw,exec,nosuid,nodev,size=${temporary},mode=1777`],
    ...[...folders(request, node), ...mounts].flatMap((mount) => ['--mount', mountText(mount)]),
    ...Object.entries(own).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ...names.flatMap((_, index) => ['--env', carrier(index)]),
    ...['--workdir', '/scratch', '--entrypoint', '/bin/sh', image],
    ...['-c', startScript(names, limits, { name, terminal }), 'sh', argv[0], ...before, ...argv],
  ];
  return {
    args,
    env: Object.fromEntries(names.map((each, index) => [carrier(index), declared[each] ?? ''])),
  };
}

const isVariable = /^[A-Za-z_][A-Za-z0-9_]*$/;

function carrier(index: number): string {
  return `SKILLET_ENV_${index}`;
}

function folders(
  { skillDirectory, scratch, chat, packages, programs = [] }: ContainerRequest,
  node: boolean,
): readonly Mount[] {
  return [
    ...(node ? [{ source: process.execPath, target: nodeSeen }] : []),
    ...programs.map((file) => ({
      source: realpathSync(file),
      target: `${ownPrograms}/${path.basename(file)}`,
    })),
    ...(skillDirectory === undefined ? [] : [{ source: skillDirectory, target: '/skill' }]),
    ...(packages === undefined ? [] : [{ source: packages, target: '/packages' }]),
    { source: scratch, target: '/scratch', writable: true },
    ...(chat === undefined ? [] : [{ source: chat, target: '/chat', writable: true }]),
  ];
}

function mountText({ source, target, writable = false }: Mount): string {
  const from = `source=${path.resolve(source)}`;
  const quoted = /[",]/.test(from) ? `"${from.replaceAll('"', '""')}"` : from;
  return ['type=bind', quoted, `target=${target}`, ...(writable ? [] : ['readonly'])].join(',');
}

/**
 * The script that announces the command, waits, and runs it. Its input stays open while the client lives; after that
 * everything in the container ends.
 */
function startScript(
  names: readonly string[],
  limits: SandboxLimits,
  { name, terminal }: Pick<Container, 'name' | 'terminal'>,
): string {
  const lines = [
    ...limitLines(limits),
    `for each in ${proxies.join(' ')}; do eval "[ -n \\"\\$$each\\" ]" || unset $each; done`,
    ...names.map((each, index) => `export ${each}="$${carrier(index)}"; unset ${carrier(index)}`),
  ];
  if (terminal) return [...lines, 'shift', 'exec "$@"'].join('\n');
  return [
    ...lines,
    `command -v "$1" >/dev/null || { echo "${missingWord(name)}" >&2; exit 127; }`,
    'shift',
    `echo ${name} >&2`,
    'read -r line || exit 1',
    'exec 3<&0 </dev/null 4>&2 2>/dev/null',
    '{ cat <&3 >/dev/null; kill -9 -1; } 4>&- &',
    '"$@" 2>&4 3<&- 4>&-',
    'exit $?',
  ].join('\n');
}

/** The word printed instead of the name if the program is missing. */
export function missingWord(name: string): string {
  return `${name} lacks it`;
}
