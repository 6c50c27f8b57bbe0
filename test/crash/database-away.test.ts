import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { startLoad } from '../support/crash/load.ts';
import { slackDm, telegramDm, telegramGroup } from '../support/crash/places.ts';
import { readStored } from '../support/crash/read-stored.ts';
import { seededRandom } from '../support/crash/seeded-random.ts';
import { openStoreFor } from '../support/crash/stores.ts';
import { tally } from '../support/crash/tally.ts';
import { noPostgres } from '../support/postgres.ts';

test('Q11 Q7 L6 with the database stopped as by a crash nothing is accepted, and when it is back all is answered, once and in order', async (t) => {
  const opened = await openStoreFor('postgres');
  if (opened?.server === undefined) return t.skip(noPostgres);
  const { server } = opened;
  t.after(opened.close);
  const stage = await openCrashStage(opened.options);
  t.after(() => stage.close());
  const mishaps = { random: seededRandom(1), twice: 0, edited: 0 };
  const places = [
    telegramDm(stage, 'Ann', mishaps),
    telegramGroup(stage, 'Friends', mishaps),
    slackDm(stage, 'bob'),
  ];
  const bot = stage.start();
  assert.ok(await bot.ready);
  const load = startLoad(places, { each: 10, ahead: 3, random: seededRandom(2) });
  await stage.telegram.until('the load runs', () => stage.telegram.calls('sendMessage').length > 3);
  await server.stop('crash');

  const late = stage.telegram.person({ name: 'Cid' });
  late.says('say n900');
  // It either tried in vain or does not ask for messages any more: who may is known to the database.
  await Promise.race([
    bot.logged('could not be stored'),
    bot.logged('another process may be polling with the token of this bot'),
  ]);
  const waiting = stage.telegram.queue.waiting().map(({ body }) => JSON.stringify(body));
  assert.ok(
    waiting.some((body) => body.includes('n900')),
    'what is not stored is not acknowledged',
  );
  await server.start();
  await load.done;
  await late.dm.nextMessage('answer n900');
  assert.deepEqual(await bot.stop(), { code: 0, signal: null });
  const counts = tally(load.said, places, await readStored(stage.storeUrl), stage.model);
  const { lost, givenUp, disordered, redone, uncounted, needless } = counts;
  assert.deepEqual(
    { lost, givenUp, disordered, redone, uncounted, needless },
    { lost: [], givenUp: [], disordered: [], redone: [], uncounted: [], needless: [] },
  );
  assert.equal(counts.accepted, counts.said);
  assert.doesNotMatch(bot.errors().join(), /could not record an event/, 'the audit has all of it');
});
