import { mkdtempSync, rmSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTarWriter } from '../../src/lib/files/tar.ts';
import { openStore } from '../../src/store/open-store.ts';

export type MadeArchive = Readonly<{
  /** Text of `config.toml`. Undefined: the archive has none. */
  config?: string;
  store?: string;
  members?: Readonly<Record<string, string | Uint8Array>>;
  mode?: number;
  /** What replaces members of the head. */
  head?: object;
  /** Texts in place of the first and the last member. */
  first?: string;
  end?: string;
}>;

export const madeHead = {
  ...{ format: 1, skillet: '1.0.0', at: '2026-11-28T00:00:00Z', config: 'config.toml', store: 'none' },
} as const;

/** Writes an archive as anybody could make one: its checksum is right. Returns the file. */
export async function makeArchive(
  file: string,
  { config, store = 'none', members = {}, mode = 0o600, head, first, end }: MadeArchive = {},
): Promise<string> {
  const handle = await open(file, 'w');
  const tar = createTarWriter(handle);
  const add = (name: string, text: string | Uint8Array): Promise<void> => {
    const bytes = Buffer.from(text);
    return tar.add({ name, size: bytes.length, mode, mtimeMs: 1_000 }, [bytes]);
  };
  await add('backup.json', first ?? JSON.stringify({ ...madeHead, store, ...head }));
  if (config !== undefined) await add('config/config.toml', config);
  for (const [name, text] of Object.entries(members)) await add(name, text);
  await add('end.json', end ?? JSON.stringify({ sha256: tar.sha256() }));
  await tar.end();
  await handle.close();
  return file;
}

/** A whole store in the form in which bots use it. */
export async function storeBytes(): Promise<Buffer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-store-'));
  try {
    const file = path.join(folder, 's.db');
    const store = await openStore(`sqlite:${file}`);
    for (let n = 0; n < 100; n++) await store.keyed('people').set(`paired:telegram:${n}`, 'x'.repeat(200));
    await store.close();
    return await readFile(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same with all but its first pages destroyed. */
export function damagedStore(bytes: Buffer): Buffer {
  return Buffer.from(bytes).fill(0xff, 8_192);
}
