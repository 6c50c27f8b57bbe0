import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { noPostgres } from '../support/postgres.ts';

const isFirst = (text: string): boolean => /, an AI\./.test(text);

/** Statements between the admission of a first message and the send of the first words. */
const moments: readonly KillAt[] = [
  { at: '(INSERT INTO outbox|skillet\\.write_steps)\\b.*first-words:', when: 'committed' },
  { at: '(INSERT INTO (skillet\\.)?inbox|skillet\\.accept_new)\\b.*say n', when: 'committed' },
  { at: "UPDATE outbox SET status = 'sending'|skillet\\.begin_sends\\b", when: 'before' },
];

for (const store of storeNames) {
  test(`U19 Q1 on ${store}, whenever a process dies before it said its first words, they are said once`, async (t) => {
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const stage = await openCrashStage({ ...opened.options, channels: ['telegram'], strangers: true });
    t.after(stage.close);
    for (const [index, kill] of moments.entries()) {
      const ann = stage.telegram.person({ name: `Ann ${index}` });
      const bot = stage.start({ preload: killingAt(kill) });
      ann.says(`say n${index + 1}1`);
      await hasKilledItself(bot, JSON.stringify(kill));
      const next = stage.start();
      await ann.dm.nextMessage(`n${index + 1}1`);
      ann.says(`say n${index + 1}2`);
      await ann.dm.nextMessage(`n${index + 1}2`);
      assert.deepEqual(await next.stop(), { code: 0, signal: null });
      const texts = ann.dm.everSent().map(({ text }) => text);
      const told = JSON.stringify([kill, texts]);
      assert.ok(isFirst(texts[0] ?? ''), told);
      // A send that the death cut off is repeated (Q6).
      assert.ok(texts.filter(isFirst).length <= 1 + next.resent(), told);
    }
  });
}

test('U19 Q9 two processes that hear a person at once say their first words once', async (t) => {
  const opened = await openStoreFor('postgres');
  if (opened === undefined) return t.skip(noPostgres);
  t.after(opened.close);
  const stage = await openCrashStage({ ...opened.options, channels: ['slack'], strangers: true });
  t.after(stage.close);
  const bots = [stage.start({ number: 0 }), stage.start({ number: 1 })];
  for (const bot of bots) assert.equal(await bot.ready, true);
  const { workspace, people, posted, transcript } = stage.slack;
  const users = Array.from({ length: 12 }, (_, n) => workspace.addUser(`anna${n}`));
  for (const [index, user] of users.entries())
    for (const n of [1, 2, 3]) people.dm(user, `say n${index + 10}${n}`);
  for (const [index, user] of users.entries()) {
    const { id } = workspace.dmWith(user.id);
    await posted(({ channel, text }) => channel === id && text.includes(`n${index + 10}3`));
  }
  for (const bot of bots) await bot.stop();
  for (const user of users) {
    const lines = transcript(workspace.dmWith(user.id)).filter((line) => line.startsWith('skillet: '));
    assert.deepEqual([isFirst(lines[0] ?? ''), lines.filter(isFirst).length], [true, 1], lines.join('\n'));
  }
});
