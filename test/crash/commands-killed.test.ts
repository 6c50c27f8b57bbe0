import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, untilHeard, type KillAt } from '../support/crash/kill-points.ts';
import { telegramDm, type Place } from '../support/crash/places.ts';
import { readStored } from '../support/crash/read-stored.ts';
import { seededRandom } from '../support/crash/seeded-random.ts';
import { thorough } from '../support/crash/thorough.ts';

async function openWithPerson(t: TestContext): Promise<{ stage: CrashStage; ann: Place }> {
  const stage = await openCrashStage({ channels: ['telegram'] });
  t.after(() => stage.close());
  const ann = telegramDm(stage, 'Ann', { random: seededRandom(1), twice: 0, edited: 0 });
  return { stage, ann };
}

const times = (place: Place, text: string): number =>
  place.heard().filter((each) => each.includes(text)).length;

for (const [moment, when] of [
  ['about to be put aside', 'before'],
  ['put aside, and nobody told', 'committed'],
] as const) {
  if (when === 'before' && !thorough) continue;
  test(`Q7 M8 killed during /new, the memory ${moment}, it is put aside and that is said once`, async (t) => {
    const { stage, ann } = await openWithPerson(t);
    const first = stage.start({
      preload: killingAt({ at: `INSERT INTO transcripts\\b.*${ann.chat}`, when }),
    });
    await ann.say('say n1');
    await untilHeard(ann, (text) => text.includes('answer n1'));
    await ann.say('/new');
    await hasKilledItself(first, moment);
    const second = stage.start();
    await ann.say('say n2');
    await untilHeard(ann, (text) => text.includes('answer n2'));
    await second.stop();
    assert.equal(times(ann, 'New conversation'), 1);
    assert.doesNotMatch(JSON.stringify(stage.messages.requests.at(-1)?.body.messages), /\bn1\b/);
  });
}

/** A message that is being answered, one behind it, `/stop`, a kill: what was stopped stays so. */
async function stopAndKill(t: TestContext, kill: KillAt): Promise<Place> {
  const { stage, ann } = await openWithPerson(t);
  const first = stage.start({ preload: killingAt(kill) });
  await ann.say('slow n1');
  await stage.model.askedFor('n1');
  await ann.say('say n2');
  await ann.say('/stop');
  await hasKilledItself(first, 'stopping');
  const second = stage.start();
  await untilHeard(ann, (text) => text.endsWith('Stopped.'));
  await ann.say('say n3');
  // The model sees that it owes an answer to what was stopped, too.
  await untilHeard(ann, (text) => /answer .*n3/.test(text));
  await second.stop();
  assert.equal(times(ann, 'Stopped.'), 1);
  assert.equal(times(ann, 'n2'), 0, 'what waited was dropped');
  return ann;
}

test('Q4 Q7 killed when /stop had marked what runs, it ends as stopped at the next start', async (t) => {
  await stopAndKill(t, { at: 'UPDATE inbox SET stopped_at', when: 'committed' });
});

test(
  'Q4 Q7 killed when /stop had dropped what waits, it comes again and is answered once',
  { skip: !thorough && 'in npm run test:crash' },
  async (t) => {
    const ann = await stopAndKill(t, {
      at: "UPDATE inbox SET status = 'done'.*taken_at IS NULL AND",
      when: 'committed',
    });
    // What runs was marked in the same transaction: it may have ended before the command comes again.
    assert.ok(times(ann, 'Nothing is running here.') <= 1);
  },
);

test('Q3 Q7 killed while a message is set aside, the person still hears of it, once', async (t) => {
  const { stage, ann } = await openWithPerson(t);
  void ann.say('say n1');
  for (const kill of [
    { at: 'INSERT INTO entries\\b.*answer n1', when: 'before' },
    { at: 'INSERT INTO entries\\b.*answer n1', when: 'before' },
    // It lives without the message for some 15 s, and then sets it aside.
    { at: 'INSERT INTO outbox\\b.*!dead', when: 'committed' },
    { at: `UPDATE inbox SET status = .*"dead"`, when: 'committed' },
  ] as const) {
    await hasKilledItself(stage.start({ preload: killingAt(kill) }), kill.at);
  }
  const last = stage.start();
  await untilHeard(ann, (text) => text.includes('couldn’t answer that'));
  await ann.say('say n2');
  await untilHeard(ann, (text) => /answer .*n2/.test(text));
  await last.stop();
  // The fourth process may have been about to note that it had said so: then it comes again and is counted (Q6).
  const counted = (await readStored(stage.storeUrl)).repeats.filter(({ text }) =>
    text.includes('couldn’t answer that'),
  );
  assert.ok(times(ann, 'couldn’t answer that') <= 1 + counted.reduce((sum, { repeats }) => sum + repeats, 0));
  const answers = ann.heard().filter((each) => each.startsWith('answer'));
  assert.equal(answers.filter((each) => !each.includes('n2')).length, 0);
});
