/**
 * Turns a second with an instant model, and the cost of a turn in a store that is full (SPEC B2): `npm run bench:throughput`.
 * The servers of Telegram and of the model share the machine with the bot. Figures are printed, never judged.
 * `SKILLET_BENCH_PEOPLE`, `_ROUNDS`, `_STORED` (conversations of the full store, 0: none such) and `_STORES`
 * (`embedded,postgres`) change it; `_STATEMENTS=20` counts what PostgreSQL is asked and names the 20 most expensive statements.
 */
import { loadavg } from 'node:os';
import path from 'node:path';
import { noPostgres, startPostgres } from '../test/support/postgres.ts';
import { makeLeanHome } from '../test/support/lean/lean-bot.ts';
import { startLeanPlatform, type LeanAnswer } from '../test/support/lean/lean-platform.ts';
import { processorMs } from '../test/support/lean/process-cost.ts';
import { createDatabaseCost, type DatabaseCost } from '../test/support/scale/database-cost.ts';
import { fillPostgres, fillStore } from './fill-store.ts';
import { quantile } from './statistics.ts';

const setting = (name: string, otherwise: number): number =>
  Number(process.env[`SKILLET_BENCH_${name}`] ?? otherwise);
const people = setting('PEOPLE', 500);
const rounds = setting('ROUNDS', 8);
const sizes = [...new Set([0, setting('STORED', 100_000)])];
const named = setting('STATEMENTS', 0);
const stores = (process.env['SKILLET_BENCH_STORES'] ?? 'embedded,postgres').split(',');

print('load of the machine', (loadavg()[0] ?? Number.NaN).toFixed(1));
if (stores.includes('embedded')) for (const size of sizes) await turnsASecond('embedded', size);
if (stores.includes('postgres')) await onPostgres();

async function onPostgres(): Promise<void> {
  const server = await startPostgres({ durable: true });
  if (server === undefined) return print('postgres', `skipped: ${noPostgres}`);
  try {
    for (const size of sizes) {
      const url = await server.database();
      await fillPostgres(server, url, size);
      const cost = await createDatabaseCost(server, url, { counting: named > 0 });
      await turnsASecond('postgres', size, { url, cost });
    }
  } finally {
    await server.close();
  }
}

/** Everybody writes at once, `rounds` times, and nobody waits for an answer; then some write alone. */
async function turnsASecond(
  store: string,
  full: number,
  database?: Readonly<{ url: string; cost: DatabaseCost }>,
): Promise<void> {
  const platform = await startLeanPlatform();
  const home = await makeLeanHome(platform, {
    name: 'bot',
    concurrency: 64,
    ...(database === undefined ? {} : { store: database.url }),
    async prepare(folder) {
      if (database === undefined) await fillStore(`sqlite:${path.join(folder, 'data', 'skillet.db')}`, full);
    },
  });
  const bot = await home.start();
  for (let chat = 1; chat <= people; chat++) platform.says(chat, 'message 0');
  await platform.answered(people);
  await database?.cost.reset();
  const cpu = await processorMs(bot.pid);
  const ours = process.cpuUsage();
  const began = performance.now();
  for (let round = 1; round <= rounds; round++)
    for (let chat = 1; chat <= people; chat++) platform.says(chat, `message ${round}`);
  await platform.answered(people * (rounds + 1));
  const seconds = (performance.now() - began) / 1_000;
  const turns = people * rounds;
  const own = ((await processorMs(bot.pid)) - cpu) / turns;
  const { user, system } = process.cpuUsage(ours);
  const its = (user + system) / 1_000 / turns;
  await database?.cost.sample();
  const statements = (await database?.cost.statements()) ?? [];
  print(
    full === 0 ? `${store}, empty store` : `${store}, ${full} conversations`,
    `${(turns / seconds).toFixed(0)} turns/s (${turns})`,
  );
  print('  out of order', String([...platform.answers.values()].filter(isOutOfOrder).length));
  const server = database === undefined ? '' : `, server ${(database.cost.processorMs() / turns).toFixed(2)}`;
  print('  processor a turn', `bot ${own.toFixed(2)} ms${server}, platform and model ${its.toFixed(2)}`);
  const count = statements.reduce((sum, { calls }) => sum + calls, 0);
  if (named > 0 && count > 0) print('  statements a turn', (count / turns).toFixed(1));
  for (const { calls, ms, planMs, query } of statements.slice(0, named))
    print(
      `    ${(calls / turns).toFixed(2)} a turn, ${(ms / calls).toFixed(3)} + ${(planMs / calls).toFixed(3)} ms`,
      query.slice(0, 110),
    );

  const alone: number[] = [];
  for (let n = 1; n <= 100; n++) {
    const at = performance.now();
    platform.says(1_000_000 + n, 'alone');
    await platform.answered(people * (rounds + 1) + n);
    alone.push(performance.now() - at);
  }
  print(
    '  one at a time',
    `p50 ${quantile(alone, 0.5).toFixed(2)} ms, p95 ${quantile(alone, 0.95).toFixed(2)} ms`,
  );
  await bot.stop();
  await platform.close();
  await home.remove();
}

function isOutOfOrder(answers: readonly LeanAnswer[]): boolean {
  return answers.some(({ text }, index) => text !== `message ${index}`);
}

function print(name: string, value: string): void {
  process.stdout.write(`  ${name.padEnd(36)} ${value}\n`);
}
