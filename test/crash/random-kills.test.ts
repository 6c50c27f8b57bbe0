import { test } from 'node:test';
import { openStoreFor } from '../support/crash/stores.ts';
import { assertNothingBroke, storm } from '../support/crash/storm.ts';
import { tallyHeadings } from '../support/crash/tally.ts';
import { noPostgres } from '../support/postgres.ts';

// The short forms, always of the same load and kills; `npm run test:crash` draws long ones anew. `SKILLET_SEED` has others.
const seed = Number(process.env['SKILLET_SEED'] ?? 20);

for (const { store, slots, title } of [
  { store: 'embedded', slots: 1, title: 'killed at random, the bot answers' },
  { store: 'postgres', slots: 3, title: 'Q9 three processes, killed at random, answer' },
] as const) {
  test(`Q1 Q2 Q3 Q5 Q6 Q7 ${title} every message accepted, in order, and redo nothing that was done (${store})`, async (t) => {
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const short = { messages: 16, kills: 4, mostKills: 4, width: 1, deadlineMs: 240_000 };
    const result = await storm({ store, ...opened.options, seed, slots, ...short });
    t.diagnostic(tallyHeadings);
    t.diagnostic(result.line);
    assertNothingBroke(result);
  });
}
