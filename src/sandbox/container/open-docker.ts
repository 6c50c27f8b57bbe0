import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { OperatorError } from '../../core/errors.ts';
import { once } from '../../lib/async/mutex.ts';
import type { Log } from '../../lib/log.ts';
import { containerLabel } from './container-arguments.ts';
import { findContainerEngine, type ContainerEngine, type ContainerProgram } from './container-engine.ts';
import { followContainerImage } from './container-image.ts';
import { createDockerSandbox, type DockerOptions } from './docker.ts';
import { nodeSeen } from '../inside-sandbox.ts';
import { installedPackages } from '../packages/debian-packages.ts';
import type { Sandbox, SandboxLimits } from '../sandbox.ts';

export type ContainerSettings = Readonly<{
  engine?: ContainerProgram | undefined;
  image?: string | undefined;
  folder: string;
}>;

/**
 * Opens the sandbox. It tries a container, which has to see this machine's folders, and removes what a killed bot left.
 * Throws OperatorError with the fix.
 */
export async function openDockerSandbox(options: {
  containers: ContainerSettings;
  limits: SandboxLimits;
  rootfs(): string | undefined;
  wayOut: DockerOptions['wayOut'] & object;
  log: Log;
}): Promise<Sandbox> {
  const { containers, limits, rootfs, wayOut, log } = options;
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (process.platform !== 'linux' || uid === undefined || gid === undefined)
    throw new OperatorError('[sandbox] mode = "docker" needs Linux: write "virtual"');
  if (uid === 0)
    throw new OperatorError(
      '[sandbox] mode = "docker" does not run as root, as commands would be root on this machine, too: start the bot as an ordinary user (of the group docker, or with podman), or write mode = "auto"',
    );
  const found = await findContainerEngine({ wanted: containers.engine, uid, gid, env: process.env });
  if (!found.ok)
    throw new OperatorError(
      `[sandbox] mode = "docker": ${found.why.join('; ')}. Install and start docker or podman, or write mode = "auto".`,
    );
  const { engine } = found;
  await sweep(engine, Date.now());
  const { image: name, folder } = containers;
  const image = followContainerImage({ engine, name, rootfs, log });
  await image.current();
  const onUnseen = once(() =>
    log.warn(
      { sandbox: 'docker', engine: engine.name },
      'the processes of this engine can not be seen from here: it limits memory and processes, and the bot watches the disk alone, not their processor time together',
    ),
  );
  const made = { engine, image, limits, folder, wayOut, onUnseen };
  const seen = await look(made).catch((error: unknown) => {
    if (error instanceof OperatorError) throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`[sandbox] mode = "docker": a command could not be run: ${said}`, {
      cause: error,
    });
  });
  if (!engine.limits.memory || !engine.limits.pids)
    log.warn(
      { sandbox: 'docker', engine: engine.name },
      'this engine does not limit memory and processes by itself here: they are watched, and a command is ended when it uses too much',
    );
  log.info(
    { sandbox: 'docker', engine: engine.name, image: name ?? 'of the root file system', node: seen.node },
    `scripts run in containers of ${engine.name}${seen.node ? '' : "; the bot's own node does not run in their image, so that they reach no network"}`,
  );
  return createDockerSandbox({
    ...made,
    node: seen.node,
    installed: name === undefined ? undefined : seen.installed,
  });
}

async function look(
  made: Omit<DockerOptions, 'node'>,
): Promise<Readonly<{ node: boolean; installed: ReadonlySet<string> }>> {
  mkdirSync(made.folder, { recursive: true, mode: 0o700 });
  const scratch = mkdtempSync(path.join(made.folder, 'probe-'));
  const sandbox = createDockerSandbox({ ...made, node: true });
  try {
    const nonce = randomUUID();
    writeFileSync(path.join(scratch, 'nonce'), nonce);
    const script = `cat nonce; echo; ${nodeSeen} -p 6*7 2>/dev/null || echo no; cat /var/lib/dpkg/status 2>/dev/null; :`;
    const outcome = await sandbox.run({
      argv: ['sh', '-c', script],
      scratch,
      network: [],
      env: {},
      timeoutMs: 60_000,
      outputCap: 30_000_000,
      signal: new AbortController().signal,
    });
    if (outcome.status !== 'exited')
      throw new OperatorError(
        `[sandbox] mode = "docker": a command could not be run (${outcome.status === 'stopped' ? outcome.reason : outcome.message})`,
      );
    const [said, node] = outcome.stdout.split('\n');
    if (said !== nonce)
      throw new OperatorError(
        `[sandbox] mode = "docker": ${made.engine.name} does not see the folders of this machine: the engine has to run on it, and [bot] data_dir and workspace have to be where it finds them`,
      );
    return { node: node === '42', installed: installedPackages(outcome.stdout) };
  } finally {
    await sandbox.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function sweep(engine: ContainerEngine, now: number): Promise<void> {
  const ours = ['--filter', `label=${containerLabel}`];
  const listed = await engine.call(['ps', '--all', '--quiet', '--no-trunc', ...ours]);
  for (const id of listed.split('\n').filter(Boolean)) {
    const format = `{{index .Config.Labels "${containerLabel}"}}`;
    const until = await engine
      .call(['inspect', '--type', 'container', '--format', format, id])
      .catch(() => '');
    if (until.trim() !== '' && Number(until) < now) await engine.call(['rm', '--force', id]);
  }
}
