import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const toml = '[bot]\nowner = ["telegram:1001"]\n[access]\nusers = ["telegram:1002"]\n';
const eve = { id: 1666, first_name: 'Eve' };

const refused = (set: WholeBot, id: number) =>
  set.log.line(
    ({ message, fields }) =>
      message === 'a message was not admitted' && String(fields['message']).endsWith(`:${id}`),
  );

test('H13 added to a group that is not listed, the bot asks its owners: Allow holds over a restart, Ignore is for good', async (t) => {
  const set = await startWholeBot(t, { toml, script: ['Hello, friends.', 'Still here.'] });
  const { telegram } = set;
  const owner = telegram.person({ name: 'Olga', id: 1001 });
  const pat = telegram.person({ name: 'Pat', id: 1002 });
  const stranger = telegram.person({ name: 'Eve', id: eve.id });
  owner.says('/whoami');
  await owner.dm.nextMessage();
  const [friends, foes] = [telegram.group({ title: 'Friends' }), telegram.group({ title: 'Foes' })];
  for (const group of [friends, foes]) {
    group.setBot('absent');
    group.setBot('member', eve);
  }

  const question = await owner.dm.nextMessage('Friends');
  assert.match(
    question.text,
    new RegExp(`Eve \\(telegram:1666\\) added me to Friends.*telegram:${friends.id}`),
  );
  assert.deepEqual(question.buttons, ['Allow', 'Ignore']);
  for (const [person, words] of [
    [stranger, 'You don’t have access to this bot. Ask its operator for it.'],
    [pat, 'Only an owner can decide about groups.'],
  ] as const) {
    const inVain = person.presses(question.id, 'Allow', owner.dm);
    const changed = () => owner.dm.sent().find(({ text }) => text.startsWith('Allowed'))?.text;
    assert.equal(await telegram.until('a word on the press', () => inVain.text() ?? changed()), words);
  }
  await refused(set, pat.says('@test_bot may I?', { in: friends }));
  owner.presses(question.id, 'Allow');
  const outcome = (id: number, word: string) =>
    telegram.until(word, () => owner.dm.sent().find((one) => one.id === id && one.text.startsWith(word)));
  assert.deepEqual((await outcome(question.id, 'Allowed')).buttons, []);
  pat.says('@test_bot hello', { in: friends });
  assert.equal((await friends.nextMessage()).text, 'Hello, friends.');

  const unwanted = await owner.dm.nextMessage('Foes');
  owner.presses(unwanted.id, 'Ignore');
  await outcome(unwanted.id, 'Ignored');
  foes.setBot('absent');
  foes.setBot('member', eve);
  await refused(set, owner.says('@test_bot are you there?', { in: foes }));
  const again = await set.restart();
  const listed = await again.bot.operate('pair list');
  assert.deepEqual(
    [listed.groups.map(({ id }) => id), listed.ignored.map(({ id }) => id)],
    [[`telegram:${friends.id}`], [`telegram:${foes.id}`]],
  );
  pat.says('@test_bot and now?', { in: friends });
  assert.equal((await friends.nextMessage()).text, 'Still here.');

  friends.setBot('kicked');
  friends.setBot('member', eve);
  await owner.dm.nextMessage('Friends');
  assert.equal(owner.dm.everSent().filter(({ texts }) => texts[0]?.includes('Foes')).length, 1);
  assert.deepEqual(foes.everSent(), []);
  assert.equal(set.messages.requests.length, 2);
});

test('H13 an owner who speaks to the bot in a group that is not listed is asked in a direct message; others are not heard', async (t) => {
  const set = await startWholeBot(t, { toml, script: ['Here I am.'] });
  const owner = set.telegram.person({ name: 'Olga', id: 1001 });
  const pat = set.telegram.person({ name: 'Pat', id: 1002 });
  owner.says('/whoami');
  await owner.dm.nextMessage();
  const [own, other] = [set.telegram.group({ title: 'Own' }), set.telegram.group({ title: 'Other' })];
  await refused(set, pat.says('@test_bot hello?', { in: other }));
  const quiet = set.telegram.group({ title: 'Quiet' });
  await refused(set, owner.says('nobody in particular', { in: quiet }));
  const asked = set.telegram.group({ title: 'Asked' });
  owner.says('/whoami', { in: asked });
  await owner.dm.nextMessage(/wrote to me in Asked/);
  assert.deepEqual(asked.everSent(), []);
  owner.says('@test_bot hello?', { in: own });
  const question = await owner.dm.nextMessage(/not listed/);
  assert.match(question.text, new RegExp(`Olga \\(telegram:1001\\) wrote to me in Own.*telegram:${own.id}`));
  owner.presses(question.id, 'Allow');
  await set.telegram.until('the outcome', () =>
    owner.dm.sent().find(({ text }) => text.startsWith('Allowed')),
  );
  owner.says('@test_bot hello again', { in: own });
  assert.equal((await own.nextMessage()).text, 'Here I am.');
  assert.deepEqual(await set.bot.operate('pair revoke', `telegram:${own.id}`), {
    revoked: `telegram:${own.id}`,
  });
  await refused(set, pat.says('@test_bot and I?', { in: own }));
  assert.deepEqual(
    owner.dm.everSent().filter(({ texts }) => /Other|Quiet/.test(texts[0] ?? '')),
    [],
  );
});

test('H13 S11 on Slack, too: the channel is named, and who is no owner any more allows nothing', async (t) => {
  const set = await startWholeBot(t, { channels: ['slack'], script: ['Hello, channel.'] });
  const { slack } = set;
  const olga = slack.workspace.addUser('olga');
  const eve = slack.workspace.addUser('eve');
  const owners = async (id: string, nth: number): Promise<void> => {
    await set.reconfigure(`[bot]\nowner = ["slack:${id}"]\n[access]\nusers = ["slack:${olga.id}"]\n`);
    const changed = () =>
      set.log.lines.filter(({ message }) => message === 'the config was changed').length === nth;
    await set.log.line(changed);
  };
  await owners(olga.id, 1);
  const room = slack.workspace.addRoom('group', { name: 'plans', members: [olga.id, eve.id], bot: false });
  await slack.people.addBot(eve, room);
  const question = await slack.posted(({ text }) => text.includes('plans'));
  assert.equal(question.channel, slack.workspace.dmWith(olga.id).id);
  assert.match(question.text, new RegExp(`eve.*slack:${eve.id}.* added me to .*plans.*slack:${room.id}`));

  await owners(eve.id, 2);
  await slack.people.press(olga, question, 'Allow');
  await set.log.line(
    ({ message }) => message === 'somebody who is not the owner pressed a button on a group',
  );
  await slack.people.mention(olga, room, 'hello?').delivered;
  await owners(olga.id, 3);
  await slack.people.press(olga, question, 'Allow');
  await slack.posted(({ text }) => text.startsWith('Allowed'));
  await slack.people.mention(olga, room, 'hello!').delivered;
  assert.match((await slack.posted(({ channel }) => channel === room.id)).text, /Hello, channel/);
  assert.equal(set.messages.requests.length, 1);

  await slack.people.removeBot(room);
  const listed = await set.bot.operate('pair list');
  assert.deepEqual(listed.groups, []);
});
