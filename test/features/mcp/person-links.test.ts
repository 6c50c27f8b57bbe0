import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createPersonLinks } from '../../../src/features/mcp/accounts/person-links.ts';
import { connectOnce } from '../../../src/features/mcp/connect-once.ts';
import { readDefinition } from '../../../src/features/mcp/read-definition.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { serveTools } from '../../servers/mcp/start-http-server.ts';
import { listedTool } from '../../servers/mcp/tool-files.ts';
import { configOf } from '../../support/config-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

/** Connections of people to a real server. Their own clock stands still, so that they are idle when a test says so. */
async function stage(t: TestContext) {
  const server = await serveTools(t, { tools: [listedTool('echo'), listedTool('sleep')] });
  const settings = configOf(`[mcp.work]\nurl = "${server.url}"\n`).mcp['work'];
  assert.ok(settings);
  const clock = createManualClock();
  const made: string[] = [];
  const open = new Set<string>();
  const hashes = new Map<string, string>();
  const links = createPersonLinks({
    async connect({ subject }, options) {
      const connection = await connectOnce(settings, {
        ...options,
        ...{ env: {}, cwd: '/', redact: (text: string) => text, clock: systemClock },
        endWithUs: () => () => undefined,
      });
      made.push(subject);
      open.add(subject);
      void connection.closed.then(() => open.delete(subject));
      return connection;
    },
    async take(_server, _settings, raw) {
      const read = raw.map((one) => readDefinition(one)).flatMap((one) => (one.ok ? [one.definition] : []));
      for (const { name, hash } of read) hashes.set(name, hash);
      return read;
    },
    clock,
  });
  t.after(() => links.end());
  const of = (subject: string) => ({ subject, server: 'work', settings });
  const call = async (subject: string, tool = 'echo', signal = new AbortController().signal) => {
    await links.look(of(subject), signal);
    const options = { signal, mayCall: () => true, onProgress: () => undefined };
    return links.call(of(subject), { tool, hash: hashes.get(tool) ?? '', input: {} }, options);
  };
  return { call, clock, made, open };
}

test('X8 the connection of a person is used again, ends when it was idle for ten minutes, and opens with the next call', async (t) => {
  const { call, clock, made, open } = await stage(t);
  assert.equal((await call('ann')).kind, 'answered');
  await clock.advance(9 * 60_000);
  assert.equal((await call('ann')).kind, 'answered');
  await clock.advance(9 * 60_000);
  assert.deepEqual([made, [...open]], [['ann'], ['ann']]);
  await clock.advance(60_000);
  await until(async () => open.size === 0);
  assert.equal((await call('ann')).kind, 'answered');
  assert.deepEqual(made, ['ann', 'ann']);
});

test('X8 fifty people have a connection at once: for one more, the one that was idle for longest ends, and none that is busy', async (t) => {
  const { call, made, open } = await stage(t);
  const over = new AbortController();
  const busy = call('busy', 'sleep', over.signal).catch(() => 'over');
  await until(async () => open.has('busy'));
  const people = Array.from({ length: 49 }, (_, n) => `person ${n}`);
  for (const one of people) await call(one);
  assert.equal(open.size, 50);
  await call('person 0');
  await call('one more');
  await until(async () => open.size === 50);
  assert.deepEqual([open.has('busy'), open.has('person 0'), open.has('person 1')], [true, true, false]);
  await call('person 1');
  await until(async () => open.size === 50);
  assert.equal(open.has('person 2'), false);
  assert.equal(made.length, 52);
  over.abort();
  assert.equal(await busy, 'over');
});
