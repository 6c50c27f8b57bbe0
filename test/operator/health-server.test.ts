import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { openMetrics, createVitals, type Vitals } from '../../src/operator/health/open-metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { serveHealth } from '../../src/operator/health/serve-health.ts';
import type { StoreState } from '../../src/operator/health/store-health.ts';
import type { Meter } from '../../src/core/meter.ts';
import { request } from '../../src/lib/net/node-http.ts';
import type { Backlog } from '../../src/store/store.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { quietLog, type QuietLog } from '../support/quiet-log.ts';

type Served = Readonly<{
  url: string;
  vitals: Vitals;
  meter: Meter;
  clock: ManualClock;
  log: QuietLog;
  now: { store: StoreState; data?: string; backlog: Backlog | undefined };
}>;

async function serve(t: TestContext, channels: readonly string[] = ['telegram']): Promise<Served> {
  const clock = createManualClock();
  const log = quietLog();
  const now: Served['now'] = {
    store: { ok: true },
    backlog: { inboxWaiting: 3, inboxDead: 1, outboxWaiting: 2 },
  };
  const vitals = createVitals({ store: () => now.store, dataProblem: () => now.data, clock });
  for (const name of channels) vitals.channel(name, 'starting');
  const metrics = await openMetrics({
    backlog: async () => {
      if (now.backlog === undefined) throw new Error('disk I/O error');
      return now.backlog;
    },
    storeUp: () => now.store.ok,
  });
  const server = await serveHealth({
    listen: '127.0.0.1:0',
    requirements: vitals.requirements,
    servers: () => ({
      notes: { is: 'connected', since: clock.now() },
      tracker: { is: 'lost', since: clock.now() - 7_000, why: 'it refuses\nhunter2-hunter2' },
    }),
    metrics,
    clock,
    redact: (text) => text.replaceAll('hunter2-hunter2', '[redacted]'),
    log,
  });
  t.after(() => server.close());
  return { url: server.url, vitals, meter: metrics.meter, clock, log, now };
}

test('L4 /livez answers while the event loop turns', async (t) => {
  const { url } = await serve(t);
  const answer = await fetch(`${url}/livez`);
  assert.deepEqual([answer.status, await answer.text()], [200, 'ok\n']);
});

test('L4 X7 /readyz says of the store, each channel, the model and each MCP server how they are, and is 503 until all channels started', async (t) => {
  const { url, vitals, clock } = await serve(t, ['telegram', 'slack']);
  vitals.channel('telegram', 'started');
  const early = await fetch(`${url}/readyz`);
  assert.equal(early.status, 503);
  vitals.channel('slack', 'started');
  vitals.event('slack');
  vitals.model('fast', 'failed');
  await clock.advance(90_000);
  const answer = await fetch(`${url}/readyz`);
  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), {
    ready: true,
    store: { ok: true },
    data: { ok: true },
    channels: {
      telegram: { state: 'started', lastEventSeconds: null },
      slack: { state: 'started', lastEventSeconds: 90 },
    },
    model: { alias: 'fast', outcome: 'failed', ageSeconds: 90 },
    mcp: {
      notes: { state: 'connected', sinceSeconds: 0 },
      tracker: { state: 'away', sinceSeconds: 7, reason: 'it refuses [redacted]' },
    },
  });
});

test('L4 Q11 /readyz is 503 with the reason while the store cannot be used, secrets removed', async (t) => {
  const { url, vitals, now, clock } = await serve(t);
  vitals.channel('telegram', 'started');
  now.store = { ok: false, reason: 'no route to hunter2-hunter2', since: clock.now() - 7_000 };
  const answer = await fetch(`${url}/readyz`);
  assert.equal(answer.status, 503);
  const { ready, store } = (await answer.json()) as Readonly<Record<string, unknown>>;
  assert.equal(ready, false);
  assert.deepEqual(store, { ok: false, reason: 'no route to [redacted]', sinceSeconds: 7 });
});

test('L4 /readyz is 503 with the reason while something is wrong with the data directory', async (t) => {
  const { url, vitals, now } = await serve(t);
  vitals.channel('telegram', 'started');
  now.data = '/data is gone or was replaced: restart the bot';
  const answer = await fetch(`${url}/readyz`);
  assert.equal(answer.status, 503);
  const { ready, data } = (await answer.json()) as Readonly<Record<string, unknown>>;
  assert.deepEqual([ready, data], [false, { ok: false, reason: now.data }]);
});

