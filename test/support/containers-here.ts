import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import {
  containerPrograms,
  findContainerEngine,
  type ContainerEngine,
} from '../../src/sandbox/container/container-engine.ts';
import { followContainerImage, type ContainerImage } from '../../src/sandbox/container/container-image.ts';
import { copySystem } from './copy-system.ts';
import { quietLog } from './quiet-log.ts';

type ContainersHere = Readonly<
  | { engine: ContainerEngine; image: ContainerImage; skip: false }
  | { engine?: never; image?: never; skip: string }
>;

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

/**
 * The container engine of this machine, or why tests that need one are skipped, with an image of a few programs of this
 * system, which is removed after the tests of the file. `SKILLET_TEST_ENGINE` names one of the engines.
 */
export async function openContainersHere(): Promise<ContainersHere> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (process.platform !== 'linux') return { skip: 'containers need Linux' };
  const wanted = containerPrograms.find((name) => name === process.env['SKILLET_TEST_ENGINE']);
  const found = await findContainerEngine({ wanted, uid, gid, env: process.env });
  if (!found.ok) return { skip: found.why.join('; ') };
  const { engine } = found;
  const image = await imageForTests(engine);
  try {
    const simplest = [
      'run',
      '--rm',
      '--network',
      'none',
      ...engine.own,
      await image.current(),
      '/bin/sh',
      '-c',
      ':',
    ];
    await engine.call(simplest);
  } catch (error) {
    if (error instanceof OperatorError) return { skip: `no container runs here: ${error.message}` };
    throw error;
  }
  return { engine, image, skip: false };
}

async function imageForTests(engine: ContainerEngine): Promise<ContainerImage> {
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
