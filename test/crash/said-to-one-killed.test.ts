import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { noPostgres } from '../support/postgres.ts';

/** Statements between the refusal of what one person would see and the arrival of the direct message. */
const moments: readonly KillAt[] = [
  { at: '(INSERT INTO outbox|skillet\\.write_steps)\\b.*!direct', when: 'before' },
  { at: '(INSERT INTO outbox|skillet\\.write_steps)\\b.*!direct', when: 'committed' },
  { at: "UPDATE outbox SET status = 'sending'|skillet\\.begin_sends\\b", when: 'before', nth: 2 },
];

for (const store of storeNames) {
  test(`U16 Q6 on ${store}, killed between a refused private answer and its direct message, it comes there, and no word to the group`, async (t) => {
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const stage = await openCrashStage({ ...opened.options, channels: ['telegram'] });
    t.after(stage.close);
    for (const [index, kill] of moments.entries()) {
      const name = JSON.stringify(kill);
      const ann = stage.telegram.person({ name: `Ann ${index}` });
      const room = stage.telegram.group();
      const first = stage.start();
      ann.says(`say n${index + 1}1`);
      await ann.dm.nextMessage(`n${index + 1}1`);
      await first.stop();
      const bot = stage.start({ preload: killingAt(kill) });
      ann.says('/whoami@test_bot', { in: room });
      await hasKilledItself(bot, name);
      const next = stage.start();
      await ann.dm.nextMessage(/^You: /);
      await room.nextMessage('I answered you in a direct message.');
      ann.says(`say n${index + 1}2`);
      await ann.dm.nextMessage(`n${index + 1}2`);
      assert.deepEqual(await next.stop(), { code: 0, signal: null });
      const direct = ann.dm.everSent().filter(({ text }) => text.startsWith('You: '));
      // A send that the death cut off is repeated (Q6).
      const most = 1 + next.resent();
      assert.ok(direct.length <= most, name);
      const texts = room.everSent().map(({ text }) => text);
      assert.deepEqual([...new Set(texts)], ['I answered you in a direct message.'], name);
      assert.ok(texts.length <= most, name);
      assert.deepEqual(room.shownTo(ann), [], name);
    }
  });
}
