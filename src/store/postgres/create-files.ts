import type { FolderChange, StoredFile, StoredFiles } from '../stored-files.ts';
import type { PostgresParts } from './create-postgres-store.ts';
import { DatabaseFault, type Query } from './open-database.ts';

const hour = 3_600_000;
const day = 24 * hour;
/** How many rows one sweep reads at a time. */
const page = 1_000;

type FileRow = Omit<StoredFile, 'path' | 'chunks'> &
  Readonly<{ version: string; path: string | null; chunks: string | null }>;

const readAll = `SELECT d.version::text AS version, f.path, f.kind, f.executable, f.size, f.changed_at AS "changedAt", f.target,
    (SELECT string_agg(encode(c.chunk, 'hex'), ',' ORDER BY c.place) FROM skillet.file_chunks AS c
      WHERE c.folder = f.folder AND c.path = f.path) AS chunks
  FROM skillet.folders AS d LEFT JOIN skillet.files AS f ON f.folder = d.name`;
const ofGroup = `name >= $1 || '/' AND name < $1 || '0'`;

type FilesBacking = Pick<PostgresParts, 'leases' | 'clock'> &
  Readonly<{ database: Pick<PostgresParts['database'], 'query'> }>;

/** Keeps folders in the database, through which their contents reach other processes (Q14). */
export function createFiles({ database, leases, clock }: FilesBacking): StoredFiles {
  const { query } = database;
  return {
    async versions(folders) {
      const { rows } = await query<Readonly<{ name: string; version: string; usedAt: number }>>(
        'SELECT name, version::text AS version, used_at AS "usedAt" FROM skillet.folders WHERE name = ANY ($1)',
        [folders],
      );
      const old = rows.filter(({ usedAt }) => usedAt < clock.now() - hour).map(({ name }) => name);
      if (old.length > 0)
        await query('UPDATE skillet.folders SET used_at = $2 WHERE name = ANY ($1)', [old, clock.now()]);
      return new Map(rows.map(({ name, version }) => [name, version]));
    },
    async read(folder, paths) {
      const { rows } =
        paths === undefined
          ? await query<FileRow>(`${readAll} WHERE d.name = $1 ORDER BY f.path`, [folder])
          : await query<FileRow>(`${readAll} AND f.path = ANY ($2) WHERE d.name = $1`, [folder, paths]);
      const version = rows[0]?.version;
      return version === undefined ? undefined : { version, files: rows.flatMap(toFile) };
    },
    async write(change) {
      const { rows } = await leases.fencedQuery<Readonly<{ before: string | null; after: string }>>(
        query,
        `SELECT * FROM skillet.write_files(${Array.from({ length: 17 }, (_, n) => `$${n + 1}`).join(', ')})`,
        valuesOf(change, clock.now()),
      );
      const [versions] = rows;
      if (versions === undefined) throw new Error('the database did not say which version it wrote');
      return { before: versions.before ?? undefined, after: versions.after };
    },
    ...createChunks(query, clock.now),
    ...createKeeping(query, clock.now),
  };
}

function createChunks(query: Query, now: () => number) {
  return {
    async missing(chunks) {
      const { rows } = await query<Readonly<{ hash: string }>>(
        `WITH there AS (SELECT hash FROM skillet.chunks
           WHERE hash IN (SELECT decode(h, 'hex') FROM unnest($1::text[]) AS h) ORDER BY hash FOR NO KEY UPDATE)
         UPDATE skillet.chunks AS c SET used_at = $2 FROM there WHERE c.hash = there.hash
         RETURNING encode(c.hash, 'hex') AS hash`,
        [chunks, now()],
      );
      const there = new Set(rows.map(({ hash }) => hash));
      return chunks.filter((hash) => !there.has(hash));
    },
    async put(chunk, bytes) {
      await query(
        `INSERT INTO skillet.chunks (hash, bytes, used_at) VALUES (decode($1, 'hex'), $2, $3)
         ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at`,
        [chunk, bytes, now()],
      );
    },
    async get(chunks) {
      const { rows } = await query<Readonly<{ hash: string; bytes: Buffer }>>(
        `SELECT encode(hash, 'hex') AS hash, bytes FROM skillet.chunks
         WHERE hash IN (SELECT decode(h, 'hex') FROM unnest($1::text[]) AS h)`,
        [chunks],
      );
      const found = new Map(rows.map(({ hash, bytes }) => [hash, bytes]));
      return chunks.map((hash) => found.get(hash));
    },
  } satisfies Partial<StoredFiles>;
}

