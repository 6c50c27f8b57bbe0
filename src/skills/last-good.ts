import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../lib/json/json-values.ts';
import { hasCode } from '../lib/has-code.ts';

/** Keeps the last readable version of each skill file (F9). */
export type LastGood = Readonly<{
  /** The bytes that are kept for a file. Undefined if there are none. */
  read(path: string): Uint8Array | undefined;
  has(path: string, stamp: string): boolean;
  /** Keeps bytes in place of those before. The file is written at once, the list of files by `flush`. */
  keep(path: string, stamp: string, bytes: Uint8Array): void;
  retain(paths: ReadonlySet<string>): void;
  flush(): void;
}>;

const indexShape = z.record(z.string(), z.string());

/**
 * Keeps versions in `folder`, which is made on first use with mode 0700; files have 0600. A damaged list counts as
 * empty.
 */
export function createLastGood(folder: string): LastGood {
  const indexPath = join(folder, 'index.json');
  const stamps = new Map(Object.entries(readIndex(indexPath)));
  const fileOf = (path: string): string =>
    join(folder, `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.md`);
  let changed = false;

  const write = (path: string, data: string | Uint8Array): void => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, data, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };

  return Object.freeze({
    read: (path: string) => (stamps.has(path) ? readIfThere(fileOf(path)) : undefined),
    has: (path: string, stamp: string) => stamps.get(path) === stamp,
    keep(path: string, stamp: string, bytes: Uint8Array) {
      write(fileOf(path), bytes);
      stamps.set(path, stamp);
      changed = true;
    },
    retain(paths: ReadonlySet<string>) {
      for (const path of [...stamps.keys()]) {
        if (paths.has(path)) continue;
        rmSync(fileOf(path), { force: true });
        stamps.delete(path);
        changed = true;
      }
    },
    flush() {
      if (changed) write(indexPath, JSON.stringify(Object.fromEntries(stamps)));
      changed = false;
    },
  });
}

function readIndex(path: string): Readonly<Record<string, string>> {
  const bytes = readIfThere(path);
  if (bytes === undefined) return {};
  const parsed = indexShape.safeParse(parseJson(bytes.toString('utf8')));
  return parsed.success ? parsed.data : {};
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
