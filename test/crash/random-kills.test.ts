import { test } from 'node:test';
import { seedFromEnv } from '../support/crash/seeded-random.ts';
import { assertNothingBroke, storm } from '../support/crash/storm.ts';
import { tallyHeadings } from '../support/crash/tally.ts';

/** The short form; `npm run test:crash` is the long one. `SKILLET_SEED` draws the same load and the same kills again. */
test('Q1 Q2 Q3 Q5 Q6 Q7 killed at random, the bot answers every message it accepted, in order, and redoes nothing that was done', async (t) => {
  const result = await storm({
    store: 'embedded',
    seed: seedFromEnv(),
    messages: 16,
    kills: 4,
    mostKills: 4,
    width: 1,
    deadlineMs: 60_000,
  });
  t.diagnostic(tallyHeadings);
  t.diagnostic(result.line);
  assertNothingBroke(result);
});
