/**
 * The long crash runs (Q7): `npm run test:crash`. At least 1,000 messages and 50 kills on each store; prints a table and
 * exits 1 when anything was lost, out of order, redone, or repeated without excuse. `SKILLET_SEED`,
 * `SKILLET_CRASH_MESSAGES` and `SKILLET_CRASH_KILLS` change it; `SKILLET_CRASH_STORE` names one store.
 */
import { seedFromEnv } from '../support/crash/seeded-random.ts';
import { assertNothingBroke, storm } from '../support/crash/storm.ts';
import { tallyHeadings } from '../support/crash/tally.ts';

const messages = Number(process.env['SKILLET_CRASH_MESSAGES'] ?? 1_000);
const kills = Number(process.env['SKILLET_CRASH_KILLS'] ?? 50);
const seed = seedFromEnv();
const columns = tallyHeadings.split('|').length - 2;

process.stdout.write(`${tallyHeadings}\n|${' --- |'.repeat(columns)}\n`);
for (const store of ['embedded']) {
  if (![undefined, store].includes(process.env['SKILLET_CRASH_STORE'])) continue;
  const result = await storm({ store, seed, messages, kills, width: 3, deadlineMs: 30 * 60_000 });
  process.stdout.write(`${result.line}\n`);
  try {
    assertNothingBroke(result);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
