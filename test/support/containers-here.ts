import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import {
  containerPrograms,
  findContainerEngine,
  type ContainerEngine,
} from '../../src/sandbox/container/container-engine.ts';
import { followContainerImage, type ContainerImage } from '../../src/sandbox/container/container-image.ts';
import { copySystem } from './copy-system.ts';
import { quietLog } from './quiet-log.ts';

/** `SKILLET_TEST_ENGINE` names one of them. */
const wanted = containerPrograms.find((name) => name === process.env['SKILLET_TEST_ENGINE']);
const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
const found =
  process.platform !== 'linux'
    ? { ok: false as const, why: ['containers need Linux'] }
    : uid === 0
      ? { ok: false as const, why: ['containers are not run as root: run this as an ordinary user'] }
      : await findContainerEngine({ wanted, uid, gid, env: process.env });

/** The container engine of this machine, or why tests that need one are skipped. */
export const containersHere: Readonly<{ engine?: ContainerEngine; skip: string | false }> = found.ok
  ? { engine: found.engine, skip: false }
  : { skip: found.why.join('; ') };

const programs = [
  ...[
    'sh',
    'bash',
    'awk',
    'cat',
    'cp',
    'mv',
    'rm',
    'ln',
    'ls',
    'chmod',
    'touch',
    'mkdir',
    'head',
    'grep',
    'find',
  ],
  ...['tee', 'wc', 'sleep', 'env', 'printenv', 'id', 'hostname', 'whoami'],
];

/** An image with a few programs of this system; all of it is gone after the tests of the file. */
export async function imageForTests(engine: ContainerEngine): Promise<ContainerImage> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-image-'));
  const rootfs = path.join(folder, 'tree');
  await copySystem(rootfs, programs, [process.execPath]);
  const image = followContainerImage({ engine, rootfs: () => rootfs, log: quietLog() });
  after(async () => {
    await engine.call(['image', 'rm', '--force', await image.current()]);
    await rm(folder, { recursive: true, force: true });
  });
  return image;
}
