import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { Channel } from '../../../src/core/channel.ts';
import { noMeter } from '../../../src/core/meter.ts';
import { createHooks, type HookDeps, type Hooks } from '../../../src/features/hooks/receive-hook.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { partOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { bearer, hookTable, post, type Sent } from '../../support/send-event.ts';
import { unmovedChats } from '../../support/unmoved-chats.ts';
import type { ChatMigrations } from '../../../src/access/chat-migrations.ts';
import type { Users } from '../../../src/access/users.ts';

type Here = Readonly<{
  hooks: Hooks;
  store: Store;
  clock: ReturnType<typeof createManualClock>;
  /** Outcomes in the audit. */
  audited: readonly string[];
  /** Without an id only the body tells a repeat. */
  send(name: string, id?: string, body?: string): Promise<Sent>;
}>;

const place = { as: 'telegram:42', conversation: 'telegram:-7' };

const channelWith = (lookUpChat: Channel['lookUpChat']) =>
  new Map([['telegram', partOf<Channel>({ lookUpChat })]]);

async function openHooks(
  t: TestContext,
  { migrations = unmovedChats, ...more }: Partial<Pick<HookDeps, 'channels' | 'users' | 'migrations'>> = {},
): Promise<Here> {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const parsed = parseConfig(hookTable(place) + hookTable({ ...place, name: 'other' }), { env: {} });
  assert.ok(parsed.ok);
  const { hooks: all } = parsed.config;
  const audited: string[] = [];
  const hooks = createHooks({
    store,
    audit: { record: async (event) => void ('outcome' in event && audited.push(String(event.outcome))) },
    migrations,
    meter: noMeter,
    clock,
    log: quietLog(),
    hooks: () => all,
    bodies: store.keyed('hooks'),
    users: {
      ...partOf<Users>({ decide: async () => ({ allowed: true }), languageOf: async () => undefined }),
      known: async () => undefined,
    },
    channels: channelWith(async () => ({ chatType: 'group', external: false })),
    replies: partOf({ tellOwners: async () => undefined }),
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
  const send = (name: string, id?: string, body = 'alarm') =>
    post(`http://127.0.0.1:${port}/${name}`, body, {
      ...bearer,
      ...(id === undefined ? {} : { 'webhook-id': id }),
    });
  return { hooks, store, clock, audited, send };
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
    channels: channelWith(async () => ({ chatType: known.type, external: false })),
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

test('N7 L6 of what is refused the audit has a line an hour and outcome, of what is accepted each', async (t) => {
  const { hooks, clock, audited, send } = await openHooks(t);
  hooks.start();
  const forged = async (): Promise<void> => {
    assert.equal((await send('ci', 'x'.repeat(201))).status, 401);
  };
  for (let n = 0; n < 3; n++) await forged();
  for (const id of ['a', 'b', 'b', 'b']) await send('ci', id);
  assert.deepEqual(audited, ['forged', 'accepted', 'accepted', 'repeated']);
  await clock.advance(3_600_000);
  await forged();
  assert.deepEqual(audited.slice(4), ['forged']);
});

test('N7 the same body without an id is a repeat of its hook for five minutes, then heard again', async (t) => {
  // Stored keys expire by the machine's clock.
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) });
  const { hooks, clock, send } = await openHooks(t);
  hooks.start();
  const statusAfter = async (ms: number, name = 'ci', body = 'alarm'): Promise<number> => {
    t.mock.timers.setTime(Date.now() + ms);
    await clock.advance(ms);
    return (await send(name, undefined, body)).status;
  };
  assert.equal(await statusAfter(0), 202);
  assert.equal(await statusAfter(0, 'ci', 'another alarm'), 202);
  assert.equal(await statusAfter(299_999), 200);
  assert.equal(await statusAfter(0, 'other'), 202);
  assert.equal(await statusAfter(1), 202);
  assert.equal(await statusAfter(0, 'other'), 200);
});

test('N7 Q1 a stop waits until an event under way is stored', async (t) => {
  const { promise: looked, resolve: look } = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { hooks, store, send } = await openHooks(t, {
    channels: channelWith(async () => {
      asked.resolve();
      await looked;
      return { chatType: 'group', external: false };
    }),
  });
  hooks.start();
  const sent = send('ci', 'n1');
  await asked.promise;
  const stored = hooks.stop().then(() => store.inbox.list('waiting'));
  await new Promise(setImmediate);
  look();
  assert.equal((await stored).length, 1);
  assert.equal((await sent).status, 202);
});

test('N7 A6 A13 an event is judged with what is known of groups by then, and goes where its chat is now', async (t) => {
  let isKnown = false;
  const { hooks, store, send } = await openHooks(t, {
    migrations: partOf<ChatMigrations>({
      current: async (conversation) => ({ ...conversation, chat: '-1007' }),
    }),
    users: {
      async known() {
        isKnown = true;
      },
      ...partOf<Users>({
        decide: async () =>
          isKnown ? { allowed: true } : { allowed: false, code: 'OUTSIDER', reason: 'not yet known' },
        languageOf: async () => undefined,
      }),
    },
  });
  hooks.start();
  assert.equal((await send('ci', 'n1')).status, 202);
  const [item] = await store.inbox.list('waiting');
  assert.equal(item?.message?.conversation.chat, '-1007');
});

test('N7 Q1 while 50 messages wait in its conversation an event is told to come in a minute', async (t) => {
  const { hooks, store, send } = await openHooks(t);
  hooks.start();
  for (let n = 0; n < 50; n += 1) assert.equal((await send('ci', `n${n}`)).status, 202);
  const { status, retryAfter } = await send('ci', 'n50');
  assert.deepEqual([status, retryAfter], [429, '60']);
  assert.equal((await store.inbox.list('waiting')).length, 50);
});
