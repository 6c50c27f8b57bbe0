import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../lib/json/json-values.ts';

const manifestShape = z.object({
  version: z.literal(1),
  /** Name of the tree's folder beside the manifest. */
  tree: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  /** `recipeHash` of what it was built by. */
  recipe: z.string(),
  suite: z.string(),
  tool: z.string(),
  /** Milliseconds since 1970. */
  builtAt: z.number(),
  asked: z.array(z.object({ name: z.string(), skills: z.array(z.string()) })),
  /** Names of all that is installed in it, and of what that provides. */
  installed: z.array(z.string()),
  bytes: z.number(),
});

/** What a built root file system is, as it stands in `manifest.json`: replacing that file is what switches trees. */
export type RootManifest = z.output<typeof manifestShape>;

export type RootFileSystem = Readonly<{
  manifest: RootManifest;
  /** Absolute path of the tree. */
  path: string;
  installed: ReadonlySet<string>;
}>;

/** Where root file systems are kept: `<data_dir>/rootfs`. */
export function rootFolder(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'rootfs');
}

export const manifestName = 'manifest.json';

/**
 * Gives the root file system that is to be used now; undefined if none was built, or its manifest can't be read. A build
 * counts from the next call on: a call costs one look at the manifest's times while nothing changed.
 */
export function followRootFileSystem(folder: string): () => RootFileSystem | undefined {
  const file = path.join(folder, manifestName);
  let seen: string | undefined;
  let current: RootFileSystem | undefined;
  return () => {
    const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
    const now = stat === undefined ? undefined : `${stat.ino}:${stat.mtimeNs}:${stat.size}`;
    if (now !== seen) {
      seen = now;
      current = now === undefined ? undefined : read(folder, file);
    }
    return current;
  };
}

function read(folder: string, file: string): RootFileSystem | undefined {
  // What was not written by us is like no manifest at all, and replaced by the next build.
  const parsed = manifestShape.safeParse(parseJson(readFileSync(file, 'utf8')));
  if (!parsed.success) return undefined;
  const tree = path.join(folder, parsed.data.tree);
  if (statSync(tree, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  return { manifest: parsed.data, path: tree, installed: new Set(parsed.data.installed) };
}
