import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export const noPooler =
  spawnSync('pgbouncer', ['--version']).status === 0 ? false : 'no PgBouncer: apt-get install pgbouncer';

/** A PgBouncer before the server of this URL. */
export type Pooler = Readonly<{
  /** The same database through it. */
  url: string;
  close(): Promise<void>;
}>;

export type PoolMode = 'session' | 'transaction' | 'statement';

/** `inTurn`: it hands out the server's sessions in turn, not the latest first. */
export async function startPooler(
  url: string,
  mode: PoolMode,
  { size = 60, inTurn = false } = {},
): Promise<Pooler> {
  const { pathname, searchParams, username } = new URL(url);
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-pooler-'));
  const config = path.join(dir, 'pgbouncer.ini');
  const settings = {
    listen_addr: '',
    unix_socket_dir: dir,
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: size,
    max_client_conn: 200,
    server_round_robin: inTurn ? 1 : 0,
  };
  writeFileSync(
    config,
    [
      '[databases]',
      `* = host=${searchParams.get('host')} user=${username}`,
      '[pgbouncer]',
      ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    ].join('\n'),
  );
  chmodSync(dir, 0o777);
  // It refuses to run as root.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn('pgbouncer', [config], { ...nobody, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  const up = Promise.withResolvers<void>();
  createInterface(child.stderr).on('line', (line) => {
    said.push(line);
    if (line.includes('process up')) up.resolve();
  });
  child.once('exit', () => up.reject(new Error(`PgBouncer did not start: ${said.join('\n')}`)));
  await up.promise;
  return {
    url: `postgres://${username}@localhost:6432${pathname}?host=${encodeURIComponent(dir)}`,
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