type Keeping = Omit<StoredFiles, 'versions' | 'read' | 'write' | 'missing' | 'put' | 'get'>;

function createKeeping(query: Query, now: () => number): Keeping {
  return {
    async size(folders) {
      const { rows } = await query<Readonly<{ size: number }>>(
        'SELECT coalesce(sum(size), 0)::bigint AS size FROM skillet.files WHERE folder = ANY ($1)',
        [folders],
      );
      return rows[0]?.size ?? 0;
    },
    async list(group) {
      const { rows } = await query<Readonly<{ name: string }>>(
        `SELECT name FROM skillet.folders WHERE ${ofGroup} ORDER BY name`,
        [group],
      );
      return rows.map(({ name }) => name);
    },
    async touch(folder, path) {
      await query(
        'UPDATE skillet.files SET used_at = $3 WHERE folder = $1 AND path = $2 AND used_at < $3 - $4::bigint',
        [folder, path, now(), day],
      );
    },
    async uses(group) {
      const { rows } = await query<Readonly<{ folder: string; path: string; usedAt: number }>>(
        `SELECT folder, path, used_at AS "usedAt" FROM skillet.files
         WHERE folder = $1 OR (folder >= $1 || '/' AND folder < $1 || '0') ORDER BY folder, path`,
        [group],
      );
      return rows;
    },
    async remove(folders) {
      await query('DELETE FROM skillet.folders WHERE name = ANY ($1)', [folders]);
    },
    async removeFiles(folder, paths, before = Number.MAX_SAFE_INTEGER) {
      await query(
        `WITH gone AS (DELETE FROM skillet.files WHERE folder = $1 AND path = ANY ($2) AND changed_at < $3 RETURNING 1)
         UPDATE skillet.folders SET version = gen_random_uuid() WHERE name = $1 AND EXISTS (SELECT 1 FROM gone)`,
        [folder, paths, before],
      );
    },
    async removeUnused(folders, before) {
      const { rows } = await query<Readonly<{ name: string }>>(
        'DELETE FROM skillet.folders WHERE name = ANY ($1) AND used_at < $2 RETURNING name',
        [folders, before],
      );
      return rows.map(({ name }) => name);
    },
  };
}

/** Removes chunks that no file has had for an hour (Q14). */
export async function sweepChunks({ database: { query }, clock }: PostgresParts): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const { rows }: Awaited<ReturnType<typeof nextPage>> = await nextPage(query, after);
    after = rows.length < page ? undefined : rows.at(-1)?.hash;
    const hashes = rows.map(({ hash }) => hash);
    await query(
      `DELETE FROM skillet.chunks AS c WHERE hash IN (SELECT decode(h, 'hex') FROM unnest($1::text[]) AS h)
         AND used_at < $2 AND NOT EXISTS (SELECT 1 FROM skillet.file_chunks AS f WHERE f.chunk = c.hash)`,
      [hashes, clock.now() - hour],
    ).catch(unlessTaken);
  }
}

async function nextPage(
  query: Query,
  after: string,
): Promise<Readonly<{ rows: readonly Readonly<{ hash: string }>[] }>> {
  return query<Readonly<{ hash: string }>>(
    `SELECT encode(hash, 'hex') AS hash FROM skillet.chunks AS c WHERE hash > decode($1, 'hex')
       ORDER BY c.hash LIMIT ${page}`,
    [after],
  );
}

/** If a file got one of the chunks meanwhile, all of this page stay until the next sweep. */
function unlessTaken(error: unknown): void {
  if (!isForeignKey(error)) throw error;
}

function isForeignKey(error: unknown): boolean {
  return error instanceof DatabaseFault && error.code === '23503';
}

function toFile({ version: _, path, chunks, ...row }: FileRow): readonly StoredFile[] {
  if (path === null) return [];
  return [{ ...row, path, chunks: chunks === null ? [] : chunks.split(',') }];
}

function valuesOf({ folder, set, removed, onlyNew = false }: FolderChange, now: number): readonly unknown[] {
  const above = new Set(set.flatMap(({ path }) => foldersAbove(path)));
  return [
    folder,
    now,
    onlyNew,
    removed,
    [...above],
    set.map(({ path }) => path),
    set.map(({ kind }) => kind),
    set.map(({ executable }) => executable),
    set.map(({ size }) => size),
    set.map(({ changedAt }) => changedAt),
    set.map(({ target }) => target),
    set.flatMap(({ chunks }, n) => chunks.map(() => n + 1)),
    set.flatMap(({ chunks }) => chunks),
  ];
}

function foldersAbove(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, n) => names.slice(0, n + 1).join('/'));
}
