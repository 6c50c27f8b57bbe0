import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startWholeBot } from '../support/whole-bot.ts';

const mentions = 1_000;

test(`Q2 H4 the bot answers ${mentions} mentions whose twins come shuffled, once each`, async (t) => {
  const { slack } = await startWholeBot(t, {
    toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false\n',
    channels: ['slack'],
  });
  slack.knobs.held = true;
  slack.knobs.twins = 'together';
  // Platform and bot share this process: all at once, they would keep each other waiting for longer than a bot waits for Slack.
  slack.knobs.atOnce = 40;
  const anna = slack.workspace.addUser('anna');
  // A room takes one message a second.
  const said = Array.from({ length: mentions }, (_, index) => {
    const kind = (['channel', 'group', 'mpim'] as const)[index % 3] ?? 'channel';
    const room = slack.workspace.addRoom(kind, { members: [anna.id] });
    return { room, asked: slack.people.mention(anna, room, `number ${index}`) };
  });
  const [order] = fc.sample(
    fc.shuffledSubarray([...Array(mentions * 2).keys()], { minLength: mentions * 2 }),
    1,
  );
  slack.release((waiting) => (order ?? []).flatMap((index) => waiting[index] ?? []));
  await Promise.all(said.map(({ asked }) => asked.delivered));
  await slack.changes.untilCount(mentions, ({ kind }) => kind === 'posted');
  await slack.idle();
  const answers = said.map(
    ({ room, asked }) => room.messages.filter(({ threadTs }) => threadTs === asked.ts).length,
  );
  assert.deepEqual(
    answers.filter((count) => count !== 1),
    [],
  );
});
