import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { noMachines } from '../support/machines/network.ts';

const sizes = {
  CONVERSATIONS: 24,
  MESSAGES: 240,
  PROCESSES: 3,
  CONCURRENCY: 8,
  MISHAPS: 'failover,poller',
  LIMIT: 270,
};

/** The short form; `npm run test:machines` is the long one. */
test(
  'Q2 Q3 Q7 Q9 Q11 Q14 three machines that share nothing but one PostgreSQL: the database fails over to its standby, one is killed, and no message or file is lost, mixed up, out of order or repeated uncounted',
  { skip: noMachines() },
  async (t) => {
    const env = { ...process.env };
    for (const [name, value] of Object.entries(sizes)) env[`SKILLET_MACHINES_${name}`] = String(value);
    const run = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts')], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => run.kill('SIGKILL'));
    const [said, wrong] = await Promise.all([text(run.stdout), text(run.stderr), once(run, 'exit')]);
    for (const line of said.trim().split('\n')) t.diagnostic(line);
    assert.equal(run.exitCode, 0, wrong);
    assert.match(said, /^messages (\d+), answered \1, lost 0, out of order 0, /m);
    assert.match(said, /^files ([1-9]\d*), returned \1, lost 0, mixed up 0, /m);
    assert.match(said, /^poller \(\w\): /m);
    assert.match(said, /^failover \(PostgreSQL\): [1-9]\d* conversations held; answered again after /m);
    for (const name of ['a', 'b', 'c'])
      assert.match(said, new RegExp(`^process ${name}: [1-9]\\d* model calls`, 'm'));
  },
);
