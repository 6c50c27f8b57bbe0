import { realpathSync } from 'node:fs';
import path from 'node:path';
import {
  nodeSeen,
  ownPrograms,
  sandboxEnvironment,
  temporaryBytes,
} from '../bubblewrap/bubblewrap-arguments.ts';
import type { ContainerEngine } from './container-engine.ts';
import { limitLines } from '../limits/limits-command.ts';
import type { SandboxLimits, SandboxRequest } from '../sandbox.ts';

/** The label of our containers; its value is when they are certainly of no use any more, in milliseconds since 1970. */
export const containerLabel = 'skillet.until';

export type Mount = Readonly<{ source: string; target: string; writable?: boolean }>;

/** One container for one command. */
export type Container = Readonly<{
  /** Nobody else's: its name, and the word on its error stream that the command is about to begin. */
  name: string;
  /** Id of the image. */
  image: string;
  until: number;
  /** The bot's own node is lent. */
  node: boolean;
  /** What only this command has, and what stands before it. */
  mounts: readonly Mount[];
  before: readonly string[];
  /** More environment; not secret. */
  env: Readonly<Record<string, string>>;
  /** It has a terminal, and begins at once. */
  terminal: boolean;
}>;

export type ContainerRequest = Pick<
  SandboxRequest,
  'argv' | 'skillDirectory' | 'scratch' | 'chat' | 'packages' | 'programs' | 'env'
>;

/** What a client's own settings, or its environment, would put into a container (S2). */
const proxies = ['http_proxy', 'https_proxy', 'ftp_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/**
 * How one command is run in a container of its own (T9): no network, a read-only root, an ordinary user without
 * privileges, limits, and the folders of the request. What a skill declares is handed on by `env` of the client, and
 * stands on no command line (U3).
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
    // Wider than what is watched, which names the limit that was met.
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

/** Under names of our own: what a skill declares must not steer the client. */
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

/** Read as comma-separated values, in which a path may be quoted. */
function mountText({ source, target, writable = false }: Mount): string {
  const from = `source=${path.resolve(source)}`;
  const quoted = /[",]/.test(from) ? `"${from.replaceAll('"', '""')}"` : from;
  return ['type=bind', quoted, `target=${target}`, ...(writable ? [] : ['readonly'])].join(',');
}

/**
 * The first process: says that the command is about to begin, waits until it may, and runs it. Its input stays open as
 * long as the bot's client lives; when it ends, everything in the container does.
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

/** What is said in place of the name where the program is not there. */
export function missingWord(name: string): string {
  return `${name} lacks it`;
}
