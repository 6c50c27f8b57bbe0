import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ModelRequest } from '../../src/core/model.ts';
import { costOf } from '../../src/limits/costs.ts';
import { useOfEntry } from '../../src/runs/run-journal.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { httpModelAt } from '../support/model-at.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';

const minute = 60_000;
const long = 'A stable system prompt of the bot. '.repeat(200);

/** A model at the server, at a time that the test sets. */
async function connect(t: TestContext, cache: 'auto' | '5m' | '1h', diagnoses = false) {
  const time = { now: 1_000 * minute, ahead: 0 };
  const server = await startMessagesServer({ script: () => 'Fine.', now: () => time.now + time.ahead });
  t.after(() => server.close());
  const log = quietLog();
  const model = httpModelAt(
    {
      alias: 'default',
      model: 'claude-sonnet-5-5',
      maxTokens: 100,
      endpoint: { baseUrl: server.url, apiKey: 'k' },
      cache,
      diagnoses,
    },
    { log, clock: { now: () => time.now, sleep: async () => undefined } },
  );
  /** Asks after so many minutes, and returns how long the start and the question are kept. */
  const askAfter = async (minutes: number, change: Partial<ModelRequest> = {}) => {
    time.now += minutes * minute;
    const request: ModelRequest = {
      system: [{ type: 'text', text: long }],
      tools: [],
      messages: [{ role: 'user', content: `It is minute ${time.now / minute}.` }],
      ...change,
    };
    const { tokens } = await model.complete(request, AbortSignal.timeout(60_000));
    const { system, messages } = server.requests.at(-1)?.body ?? assert.fail();
    const marks = JSON.stringify([system, messages]).match(/"cache_control":\{[^}]*\}/g) ?? [];
    return { tokens, times: marks.map((mark) => (mark.includes('1h') ? '1h' : '5m')).join(' ') };
  };
  return { server, log, time, askAfter };
}

test('M20 the start is kept for an hour once such requests come 5 to 60 minutes apart, and no longer than they do', async (t) => {
  const { askAfter } = await connect(t, 'auto');
  const seen: string[] = [];
  for (const minutes of [0, 2, 20, 3, 50, 70, 4]) seen.push((await askAfter(minutes)).times);
  assert.deepEqual(seen, ['5m 5m', '5m 5m', '1h 5m', '1h 5m', '1h 5m', '5m 5m', '5m 5m']);
  const other = { system: [{ type: 'text' as const, text: `${long} For others.` }] };
  assert.equal((await askAfter(20, other)).times, '5m 5m');
});

test('M20 what is kept for an hour is read after twenty minutes, and its writes are counted apart', async (t) => {
  const { askAfter } = await connect(t, 'auto');
  await askAfter(0);
  const { tokens: written } = await askAfter(20);
  assert.ok(written.cacheRead === 0 && (written.cacheWriteHour ?? 0) > 1_000, JSON.stringify(written));
  assert.ok((written.cacheWriteHour ?? 0) <= written.cacheWrite);
  const { tokens: read } = await askAfter(20);
  assert.ok(read.cacheRead > 1_000, JSON.stringify(read));
});

test('M20 cache = "5m" and "1h" hold for all that is sent', async (t) => {
  for (const [cache, times] of [
    ['5m', '5m 5m'],
    ['1h', '1h 1h'],
  ] as const) {
    const { askAfter } = await connect(t, cache);
    await askAfter(0);
    assert.equal((await askAfter(20)).times, times);
  }
});

test('M20 a write that is kept for an hour costs twice the input, also in the usage of days', () => {
  const config = parseConfig('[models.default]\nmodel = "claude-sonnet-5-5"\napi_key = "k"\n', { env: {} });
  assert.ok(config.ok);
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 1_000_000, cacheWriteHour: 1_000_000 };
  assert.equal(costOf(config.config, 'default', tokens), 4);
  const entry = {
    kind: 'assistant',
    content: [],
    stopReason: 'end_turn',
    model: 'm',
    at: 0,
    tokens,
  } as const;
  const user = { sender: 'a', conversation: 'b', skill: '', model: 'default' };
  const [use] = useOfEntry(entry, user, 'UTC');
  assert.equal(use && costOf(config.config, 'default', use.tokens), 4);
});

test('M20 a start that the cache should hold and does not is logged, with the server’s reason', async (t) => {
  const { server, log, time, askAfter } = await connect(t, 'auto', true);
  await askAfter(0);
  await askAfter(1);
  assert.deepEqual(log.lines, []);
  assert.deepEqual(server.requests[0]?.body.diagnostics, { previous_message_id: null });
  assert.equal(typeof server.requests[1]?.body.diagnostics?.previous_message_id, 'string');
  const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
  await askAfter(1, { tools });
  assert.deepEqual(server.requests[2]?.body.diagnostics, { previous_message_id: null });
  assert.deepEqual(log.lines, []);
  // The server has lost what it held, as it may when it is busy.
  time.ahead = 90 * minute;
  await askAfter(1);
  assert.deepEqual(
    log.lines.map(({ level, message, fields }) => [level, message, fields['model'], fields['reason']]),
    [['warn', 'the prompt cache did not hold what it should', 'default', 'unavailable']],
  );
});
