import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { describeScale } from '../support/scale/describe-scale.ts';
import { judgeScale } from '../support/scale/judge-scale.ts';
import { runScale } from '../support/scale/run-scale.ts';

/** The short form; `npm run test:scale` is the long one. */
test('Q2 Q3 Q7 Q9 three processes on one PostgreSQL: the one that polls is killed with queues in its hands, nothing is lost or out of order, the others take over within 30 s', async (t) => {
  const server = await startPostgres({ durable: true });
  if (server === undefined) return t.skip(noPostgres);
  t.after(() => server.close());
  const result = await runScale(server, {
    conversations: 30,
    messages: 180,
    processes: 3,
    concurrency: 8,
    paced: false,
    files: false,
    modelMs: 50,
    ahead: 3,
    mishaps: ['poller'],
    patienceMs: 60_000,
    limitMs: 270_000,
  });
  for (const line of describeScale(result)) t.diagnostic(line);
  assert.deepEqual(judgeScale(result), []);
  const [killed] = result.mishaps;
  assert.ok(killed !== undefined && killed.held > 0, 'it held nothing when it was killed');
  const pollers = result.processes.filter(({ polls }) => polls > 0);
  assert.ok(pollers.length > 1, 'nobody else polled');
  for (const { name, asked } of result.processes) assert.ok(asked > 0, `process ${name} did nothing`);
});
