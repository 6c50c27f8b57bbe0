import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import { findProgram } from '../inside-sandbox.ts';

export const containerPrograms = ['docker', 'podman'] as const;
export type ContainerProgram = (typeof containerPrograms)[number];

export type ContainerEngine = Readonly<{
  program: string;
  /** The engine's name and version, such as `docker 28.2.2`. */
  name: string;
  /** Arguments of `run` by which the container has this process's user, never root. */
  own: readonly string[];
  /** Limits that the engine enforces. The others are only watched. */
  limits: Readonly<{ memory: boolean; pids: boolean }>;
  env: Readonly<Record<string, string>>;
  /** Runs a command of the engine and returns its output. Throws OperatorError with the engine's message. */
  call(args: readonly string[], limitMs?: number): Promise<string>;
  feed(source: readonly [program: string, ...rest: string[]], args: readonly string[]): Promise<string>;
}>;

type FoundContainerEngine =
  | Readonly<{ ok: true; engine: ContainerEngine }>
  | Readonly<{ ok: false; /** A reason for each program that was tried. */ why: readonly string[] }>;

/** In milliseconds, because importing an image is slow. */
const callLimitMs = 300_000;

/** Finds an engine that works for an ordinary user (T9). */
export async function findContainerEngine(options: {
  wanted?: ContainerProgram | undefined;
  uid: number;
  gid: number;
  env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds in which a working service says what it is. */
  patienceMs?: number;
}): Promise<FoundContainerEngine> {
  const { wanted, uid, gid, env, patienceMs = 15_000 } = options;
  const why: string[] = [];
  for (const name of wanted === undefined ? containerPrograms : [wanted]) {
    const program = findProgram(name, env['PATH'] ?? '');
    if (program === undefined) {
      why.push(`${name} is not installed`);
      continue;
    }
    const caller = callerOf(program, steering(env));
    try {
      const info = described(await caller.call(['info', '--format', '{{json .}}'], patienceMs));
      if (info !== undefined) return { ok: true, engine: { ...caller, ...traits(info, uid, gid) } };
      why.push(`${name} says nothing of a running service`);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      why.push(error.message);
    }
  }
  return { ok: false, why };
}

const dockerInfo = z.object({
  ServerVersion: z.string().min(1),
  SecurityOptions: z.array(z.string()).nullable(),
  MemoryLimit: z.boolean(),
  PidsLimit: z.boolean(),
});
const podmanInfo = z.object({
  host: z.object({
    cgroupVersion: z.string(),
    cgroupControllers: z.array(z.string()).nullable(),
    security: z.object({ rootless: z.boolean() }),
  }),
  version: z.object({ Version: z.string() }),
});
type Info = Readonly<
  { docker: z.output<typeof dockerInfo> } | { docker?: never; podman: z.output<typeof podmanInfo> }
>;

/** Reads what the program says it is: `docker` may be podman, and the other way round. */
function described(text: string): Info | undefined {
  const data = parseJson(text);
  const docker = dockerInfo.safeParse(data);
  if (docker.success) return { docker: docker.data };
  const podman = podmanInfo.safeParse(data);
  return podman.success ? { podman: podman.data } : undefined;
}

function traits(info: Info, uid: number, gid: number): Pick<ContainerEngine, 'name' | 'own' | 'limits'> {
  const same = ['--user', `${uid}:${gid}`];
  if (info.docker === undefined) {
    const { host, version } = info.podman;
    const has = (controller: string): boolean => host.cgroupControllers?.includes(controller) === true;
    return {
      name: `podman ${version.Version}`,
      // Without the last one, podman mounts tmpfs over a read-only root.
      own: [...same, '--userns', host.security.rootless ? 'keep-id' : 'host', '--read-only-tmpfs=false'],
      limits: { memory: has('memory'), pids: has('pids') },
    };
  }
  const { ServerVersion, SecurityOptions, MemoryLimit, PidsLimit } = info.docker;
  const is = (option: string): boolean =>
    SecurityOptions?.some((each) => each.split(',').includes(`name=${option}`)) === true;
  return {
    name: `docker ${ServerVersion}`,
    // In a rootless daemon our user is 0. A daemon that remaps users must keep ours.
    own: is('rootless') ? ['--user', '0:0'] : [...same, ...(is('userns') ? ['--userns', 'host'] : [])],
    limits: { memory: MemoryLimit, pids: PidsLimit },
  };
}

const steers =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|XDG_[A-Z_]+|DBUS_SESSION_BUS_ADDRESS|DOCKER_[A-Z_]+|CONTAINERS?_[A-Z_]+)$/;

function steering(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      steers.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}

function callerOf(
  program: string,
  env: Readonly<Record<string, string>>,
): Pick<ContainerEngine, 'program' | 'env' | 'call' | 'feed'> {
  const run = promisify(execFile);
  // A client that hangs may ignore SIGTERM, too.
  const options = { env, timeout: callLimitMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 } as const;
  return {
    program,
    env,
    call: (args, limitMs = callLimitMs) =>
      run(program, [...args], { ...options, timeout: limitMs }).then(({ stdout }) => stdout, failed),
    async feed([source, ...rest], args) {
      const from = spawn(source, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      const done = run(program, [...args], options);
      done.child.stdin?.on('error', () => from.kill());
      if (done.child.stdin !== null) from.stdout.pipe(done.child.stdin);
      const code = new Promise((resolve) => from.once('close', resolve));
      const { stdout } = await done.catch(failed);
      if ((await code) !== 0) throw new OperatorError(`${source} failed`);
      return stdout;
    },
  };

  function failed(error: Error & { stderr?: string; killed?: boolean }): never {
    const said = error.killed === true ? 'it does not answer' : error.stderr?.trim().split('\n').at(-1);
    throw new OperatorError(`${program}: ${said === undefined || said === '' ? error.message : said}`, {
      cause: error,
    });
  }
}
