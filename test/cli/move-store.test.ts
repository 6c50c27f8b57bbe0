import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { after, test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import {
  movedTables,
  ownColumns,
  ofPostgresAlone,
  ofSqliteAlone,
} from '../../src/store/move/moved-tables.ts';
import { fillStore } from '../support/fill-store.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { until } from '../support/until.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';

const server = await startPostgres();
after(() => server?.close());
const skip = server === undefined ? noPostgres : false;
const here = (): PostgresServer => server ?? assert.fail(String(noPostgres));

const fileOf = ({ folder }: CliHome, name = 'data/skillet.db'): string => path.join(folder, name);

async function filledHome(t: TestContext): Promise<CliHome> {
  const home = await openCliHome(t);
  await home.write('config.toml', '');
  const store = await openStore(`sqlite:${fileOf(home)}`);
  await fillStore(store);
  await store.close();
  return home;
}

/** All rows of every table, sorted. */
function rowsOf(file: string): Readonly<Record<string, readonly string[]>> {
  using db = new DatabaseSync(file, { readOnly: true });
  return Object.fromEntries(
    [...movedTables(), { name: 'sqlite_sequence', columns: ['name', 'seq'] }].map(({ name, columns }) => [
      name,
      db
        .prepare(`SELECT ${columns.join(', ')} FROM ${name}`)
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  );
}

const onDatabase = (home: CliHome, url: string): Promise<string> =>
  home.write('config.toml', `[store]\nurl = "${url}"\n`);

test(
  'Q16 every table of a store is moved or named as one that its kind of store makes anew',
  { skip },
  async () => {
    const url = await here().database();
    await (await openStore(url)).close();
    const moved = movedTables();
    const rows = await here().run(
      url,
      `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'skillet'`,
    );
    const inDatabase = Map.groupBy(rows, (row) => String(row['table_name']));
    assert.deepEqual(
      [...inDatabase.keys()].filter((name) => !ofPostgresAlone.has(name)).sort(),
      moved.map(({ name }) => name).sort(),
    );
    for (const { name, columns } of moved)
      assert.deepEqual(
        (inDatabase.get(name) ?? []).map((row) => String(row['column_name'])).sort(),
        [...columns, ...(ownColumns[name] ?? [])].sort(),
        name,
      );
    for (const name of ofSqliteAlone) assert.ok(!inDatabase.has(name), name);
  },
);

test(
  'Q16 Q8 a store moves to PostgreSQL and back with every row of every table, and is searched there',
  { skip },
  async (t) => {
    const home = await filledHome(t);
    const before = rowsOf(fileOf(home));
    for (const [name, rows] of Object.entries(before)) assert.ok(rows.length > 0, `nothing in ${name}`);
    const bytes = readFileSync(fileOf(home));
    const url = await here().database();
    const there = await home.run(['move-store', '--to', '$TARGET'], { env: { TARGET: url } });
    assert.equal(there.code, 0, there.stderr);
    assert.match(there.stdout, /^ {2}entries +100 {2}[0-9a-f]{16}$/m);
    assert.match(there.stdout, /^ {2}inbox +200 {2}/m);
    assert.deepEqual(readFileSync(fileOf(home)), bytes);

    await onDatabase(home, url);
    const store = await openStore(url);
    assert.deepEqual(
      (await store.memories.search('person telegram:42', 'creme brulee', 5)).map(({ text }) => text),
      ['The Crème brûlée was burnt'],
    );
    assert.equal(await store.keyed('brief').get('later'), 'still here');
    assert.equal(await store.keyed('brief').get('soon'), undefined);
    await store.close();
    const back = await home.run(['move-store', '--to', 'back.db']);
    assert.equal(back.code, 0, back.stderr);
    const after = rowsOf(fileOf(home, 'back.db'));
    for (const [name, rows] of Object.entries(before)) assert.deepEqual(after[name], rows, name);
    const again = await openStore(`sqlite:${fileOf(home, 'back.db')}`);
    assert.equal((await again.memories.search('person telegram:42', 'creme brulee', 5)).length, 1);
    assert.equal((await again.memories.search('person telegram:42', 'line 69', 5))[0]?.text, 'line 69');
    await again.close();
    const table = (stdout: string) => stdout.split('\n').filter((line) => / {2}[0-9a-f]{16}$/.test(line));
    assert.deepEqual(table(back.stdout), table(there.stdout));
  },
);

/** Kills a move in its middle: it waits for what a transaction of ours holds, after it has written some tables. */
async function killInTheMiddle(
  { folder }: CliHome,
  { url, to, holding }: Readonly<{ url: string; to: string; holding: string }>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`BEGIN; ${holding}`);
    const child = spawn(process.execPath, [cliPath, 'move-store', '--to', to], {
      ...{ cwd: folder, env: childEnv(folder), stdio: 'ignore' },
    });
    const ended = once(child, 'exit');
    await until(async () => {
      const rows = await here().run(
        url,
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return rows.length > 0 || child.exitCode !== null;
    });
    child.kill('SIGKILL');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    await client.query('ROLLBACK');
  } finally {
    await client.end();
  }
}

test(
  'Q16 a move to PostgreSQL that is killed leaves nothing there, and the next one moves all',
  { skip },
  async (t) => {
    const home = await filledHome(t);
    const bytes = readFileSync(fileOf(home));
    const url = await here().database();
    await (await openStore(url)).close();
    const holding = 'ALTER SEQUENCE skillet.memories_seq_seq CACHE 1';
    await killInTheMiddle(home, { url, to: url, holding });
    const counts = await here().run(url, 'SELECT count(*)::int AS rows FROM skillet.entries');
    assert.deepEqual(counts, [{ rows: 0 }]);
    assert.deepEqual(readFileSync(fileOf(home)), bytes);
    const again = await home.run(['move-store', '--to', url]);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /^ {2}memories +1 {2}/m);
  },
);

test(
  'Q16 a move to a file that is killed leaves no store there, and the next one names what it left',
  { skip },
  async (t) => {
    const home = await openCliHome(t);
    const url = await here().database();
    const store = await openStore(url);
    await fillStore(store);
    await store.close();
    await onDatabase(home, url);
    const holding = 'ALTER SEQUENCE skillet.memories_seq_seq RENAME TO held';
    await killInTheMiddle(home, { url, to: 'new.db', holding });
    assert.ok(!existsSync(fileOf(home, 'new.db')));
    const again = await home.run(['move-store', '--to', 'new.db']);
    assert.equal(again.code, 0, again.stderr);
    const left = readdirSync(home.folder).find((name) => name.endsWith('.part'));
    assert.ok(
      left !== undefined && again.stdout.includes(`${left} is from a move that was killed: remove it.`),
    );
    assert.equal(rowsOf(fileOf(home, 'new.db'))['entries']?.length, 100);
  },
);

test(
  'Q16 Q9 nothing is moved while a bot uses either store, onto anything, or to the same kind of store',
  { skip },
  async (t) => {
    const home = await filledHome(t);
    const refused = async (to: string, why: RegExp, env = {}): Promise<void> => {
      const ran = await home.run(['move-store', '--to', to], { env });
      assert.equal(ran.code, 1, ran.stdout);
      assert.match(ran.stderr, why);
      assert.doesNotMatch(ran.stderr, /secret-word/);
    };
    const url = await here().database();
    const own = await openStore(`sqlite:${fileOf(home)}`);
    await refused(url, /skillet\.db is in use by process \d+\. Stop that one first/);
    await own.close();
    const used = await openStore(url);
    await refused(url, /The database of --to is in use by process \d+ on .*\. Stop every bot on it first/);
    await used.keyed('people').set('a', 1);
    await used.close();
    await refused(
      url,
      /The database of --to is not empty: there are keyed in it\. .*DROP SCHEMA skillet CASCADE/,
    );
    await refused('other.db', /Both are SQLite files: use .*backup/);
    await refused('$TARGET', /\$TARGET is not set/);
    await refused(
      'postgres://u:secret-word@127.0.0.1:1/x',
      /The database of --to can.t be used: .*ECONNREFUSED/,
    );
    const { stderr } = await home.run(['move-store']);
    assert.match(stderr, /required option '--to <target>'/);

    await onDatabase(home, url);
    const working = await openStore(url);
    await refused('new.db', /The database of \[store\] url is in use by process/);
    await working.close();
    await refused(url, /Both are PostgreSQL databases: use pg_dump/);
    await refused('data/skillet.db', /skillet\.db is there already/);
    await mkdir(path.join(home.folder, 'workspace/chats/left'), { recursive: true });
    await refused('new.db', /workspace\/chats: not empty, and files of the database go there/);
    await onDatabase(home, await here().database());
    await rm(path.join(home.folder, 'workspace'), { recursive: true });
    await refused('new.db', /holds no store, so there is nothing to move/);
    assert.ok(!existsSync(fileOf(home, 'new.db')));
  },
);
