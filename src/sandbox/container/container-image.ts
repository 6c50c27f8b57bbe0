import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { ContainerEngine } from './container-engine.ts';
import { hasProgram, searchedFolders } from '../inside-sandbox.ts';
import { skilletHere } from '../../core/skillet-here.ts';

export type ContainerImage = Readonly<{
  /** The id of the image. Throws OperatorError if there is none. */
  current(): Promise<string>;
  /** Called when the image is gone, so that it is looked for again. */
  forget(): void;
}>;

/**
 * The image of commands: `name`, which is never pulled, or the current tree, which is imported when it is first used
 * (R6). Images of old trees are removed.
 */
export function followContainerImage(options: {
  engine: ContainerEngine;
  name?: string | undefined;
  rootfs(): string | undefined;
  log: Log;
}): ContainerImage {
  const { engine, name, rootfs, log } = options;
  let seen: Readonly<{ tree: string | undefined; id: Promise<string> }> | undefined;
  const forget = (): void => (seen = undefined);
  return {
    current() {
      const tree = name === undefined ? rootfs() : undefined;
      if (seen === undefined || seen.tree !== tree) {
        const id = name === undefined ? ofTree(tree) : named(name);
        id.catch(forget);
        seen = { tree, id };
      }
      return seen.id;
    },
    forget,
  };

  async function named(image: string): Promise<string> {
    const found = await look(engine, image);
    if (found === undefined)
      throw new OperatorError(
        `[sandbox] image = "${image}" is not on this machine, and images are not fetched by themselves: ${engine.program} pull ${image}`,
      );
    if (found.volumes.length > 0)
      throw new OperatorError(
        `[sandbox] image = "${image}" declares the volume ${found.volumes.join(', ')}, which commands could fill without a limit: use an image without`,
      );
    return found.id;
  }

  async function ofTree(tree: string | undefined): Promise<string> {
    if (tree === undefined)
      throw new OperatorError(
        `[sandbox] mode = "docker" needs an image: "${skilletHere()} sandbox build" makes one with what skills need, or name one that is on this machine, such as [sandbox] image = "debian:bookworm-slim"`,
      );
    const repository = `localhost/skillet-root-${digest(path.dirname(tree))}`;
    const tag = path.basename(tree);
    const found = await look(engine, `${repository}:${tag}`);
    if (found !== undefined) return found.id;
    log.info({ sandbox: 'docker', tree }, 'the root file system becomes an image');
    await importTree(engine, tree, `${repository}:${tag}`);
    const imported = await look(engine, `${repository}:${tag}`);
    if (imported === undefined)
      throw new OperatorError(`${engine.program} has not kept the image ${repository}:${tag}`);
    await removeOthers(engine, repository, tag, log);
    return imported.id;
  }
}

/**
 * Imports a tree, owned by root and without the mount points of containers. `python` is python3 unless the tree has
 * one.
 */
async function importTree(engine: ContainerEngine, tree: string, name: string): Promise<void> {
  const left = ['skill', 'scratch', 'chat', 'packages'].map((each) => `--exclude=./${each}`);
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const more = await mkdtemp(path.join(tmpdir(), 'skillet-import-'));
  try {
    const python = 'usr/local/bin/python';
    await mkdir(path.join(more, path.dirname(python)), { recursive: true });
    await symlink('/usr/bin/python3', path.join(more, python));
    const named = hasProgram(tree, searchedFolders, 'python') ? [] : [`--directory=${more}`, `./${python}`];
    const tar = ['tar', '--create', ...owner, ...left, `--directory=${tree}`, '.', ...named] as const;
    await engine.feed(tar, ['import', '-', name]);
  } finally {
    await rm(more, { recursive: true });
  }
}

async function look(
  engine: ContainerEngine,
  image: string,
): Promise<Readonly<{ id: string; volumes: readonly string[] }> | undefined> {
  const text = await engine
    .call(['image', 'inspect', '--format', '{{.Id}} {{json .Config.Volumes}}', image])
    .catch((error: unknown) => {
      if (isNoImage(error)) return undefined;
      throw error;
    });
  if (text === undefined) return undefined;
  const [id = '', ...volumes] = text.trim().split(' ');
  const declared = JSON.parse(volumes.join(' ')) as Record<string, unknown> | null;
  return { id, volumes: Object.keys(declared ?? {}) };
}

export function isNoImage(error: unknown): boolean {
  return /no such image|image not known|does not exist in local/i.test(
    error instanceof Error ? error.message : String(error),
  );
}

async function removeOthers(
  engine: ContainerEngine,
  repository: string,
  kept: string,
  log: Log,
): Promise<void> {
  const listed = await engine.call([
    ...['image', 'ls', '--format', '{{.Tag}}', '--filter', `reference=${repository}`],
  ]);
  for (const tag of listed.trim().split('\n')) {
    if (tag === '' || tag === kept) continue;
    await engine.call(['image', 'rm', `${repository}:${tag}`]).catch((error: unknown) => {
      log.info({ image: `${repository}:${tag}`, error: String(error) }, 'could not remove an old image');
    });
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
