import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { noMeter } from '../../src/core/meter.ts';
import { createHooks, type HookDeps, type Hooks } from '../../src/hooks/receive-hook.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { bearer, hookTable, post, type Sent } from '../support/send-event.ts';

type Here = Readonly<{
  hooks: Hooks;
  store: Store;
  clock: ReturnType<typeof createManualClock>;
  send(name: string, id: string): Promise<Sent>;
}>;

const place = { as: 'telegram:42', conversation: 'telegram:-7' };

async function openHooks(t: TestContext, more: Partial<Pick<HookDeps, 'channels'>> = {}): Promise<Here> {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const parsed = parseConfig(hookTable(place) + hookTable({ ...place, name: 'other' }), { env: {} });
  assert.ok(parsed.ok);
  const { hooks: all } = parsed.config;
  const hooks = createHooks({
    host: {
      store,
      audit: { record: async () => undefined },
      migrations: { current: async (conversation) => conversation },
      meter: noMeter,
      clock,
      log: quietLog(),
    },
    hooks: () => all,
    bodies: store.keyed('hooks'),
    users: {
      decide: async () => ({ allowed: true }),
      languageOf: async () => undefined,
      known: async () => undefined,
    },
    channels: new Map([['telegram', { lookUpChat: async () => ({ chatType: 'group', external: false }) }]]),
    replies: { tellOwners: async () => undefined },
    ...more,
  });
  const server = createServer((request, response) => {
    void hooks.receive((request.url ?? '').slice(1), request).then(({ status, body, retryAfter }) => {
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.writeHead(status).end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    await store.close();
  });
  const { port } = server.address() as AddressInfo;
  const send = (name: string, id: string) =>
    post(`http://127.0.0.1:${port}/${name}`, 'alarm', { ...bearer, 'webhook-id': id });
  return { hooks, store, clock, send };
}

test('N7 60 events a minute and hook are taken, though nothing waits; repeats do not count', async (t) => {
  const { hooks, store, clock, send } = await openHooks(t);
  hooks.start();
  for (let event = 0; event < 60; event += 1) {
    assert.equal((await send('ci', `n${event}`)).status, 202);
    await store.inbox.drop(`hook:ci:n${event}`);
    await clock.advance(500);
  }
  const full = await send('ci', 'n60');
  assert.deepEqual([full.status, full.retryAfter], [429, '30']);
  assert.equal((await send('ci', 'n0')).status, 200);
  assert.equal((await send('other', 'n60')).status, 202);
  await clock.advance(30_001);
  assert.equal((await send('ci', 'n60')).status, 202);
});

test('N7 Q1 before the start, while a platform or the store is away, and at the stop an event is 503 and not kept', async (t) => {
  const known = { type: 'unknown' as 'unknown' | 'group' };
  const { hooks, store, send } = await openHooks(t, {
    channels: new Map([
      ['telegram', { lookUpChat: async () => ({ chatType: known.type, external: false }) }],
    ]),
  });
  const refused = async (): Promise<void> => {
    const { status, retryAfter } = await send('ci', 'n1');
    assert.deepEqual([status, retryAfter], [503, '30']);
  };
  await refused();
  hooks.start();
  await refused();
  known.type = 'group';
  await hooks.stop();
  await refused();
  assert.deepEqual(await store.inbox.list('waiting'), []);
  hooks.start();
  assert.equal((await send('ci', 'n1')).status, 202);
  await store.close();
  await refused();
});
