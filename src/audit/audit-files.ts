import { skilletHere } from '../core/skillet-here.ts';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, truncate } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { createWhole } from '../lib/files/create-whole.ts';

type AuditKey = Readonly<{
  key: Buffer;
  /** Name of the chain in the store. Each key has its own chain and head. */
  chain: string;
}>;

const lineEnd = 0x0a;

export function auditFolder(dataDir: string): string {
  return path.join(dataDir, 'audit');
}

/** Tells apart the data directories that share one store: host and path. Empty for SQLite, which has only one. */
export function auditPlace(storeUrl: string, dataDir: string): string {
  return storeUrl.startsWith('sqlite:') ? '' : `${hostname()}:${path.resolve(dataDir)}`;
}

export function auditKeyFile(dataDir: string): string {
  return path.join(dataDir, 'audit.key');
}

/**
 * Reads the key of 32 random bytes, and creates its file (0600) if missing. Throws if the file holds something else.
 */
export async function openAuditKey(dataDir: string): Promise<AuditKey> {
  const file = auditKeyFile(dataDir);
  await mkdir(auditFolder(dataDir), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) createWhole(file, `${randomBytes(32).toString('hex')}\n`);
  const written = (await readFile(file, 'utf8')).trim();
  if (!/^[0-9a-f]{64}$/.test(written))
    throw new Error(
      `${file} holds no key: move it away with the folder audit, and a new audit begins at the next start`,
    );
  const key = Buffer.from(written, 'hex');
  return { key, chain: createHash('sha256').update(key).digest('hex').slice(0, 16) };
}

/** Paths of the audit's files, oldest first. */
export async function auditFiles(dataDir: string): Promise<readonly string[]> {
  const folder = auditFolder(dataDir);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => /^\d{4}-\d\d-\d\d\.jsonl$/.test(name))
    .sort()
    .map((name) => path.join(folder, name));
}

/**
 * A sentence for the operator if lines exist whose store is gone; undefined if there are none. Call it with an empty
 * store.
 */
export async function lostStore(dataDir: string): Promise<string | undefined> {
  for (const file of await auditFiles(dataDir))
    if ((await stat(file)).size > 0)
      return `the store is empty, but ${auditFolder(dataDir)} holds the audit of an earlier one. If that store was lost, restore a backup: \`${skilletHere()} restore FILE --store-only\`. To begin with an empty store on purpose, move that folder away`;
  return undefined;
}

/** Returns the last complete line of the file, undefined if it has none. Cuts off an incomplete one after it. */
export async function lastLine(file: string): Promise<string | undefined> {
  const whole = await readFile(file);
  const end = whole.lastIndexOf(lineEnd);
  if (end + 1 < whole.length) await truncate(file, end + 1);
  if (end < 0) return undefined;
  const lines = whole.subarray(0, end);
  return lines.subarray(lines.lastIndexOf(lineEnd) + 1).toString('utf8');
}
