import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt } from '../support/crash/kill-points.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';
import { stepsOf } from '../support/call-steps.ts';

const details = '(INSERT INTO outbox|skillet\\.write_steps)\\b.*!details:';

/** Undefined if this run does not try the store; then the test is skipped, and says why. */
async function stageOf(
  t: TestContext,
  channel: 'telegram' | 'slack',
  store: (typeof storeNames)[number],
): Promise<CrashStage | undefined> {
  if (store !== 'embedded' && !thorough) return void t.skip('in npm run test:crash');
  const opened = await openStoreFor(store);
  if (opened === undefined) return void t.skip(noPostgres);
  t.after(opened.close);
  const stage = await openCrashStage({
    ...opened.options,
    channels: [channel],
    toml: '[agent]\ntools = ["write_file"]\n[policy]\nmoderate = "confirm"\n',
    script: stepsOf([{ name: 'write_file', input: { path: 'a.txt', content: 'HIDDEN' } }], 'All done.'),
  });
  t.after(stage.close);
  return stage;
}

for (const store of storeNames)
  for (const when of ['before', 'committed'] as const) {
    const name = `U16 T8 on ${store}, killed ${when === 'before' ? 'before' : 'after'} the details of an approval are stored,`;
    test(`${name} they come to who pressed, in Telegram, and to nobody else`, async (t) => {
      const stage = await stageOf(t, 'telegram', store);
      if (stage === undefined) return;
      const { telegram, start } = stage;
      const [ann, bob] = [telegram.person({ name: 'Ann' }), telegram.person({ name: 'Bob' })];
      const room = telegram.group({ title: 'Team' });
      const first = start({ preload: killingAt({ at: details, when }) });
      ann.says('/whoami');
      await ann.dm.nextMessage(/^You: /);
      ann.says('@test_bot write it', { in: room });
      const question = await room.nextMessage(/needs? a yes to use write_file/);
      ann.presses(question.id, 'Details', room);
      await hasKilledItself(first, name);
      const second = start();
      const found = () =>
        [...room.shownTo(ann), ...ann.dm.sent()].find(({ text }) => /wants? to use write_file/.test(text));
      const shown = await telegram.until('the details', found);
      assert.match(shown.text, /HIDDEN/);
      if (room.shownTo(ann).some(({ id }) => id === shown.id)) ann.pressesAlone(shown.id, 'Approve', room);
      else ann.presses(shown.id, 'Approve');
      await telegram.until('the outcome', () =>
        room.sent().find(({ text }) => text === 'Approved by Ann: write_file.'),
      );
      await second.stop();
      const read = room.everSent().flatMap(({ texts }) => texts);
      assert.ok(!read.some((text) => /HIDDEN|a\.txt/.test(text)), read.join('\n'));
      assert.deepEqual([...room.shownTo(bob), ...bob.dm.everSent()], []);
    });

    test(`${name} they come to who pressed, in Slack, and to nobody else`, async (t) => {
      const stage = await stageOf(t, 'slack', store);
      if (stage === undefined) return;
      const { slack, start } = stage;
      const [ann, bob] = [slack.workspace.addUser('ann'), slack.workspace.addUser('bob')];
      const room = slack.workspace.addRoom('channel', { members: [ann.id, bob.id] });
      const first = start({ preload: killingAt({ at: details, when }) });
      slack.people.mention(ann, room, 'write it');
      const question = await slack.posted(({ text }) => /needs? a yes to use/.test(text));
      void slack.people.press(ann, question, 'Details');
      await hasKilledItself(first, name);
      const second = start();
      assert.equal(await second.ready, true);
      // Slack drops a press that nobody took, and tells the person.
      if (when === 'before') void slack.people.press(ann, question, 'Details');
      const shown = await slack.shown.until(({ text }) => /wants? to use/.test(String(text)));
      assert.deepEqual([shown['kind'], shown['user']], ['ephemeral', ann.id]);
      assert.equal((await slack.people.pressAlone(ann, shown, 'Approve')).ok, true);
      await slack.changes.until(({ message }) => message.text.startsWith('Approved by `ann`'));
      await second.stop();
      const read = slack.calls
        .all()
        .filter(({ method, args }) => args['channel'] === room.id && method !== 'chat.postEphemeral');
      assert.doesNotMatch(JSON.stringify(read), /HIDDEN|a\.txt/);
    });
  }
