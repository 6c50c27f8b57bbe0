/**
 * The long crash runs (Q7, Q9): `npm run test:crash`. At least 1,000 messages and 50 kills on the embedded store, on
 * PostgreSQL, and on PostgreSQL with three processes; prints a table, then makes the tests that kill at named points with
 * every point, and exits 1 when anything was lost, out of order, redone, or repeated without excuse. `SKILLET_SEED`,
 * `SKILLET_CRASH_MESSAGES` and `SKILLET_CRASH_KILLS` change it; `SKILLET_CRASH_STORE` names one store.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { seedFromEnv } from '../support/crash/seeded-random.ts';
import { openStoreFor, type StoreName } from '../support/crash/stores.ts';
import { assertNothingBroke, storm } from '../support/crash/storm.ts';
import { tallyHeadings } from '../support/crash/tally.ts';

type Run = Readonly<{ store: StoreName; slots: number; width: number; slower: number }>;

const messages = Number(process.env['SKILLET_CRASH_MESSAGES'] ?? 1_000);
const kills = Number(process.env['SKILLET_CRASH_KILLS'] ?? 50);
const seed = seedFromEnv();
const columns = tallyHeadings.split('|').length - 2;
// What a dead process held is taken over after 15 seconds on PostgreSQL: more conversations keep it busy meanwhile, and a
// process has to live that long now and then.
const runs: readonly Run[] = [
  { store: 'embedded', slots: 1, width: 3, slower: 1 },
  { store: 'postgres', slots: 1, width: 8, slower: 8 },
  { store: 'postgres', slots: 3, width: 8, slower: 8 },
];

process.stdout.write(`${tallyHeadings}\n|${' --- |'.repeat(columns)}\n`);
for (const run of runs) {
  const only = process.env['SKILLET_CRASH_STORE'];
  if (only !== undefined && only !== run.store) continue;
  await longRun(run);
}
if (process.env['SKILLET_CRASH_STORE'] === undefined) await everyPoint();

async function everyPoint(): Promise<void> {
  const here = readdirSync(import.meta.dirname).map((name) => `${import.meta.dirname}/${name}`);
  const elsewhere = ['features/routines/simulated-year.test.ts', 'cli/nothing-answers.test.ts'];
  const all = [...here, ...elsewhere.map((file) => `${import.meta.dirname}/../${file}`)];
  const paths = all.filter(
    (file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('crash/thorough.ts'),
  );
  const env = { ...process.env, SKILLET_CRASH_ALL: '1' };
  const tests = spawn(process.execPath, ['--test', '--test-concurrency=1', ...paths], {
    env,
    stdio: 'inherit',
  });
  const [code] = (await once(tests, 'exit')) as [number | null];
  if (code !== 0) process.exitCode = 1;
}

async function longRun({ store, slots, width, slower }: Run): Promise<void> {
  const opened = await openStoreFor(store);
  const name = slots === 1 ? store : `${store}, ${slots} processes`;
  if (opened === undefined) return fail(`${name}: not run, for want of PostgreSQL`);
  try {
    const result = await storm({
      store: name,
      ...opened.options,
      seed,
      messages,
      kills,
      slots,
      width,
      slower,
      deadlineMs: 40 * 60_000,
    });
    process.stdout.write(`${result.line}\n`);
    assertNothingBroke(result);
  } catch (error) {
    fail(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await opened.close();
  }
}

function fail(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exitCode = 1;
}
