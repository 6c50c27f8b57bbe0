import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { plantRoutines, readRoutines } from '../support/plant-routine.ts';
import { startWholeBot } from '../support/whole-bot.ts';

/** Who reads along sees another's routine, and its buttons (N3). */
const inAnHour = -3_600_000;
const yearly = { kind: 'cron', expression: '0 9 1 1 *' } as const;
const refusal = 'Only the person who set it up, or an owner, can do that.';

/** Makes the routine of this id due, with two failures behind it: the next one pauses it. */
async function failOnceMore(home: string): Promise<void> {
  const store = await openStore(`sqlite:${home}/data/skillet.db`);
  for (const key of ['one', 'two'])
    await store.routines.settle('watch', { key, due: 1, at: 1, how: 'failed', note: 'x' });
  const watch = await store.routines.find('watch');
  assert.equal(watch?.failures, 2);
  await store.routines.change('watch', { ...watch, dueAt: Date.now() - 1_000 });
  await store.close();
}

test('N3 N4 in a Telegram group somebody else’s press on a paused routine does nothing and says why, an owner’s counts', async (t) => {
  const first = await startWholeBot(t, {
    toml: '[bot]\nowner = ["telegram:1001"]\nshutdown_seconds = 1\n[access]\ngroups_mode = "open"\ngroup_users = ["*"]\n[skills]\nbundled = false\n',
    script: () => 'TASK_FAILED: the site does not answer.',
  });
  const { telegram } = first;
  const olga = telegram.person({ name: 'Olga', id: 1001 });
  telegram.person({ name: 'Ben', id: 1002 });
  const cy = telegram.person({ name: 'Cy', id: 1003 });
  const group = telegram.group();
  const creator = { id: 'telegram:1002', name: 'Ben', kind: 'person', timezone: 'Europe/Berlin' } as const;
  const conversation = { channel: 'telegram', chat: String(group.id) } as const;
  const planted = { creator, conversation, chatType: 'group', when: yearly, name: 'Watch' } as const;
  await plantRoutines(first, { watch: planted }, inAnHour).then(({ bot }) => bot.close());
  await failOnceMore(first.home);
  const set = await first.restart();
  const paused = await group.nextMessage(/failed 3 times in a row/);
  assert.deepEqual(paused.buttons, ['Run now', 'Resume', 'Remove']);
  for (const label of paused.buttons) {
    const press = cy.presses(paused.id, label, group);
    await telegram.until('the answer to the press', press.answered);
    assert.equal(press.text(), refusal, label);
  }
  await set.bot.idle();
  assert.deepEqual(group.sent().at(-1)?.buttons, ['Run now', 'Resume', 'Remove'], 'it is still paused');
  const press = olga.presses(paused.id, 'Resume', group);
  await telegram.until('the answer to the owner', press.answered);
  await set.bot.idle();
  assert.deepEqual(
    (await readRoutines(set)).map(({ id, state }) => [id, state]),
    [['watch', 'active']],
  );
});

test('N3 N4 in a Slack channel somebody else’s press on a paused routine does nothing and says why to them alone', async (t) => {
  const [annasId, bensId] = ['U00000004', 'U00000005'];
  const first = await startWholeBot(t, {
    toml: `[bot]\nowner = ["slack:${annasId}"]\nshutdown_seconds = 1\n[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false\n`,
    script: () => 'TASK_FAILED: the site does not answer.',
    channels: ['slack'],
  });
  const { slack } = first;
  const [anna, ben, cy] = ['anna', 'ben', 'cy'].map((name) => slack.workspace.addUser(name));
  assert.ok(anna?.id === annasId && ben?.id === bensId && cy !== undefined);
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id, cy.id] });
  const creator = { id: `slack:${ben.id}`, name: 'ben', kind: 'person', timezone: 'Europe/Berlin' } as const;
  const conversation = { channel: 'slack', chat: room.id } as const;
  const planted = { creator, conversation, chatType: 'channel', external: false, when: yearly } as const;
  await plantRoutines(first, { watch: { ...planted, name: 'Watch' } }, inAnHour).then(({ bot }) =>
    bot.close(),
  );
  await failOnceMore(first.home);
  const set = await first.restart();
  const paused = await slack.posted(({ text }) => text.includes('failed 3 times in a row'));
  for (const label of ['Run now', 'Resume', 'Remove']) {
    const before = slack.shown.all().length;
    await slack.people.press(cy, paused, label);
    await slack.shown.until(
      (shown) => shown.user === cy.id && slack.shown.all().indexOf(shown) >= before && shown.text === refusal,
    );
  }
  await set.bot.idle();
  assert.deepEqual(
    (await readRoutines(set)).map(({ id, state }) => [id, state]),
    [['watch', 'paused']],
  );
});
