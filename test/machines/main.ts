/**
 * Several machines on one PostgreSQL (Q9): `npm run test:machines`, on Linux as root. Each process has a network, a disk and
 * mounts of its own; only the database, its standby's place behind the same address, and the platform can be reached. 500
 * conversations that send files and want them back, 20 kills, a partition of 40 s, a restart and a failover of the database.
 * Prints figures, and exits 1 when anything was lost, mixed up, out of order, repeated without excuse, or not taken over
 * within 30 s. `SKILLET_MACHINES_CONVERSATIONS`,
 * `_MESSAGES`, `_PROCESSES`, `_CONCURRENCY`, `_MODEL_MS`, `_AHEAD`, `_MISHAPS` (as for `npm run test:scale`), `_ASYNC`
 * (1: the standby follows behind) and `_LIMIT` (seconds) change it.
 */
import { loadavg } from 'node:os';
import { noMachines, runInOwnNetwork } from '../support/machines/network.ts';
import { runMachines } from '../support/machines/run-machines.ts';
import { noPostgres } from '../support/postgres.ts';
import { describeScale } from '../support/scale/describe-scale.ts';
import { judgeScale } from '../support/scale/judge-scale.ts';
import { mishaps, type MishapName } from '../support/scale/mishaps.ts';

const number = (name: string, otherwise: number): number =>
  Number(process.env[`SKILLET_MACHINES_${name}`] ?? otherwise);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const isMishap = (name: string): name is MishapName => name in mishaps;
const kills = Array.from({ length: 10 }, () => ['poller', 'worker']).flat();
const usual = [
  ...kills.slice(0, 10),
  'partition',
  'databaseCrash',
  ...kills.slice(10, 15),
  'failover',
  ...kills.slice(15),
];

async function main(): Promise<number> {
  const missing = noMachines();
  if (missing !== false) throw new Error(missing);
  const inside = await runInOwnNetwork();
  if (inside !== undefined) return inside;
  const names = (process.env['SKILLET_MACHINES_MISHAPS'] ?? usual.join())
    .split(',')
    .filter((name) => name !== '');
  const unknown = names.filter((name) => !isMishap(name));
  if (unknown.length > 0) throw new Error(`no such mishap: ${unknown.join(', ')}`);
  const limit = number('LIMIT', 0);
  const before = loadavg()[0] ?? NaN;
  const result = await runMachines(
    {
      conversations: number('CONVERSATIONS', 500),
      messages: number('MESSAGES', 30_000),
      processes: number('PROCESSES', 3),
      concurrency: number('CONCURRENCY', 16),
      paced: false,
      files: true,
      modelMs: number('MODEL_MS', 50),
      ahead: number('AHEAD', 3),
      mishaps: names.filter(isMishap),
      patienceMs: 120_000,
      ...(limit === 0 ? {} : { limitMs: limit * 1_000 }),
    },
    { synchronous: number('ASYNC', 0) === 0 },
  );
  if (result === undefined) throw new Error(noPostgres);
  print(`load of the machine: ${before.toFixed(1)} before, ${(loadavg()[0] ?? NaN).toFixed(1)} after`);
  describeScale(result).forEach(print);
  const wrong = judgeScale(result);
  wrong.forEach((line) => process.stderr.write(`WRONG: ${line}\n`));
  return wrong.length === 0 ? 0 : 1;
}

process.exitCode = await main();
