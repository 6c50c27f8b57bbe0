import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { createCopies } from '../src/folders/create-copies.ts';
import type { Folders } from '../src/folders/folders.ts';
import { openStore } from '../src/store/open-store.ts';

const rounds = 200;
const files = 100;
const bytesEach = 200_000;
const chat = 'chats/bench';

/** Milliseconds: each use of an unchanged folder, storing 100 files of 20 MB in all, and fetching them on an empty disk. */
export async function folderTimes(
  url: string,
): Promise<Readonly<{ unchanged: readonly number[]; stored: number; fetched: number }>> {
  const [one, other] = [await openMachine(url), await openMachine(url)];
  try {
    const stored = await timed(() =>
      one.folders.use([chat], 'changes', async () => {
        for (let n = 0; n < files; n++)
          await writeFile(path.join(one.folders.root, chat, `${n}.bin`), randomBytes(bytesEach));
      }),
    );
    const fetched = await timed(() => other.folders.use([chat], 'reads', nothing));
    const unchanged: number[] = [];
    for (let round = 0; round < rounds; round++)
      unchanged.push(await timed(() => other.folders.use([chat], 'reads', nothing)));
    return { unchanged, stored, fetched };
  } finally {
    await one.close();
    await other.close();
  }
}

async function openMachine(url: string): Promise<Readonly<{ folders: Folders; close(): Promise<void> }>> {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-bench-folders-'));
  const store = await openStore(url);
  const stored = store.files();
  if (stored === undefined) throw new Error('this store keeps no files');
  const { signals } = store;
  const onFault = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
  return {
    folders: createCopies({ files: stored, signals, root, quota: 1e9, onFault }),
    async close() {
      await store.close();
      await rm(root, { recursive: true });
    },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const nothing = async (): Promise<void> => undefined;
