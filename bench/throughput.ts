/**
 * Turns a second with an instant model, and the cost of a turn in a store that is full (SPEC B2): `npm run bench:throughput`.
 * The servers of Telegram and of the model share the machine with the bot. Figures are printed, never judged.
 */
import path from 'node:path';
import type { Entry } from '../src/core/entry.ts';
import { systemClock } from '../src/core/clock.ts';
import { openStore } from '../src/stores/open-store.ts';
import { makeMessage } from '../test/support/make-message.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { makeLeanHome } from '../test/support/lean/lean-bot.ts';
import { startLeanPlatform, type LeanAnswer } from '../test/support/lean/lean-platform.ts';
import { processorMs } from '../test/support/lean/process-cost.ts';
import { quantile } from './statistics.ts';

const people = Number(process.env['SKILLET_BENCH_PEOPLE'] ?? 500);
const rounds = Number(process.env['SKILLET_BENCH_ROUNDS'] ?? 8);
const stored = Number(process.env['SKILLET_BENCH_STORED'] ?? 100_000);

await turnsASecond('embedded, empty store', undefined, 0);
await turnsASecond(`embedded, ${stored} conversations`, undefined, stored);
const postgres = await startPostgres({ durable: true });
if (postgres === undefined) print('postgres', 'skipped: no server binaries');
else {
  await turnsASecond('postgres, empty store', await postgres.database(), 0);
  await turnsASecond(`postgres, ${stored} conversations`, await postgres.database(), stored);
  await postgres.close();
}

/** Everybody writes at once, `rounds` times, and nobody waits for an answer. */
async function turnsASecond(name: string, url: string | undefined, full: number): Promise<void> {
  const platform = await startLeanPlatform();
  const home = await makeLeanHome(platform, {
    name: 'bot',
    concurrency: 64,
    ...(url === undefined ? {} : { store: url }),
    prepare: (folder) => fill(url ?? `sqlite:${path.join(folder, 'data', 'skillet.db')}`, full),
  });
  const bot = await home.start();
  for (let chat = 1; chat <= people; chat++) platform.says(chat, 'message 0');
  await platform.answered(people);
  const cpu = await processorMs(bot.pid);
  const began = performance.now();
  for (let round = 1; round <= rounds; round++)
    for (let chat = 1; chat <= people; chat++) platform.says(chat, `message ${round}`);
  await platform.answered(people * (rounds + 1));
  const seconds = (performance.now() - began) / 1_000;
  const turns = people * rounds;
  const own = ((await processorMs(bot.pid)) - cpu) / turns;
  print(name, `${(turns / seconds).toFixed(0)} turns/s, ${own.toFixed(2)} ms of processor a turn (${turns})`);
  print('  out of order', String([...platform.answers.values()].filter(isOutOfOrder).length));

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

/** Conversations that were answered before: a message, its answer and the part that was sent. */
async function fill(url: string, conversations: number): Promise<void> {
  if (conversations === 0) return;
  const store = await openStore(url, { clock: systemClock });
  const batch = 500;
  for (let first = 0; first < conversations; first += batch) {
    const ids = Array.from({ length: batch }, (_, n) => String(900_000_000 + first + n));
    const messages = ids.map((chat) =>
      makeMessage({ id: `telegram:${chat}:1`, conversation: { channel: 'telegram', chat } }),
    );
    await Promise.all(messages.map((message) => store.inbox.accept(message, { now: Date.now() })));
    await Promise.all(
      messages.map(async ({ id, conversation }) => {
        const transcript = `telegram:${conversation.chat}`;
        const entries: readonly Entry[] = [
          { kind: 'user', item: id, sender: transcript, content: 'hello', at: Date.now() },
          { kind: 'notice', text: 'filled', at: Date.now() },
        ];
        const key = `${id}#0`;
        await store.commit({
          entries: entries.map((entry) => ({ transcript, entry })),
          outbox: [{ key, conversation, part: { markdown: 'hi' } }],
          done: id,
        });
        await store.outbox.sent(key, { id: '1' });
      }),
    );
  }
  await store.close();
}

function print(name: string, value: string): void {
  process.stdout.write(`  ${name.padEnd(36)} ${value}\n`);
}
