import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { openHealth } from '../../src/operator/health/open-health.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { openCliHome } from '../support/run-cli.ts';

test('L4 B3 without [server] listen nothing listens and the library of metrics is not even loaded', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const { cache } = createRequire(import.meta.url);
  const loaded = (): boolean => Object.keys(cache).some((file) => file.includes('prom-client'));
  const parts = { store, clock: createManualClock(), log: quietLog() };
  const off = await openHealth(parts);
  assert.equal(await off.serve({ redact: (text) => text, servers: () => ({}) }), undefined);
  assert.equal(loaded(), false);
  const on = await openHealth({ ...parts, listen: '127.0.0.1:0' });
  const server = await on.serve({ redact: (text) => text, servers: () => ({}) });
  assert.match(server?.url ?? '', /^http:\/\/127\.0\.0\.1:\d+$/);
  await server?.close();
  assert.equal(loaded(), true);
});

test('L4 an address that cannot be listened on ends the start with what to write', async (t) => {
  const { write, run } = await openCliHome(t);
  await write(
    'config.toml',
    '[telegram]\ntoken = "123456789:AAtestTokenOfTheStrictServer_0123456"\napi_root = "http://127.0.0.1:9"\n[server]\nlisten = "192.0.2.1:9464"\n',
  );
  const { code, stderr } = await run(['start']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /server\.listen is 192\.0\.2\.1:9464: this machine has no such address\. Write a free/,
  );
});
