import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { lookAtStore } from '../../src/store/look-at-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';

const look = { namespace: 'people', mine: false, withinMs: 60_000 };

test('L2 a store is looked at without being made: SQLite', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-look-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'sub/skillet.db');
  assert.deepEqual(await lookAtStore(`sqlite:${file}`, look), { state: 'absent' });
  assert.equal(existsSync(path.dirname(file)), false);
  const store = await openStore(`sqlite:${file}`);
  await store.keyed('people').set('owner:telegram:7', true);
  await store.keyed('pairing').set('other', true);
  assert.deepEqual(await lookAtStore(`sqlite:${file}`, { ...look, mine: true }), {
    state: 'ready',
    keys: ['owner:telegram:7'],
  });
  await store.close();
});

test('L2 a store is looked at without being made: PostgreSQL', async (t) => {
  const server = await startPostgres();
  if (server === undefined) return t.skip(noPostgres);
  t.after(() => server.close());
  const url = await server.database();
  assert.deepEqual(await lookAtStore(url, look), { state: 'absent' });
  assert.deepEqual(await server.run(url, "SELECT 1 FROM pg_tables WHERE schemaname LIKE 'skillet%'"), []);
  const store = await openStore(url);
  await store.keyed('people').set('owner:telegram:7', true);
  await store.close();
  assert.deepEqual(await lookAtStore(url, look), { state: 'ready', keys: ['owner:telegram:7'] });
  await server.run(url, 'UPDATE skillet.schema_version SET version = 999, readable_from = 999');
  const newer = await lookAtStore(url, look);
  assert.match(newer.state === 'unusable' ? newer.why : '', /written by a newer Skillet/);
  const late = await lookAtStore(url, { ...look, withinMs: 0 });
  assert.equal(late.state, 'unusable');
  await server.stop('fast');
  assert.equal((await lookAtStore(url, look)).state, 'unusable');
});
