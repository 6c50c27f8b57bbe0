import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { ContainerEngine } from './container-engine.ts';
import { nodeSeen, ownPrograms, sandboxEnvironment } from '../inside-sandbox.ts';
import { limitLines, temporaryBytes } from '../limits/kernel-limits.ts';
import type { SandboxLimits, SandboxRequest } from '../sandbox.ts';

/** The label of our containers. Its value is when nobody needs them any more, in milliseconds since 1970. */
export const containerLabel = 'skillet.until';

export type Mount = Readonly<{ source: string; target: string; writable?: boolean }>;

/** One container for one command. */
export type Container = Readonly<{
  /** Its own name, and the word on its error stream that the command is about to begin. */
  name: string;
  /** Id of the image. */
  image: string;
  until: number;
  /** The bot's own node is lent. */
  node: boolean;
  mounts: readonly Mount[];
  /** Stands before the command. */
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

/** A client's own settings or environment would put these into a container (S2). */
const proxies = ['http_proxy', 'https_proxy', 'ftp_proxy', 'no_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/**
 * Runs one command in a container (T9): no network, a read-only root, an ordinary user without privileges, limits, and the
 * folders of the request. What a skill declares goes by `env` of the client, and is on no command line (U3).
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
    // Wider than what is watched.
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

/** What a skill declares must not steer the client. */
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

/** Comma-separated values, in which a path may be quoted. */
function mountText({ source, target, writable = false }: Mount): string {
  const from = `source=${path.resolve(source)}`;
  const quoted = /[",]/.test(from) ? `"${from.replaceAll('"', '""')}"` : from;
  return ['type=bind', quoted, `target=${target}`, ...(writable ? [] : ['readonly'])].join(',');
}

/**
 * The first process says that the command is about to begin, waits, and runs it. Its input stays open while the bot's client
 * lives; then everything in the container ends.
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

/** Said in place of the name if the program is missing. */
export function missingWord(name: string): string {
  return `${name} lacks it`;
}
