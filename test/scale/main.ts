/**
 * Several processes on one PostgreSQL (Q9): `npm run test:scale`. 500 conversations, 20,000 messages, 3 processes; the one
 * that polls is killed on the way, and later another one. Prints figures, and exits 1 when anything was lost, out of order,
 * repeated without excuse, or not taken over within 30 s. `SKILLET_SCALE_CONVERSATIONS`, `_MESSAGES`, `_PROCESSES`,
 * `_CONCURRENCY`, `_MODEL_MS`, `_AHEAD`, `_PACED` (1: Telegram's limits are kept) and `_MISHAPS` (names of `test/support/scale/mishaps.ts`, with commas) change it;
 * without any, a queue that changes hands is an error, too. `SKILLET_SCALE_STATEMENTS=20` names the 20 dearest statements.
 */
import { loadavg } from 'node:os';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { describeScale, describeStatements } from '../support/scale/describe-scale.ts';
import { judgeScale } from '../support/scale/judge-scale.ts';
import { mishaps, type MishapName } from '../support/scale/mishaps.ts';
import { runScale } from '../support/scale/run-scale.ts';

const number = (name: string, otherwise: number): number =>
  Number(process.env[`SKILLET_SCALE_${name}`] ?? otherwise);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const names = (process.env['SKILLET_SCALE_MISHAPS'] ?? 'poller,worker')
  .split(',')
  .filter((name) => name !== '');
const wanted = names.filter((name): name is MishapName => name in mishaps);
const server = await startPostgres({ durable: true });
if (wanted.length < names.length) {
  process.stderr.write(`SKILLET_SCALE_MISHAPS: there are ${Object.keys(mishaps).join(', ')}\n`);
  process.exitCode = 2;
} else if (server === undefined) {
  process.stderr.write(`${noPostgres}\n`);
  process.exitCode = 1;
} else {
  try {
    const load = loadavg()[0] ?? NaN;
    const result = await runScale(server, {
      conversations: number('CONVERSATIONS', 500),
      messages: number('MESSAGES', 20_000),
      processes: number('PROCESSES', 3),
      concurrency: number('CONCURRENCY', 16),
      paced: number('PACED', 0) === 1,
      files: false,
      modelMs: number('MODEL_MS', 50),
      ahead: number('AHEAD', 3),
      mishaps: wanted,
      patienceMs: 120_000,
    });
    print(`load of the machine: ${load.toFixed(1)} before, ${(loadavg()[0] ?? NaN).toFixed(1)} after`);
    describeScale(result).forEach(print);
    describeStatements(result, number('STATEMENTS', 0)).forEach(print);
    const wrong = judgeScale(result);
    for (const line of wrong) process.stderr.write(`WRONG: ${line}\n`);
    process.exitCode = wrong.length === 0 ? 0 : 1;
  } finally {
    await server.close();
  }
}