test('L4 /metrics is Prometheus text: what was counted, zeros to begin from, the backlog as it is now', async (t) => {
  const { url, meter, now } = await serve(t);
  meter.count('messages', { outcome: 'accepted' });
  meter.count('messages', { outcome: 'accepted' });
  meter.count('model_tokens', { model: 'default', kind: 'input' }, 1234);
  meter.count('tool_calls', { tool: 'use_skill', outcome: 'ok' });
  meter.count('runs', { skill: 'dice', status: 'ok' });
  meter.turn(0.7);
  const answer = await fetch(`${url}/metrics`);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  for (const line of [
    'skillet_messages_total{outcome="accepted"} 2',
    'skillet_messages_total{outcome="queue_full"} 0',
    'skillet_sends_total{outcome="repeated"} 0',
    'skillet_answers_total 0',
    'skillet_model_tokens_total{model="default",kind="input"} 1234',
    'skillet_tool_calls_total{tool="use_skill",outcome="ok"} 1',
    'skillet_runs_total{skill="dice",status="ok"} 1',
    'skillet_turn_seconds_bucket{le="0.5"} 0',
    'skillet_turn_seconds_bucket{le="1"} 1',
    'skillet_store_up 1',
    'skillet_inbox_waiting 3',
    'skillet_inbox_dead 1',
    'skillet_outbox_waiting 2',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} is missing in:\n${text}`);
  }
  assert.match(text, /^process_resident_memory_bytes /m);
  assert.match(text, /^nodejs_eventloop_lag_seconds /m);
  now.backlog = undefined;
  now.store = { ok: false, reason: 'disk I/O error', since: 0 };
  const later = await (await fetch(`${url}/metrics`)).text();
  assert.match(later, /^skillet_store_up 0$/m);
  assert.match(later, /^skillet_inbox_waiting nan$/im);
});

test('L4 S4 only GET and HEAD of three paths are answered, and no body is taken', async (t) => {
  const { url } = await serve(t);
  assert.equal((await fetch(`${url}/`)).status, 404);
  assert.equal((await fetch(`${url}/metrics/../secret`)).status, 404);
  assert.equal((await fetch(`${url}//`)).status, 404);
  const posted = await fetch(`${url}/livez`, { method: 'DELETE' });
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
  const head = await fetch(`${url}/readyz`, { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [503, '']);
  const large = await fetch(`${url}/readyz`, { method: 'POST', body: 'x'.repeat(100_000) }).then(
    ({ status }) => status,
    // The server may have closed the connection under the body.
    () => 413,
  );
  assert.equal(large, 413);
  const chunked = request(`${url}/livez`, { method: 'GET', headers: { 'transfer-encoding': 'chunked' } });
  chunked.write('some');
  const [answer] = (await once(chunked, 'response')) as [{ statusCode: number; resume(): void }];
  answer.resume();
  chunked.destroy();
  assert.equal(answer.statusCode, 413);
});

test('L4 an address that is taken, or not of this machine, is told with what to write', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { redact, readiness, metrics } = {
    redact: (text: string) => text,
    readiness: () =>
      ({ ready: true, store: { ok: true }, data: { ok: true }, channels: {}, model: null }) as const,
    metrics: { text: async () => '', contentType: 'text/plain' },
  };
  const log = quietLog();
  await assert.rejects(
    serveHealth({
      listen: `127.0.0.1:${port}`,
      requirements: readiness,
      servers: () => ({}),
      metrics,
      redact,
      clock: systemClock,
      log,
    }),
    {
      name: 'OperatorError',
      message: `health and metrics can't be served on 127.0.0.1:${port}: another program has that port. Write a free address under [server], such as listen = "127.0.0.1:9464", or take the line out.`,
    },
  );
  await assert.rejects(
    serveHealth({
      listen: '192.0.2.1:9464',
      requirements: readiness,
      servers: () => ({}),
      metrics,
      redact,
      clock: systemClock,
      log,
    }),
    {
      name: 'OperatorError',
      message: /this machine has no such address/,
    },
  );
});

test('S4 a name of somebody else that leads here is refused, addresses and names of this machine are not', async (t) => {
  const { url } = await serve(t);
  const { port } = new URL(url);
  const status = (host: string): Promise<number> =>
    new Promise((resolve, reject) =>
      request(url, { path: '/metrics', headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
        .once('error', reject)
        .end(),
    );
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil.example.',
  ])
    assert.equal(await status(host), 421, host);
  for (const host of ['127.0.0.1', `localhost:${port}`, '[::1]', `bot:${port}`, '10.0.0.7:9464'])
    assert.equal(await status(host), 200, host);
});
