import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

test('Q3 one person with 60 conversations waiting: what another person asks is answered among the first', async (t) => {
  const held = Promise.withResolvers<void>();
  const asked: string[] = [];
  const { slack } = await startWholeBot(t, {
    channels: ['slack'],
    toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n[agent]\nconcurrency = 4\n',
    script: ({ messages }) => {
      const words =
        JSON.stringify(messages)
          .match(/(?:ann|bob)\d+/g)
          ?.at(-1) ?? 'nobody';
      asked.push(words);
      return { content: [{ type: 'text', text: `answer ${words}` }], wire: { hold: held.promise } };
    },
  });
  const ann = slack.workspace.addUser('ann');
  const bob = slack.workspace.addUser('bob');
  for (let n = 1; n <= 60; n++) {
    const room = slack.workspace.addRoom('channel', { members: [ann.id] });
    await slack.people.mention(ann, room, `ann${n} please`).delivered;
  }
  await slack.people.dm(bob, 'bob1 please').delivered;
  held.resolve();
  await slack.posted(({ text }) => text.includes('answer bob1'));
  const started = asked.indexOf('bob1');
  assert.ok(started >= 4 && started < 12, `bob was number ${started}: ${asked.join(' ')}`);
});
