import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`;
const skills = {
  club: skill('club'),
  party: skill('party', 'access:\n  chat_types: [group]\n'),
  rest: skill('rest'),
  payroll: skill('payroll'),
  inner: skill('inner', 'user_invocable: false\n'),
};
const rules = (owner: string, users: string, chat: string): string => `[bot]
owner = ["${owner}"]
[access]
users = ["${users}"]
groups_mode = "open"
group_users = ["*"]
[skills]
bundled = false
[skills.club]
allow_chat_ids = ["${chat}"]
[skills.rest]
enabled = false
[skills.payroll]
allow_users = []
`;

test('A11 A4 L13 on Telegram a command for a skill that is denied here gets a sentence, and an owner its rule in private', async (t) => {
  const set = await startWholeBot(t, {
    toml: rules('telegram:1', 'telegram:2', 'telegram:-5'),
    skills,
    script: () => 'the model',
  });
  const [ann, ben] = [1, 2].map((id) => set.telegram.person({ name: `P${id}`, id }));
  const room = set.telegram.group();
  assert.ok(ann && ben);
  const inDirect = async (who: typeof ann, words: string): Promise<string> => {
    who.says(words);
    return (await who.dm.nextMessage()).text;
  };
  const inRoom = async (who: typeof ann, words: string): Promise<string> => {
    who.says(words, { in: room });
    return (await room.nextMessage()).text;
  };
  for (const call of ['/club hi', '/skill club hi', '/club'])
    assert.equal(await inDirect(ben, call), 'club does not work in this chat.', call);
  assert.equal(await inDirect(ben, '/party now'), 'party works in groups only.');
  assert.equal(await inDirect(ben, '/rest'), 'rest is off until an owner enables it.');
  for (const who of [ann, ben]) {
    // A bot that is no administrator can't show it to one person, and others read nothing about a skill (U16).
    assert.equal(await inRoom(who, '/club@test_bot hi'), 'I can’t do that here.');
    assert.equal(await inRoom(who, '/skill@test_bot rest'), 'I can’t do that here.');
  }
  assert.equal(set.messages.requests.length, 0);
  assert.match(
    await inDirect(ann, '/club hi'),
    /^club does not work in this chat\.\n[^]*Because: [^]*Rule: skills\.club\.allow_chat_ids \S*\/config\.toml:\d+\n[^]*To change that: add "telegram:1" there$/,
  );
  assert.match(await inDirect(ann, '/rest'), /^rest is off [^]*Rule: skills\.rest\.enabled /);
  assert.match(await inDirect(ann, '/party'), /^party works in groups only\.[^]*party\/SKILL\.md/);
  assert.match(await inDirect(ann, '/payroll'), /^payroll does not [^]*Rule: skills\.payroll\.allow_users /);
  assert.equal(set.messages.requests.length, 0);
  // What is hidden from them, and what only the model starts, are messages.
  for (const [who, call] of [
    [ben, '/payroll'],
    [ben, '/inner'],
    [ann, '/inner'],
  ] as const)
    assert.equal(await inDirect(who, call), 'the model', call);
  assert.match(await inDirect(ben, '/skill payroll'), /^There is no skill payroll here\./);
  assert.equal(await inRoom(ann, '/payroll@test_bot'), 'the model');
});

test('A11 L13 H12 on Slack a slash command is refused in private, to an owner with the rule, in any chat', async (t) => {
  const annasId = 'U00000004';
  const set = await startWholeBot(t, {
    toml: rules(`slack:${annasId}`, 'slack:*', 'slack:C0OTHER99'),
    skills,
    script: () => 'the model',
    channels: ['slack'],
  });
  const { slack } = set;
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  assert.equal(anna.id, annasId);
  const answer = async (who: typeof anna, words: string): Promise<string> => {
    const before = new Set(slack.shown.all());
    await slack.people.slash(who, room, words);
    const shown = await slack.shown.until((one) => one.kind === 'ephemeral' && !before.has(one));
    assert.equal(shown.user, who.id);
    return String(shown.text);
  };
  assert.equal(await answer(ben, 'club hi'), 'club does not work in this chat.');
  assert.equal(await answer(ben, 'party'), 'party works in groups only.');
  assert.equal(await answer(ben, 'rest'), 'rest is off until an owner enables it.');
  assert.match(
    await answer(anna, 'club hi'),
    new RegExp(`^club does not [^]*skills\\.club\\.allow_chat_ids[^]*add "slack:${room.id}" there$`),
  );
  assert.match(await answer(anna, 'payroll'), /skills\.payroll\.allow_users/);
  await set.bot.idle();
  assert.deepEqual(slack.transcript(room), []);
  const before = new Set(slack.shown.all());
  slack.people.mention(anna, room, '/club hi');
  const alone = await slack.shown.until((one) => one.kind === 'ephemeral' && !before.has(one));
  assert.deepEqual([alone.user, alone.text], [anna.id, 'club does not work in this chat.']);
  assert.equal(set.messages.requests.length, 0);
});
