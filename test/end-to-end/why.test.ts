import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`;
const rules = `[bot]
owner = ["telegram:1"]
[access]
users = ["telegram:2"]
groups = ["-100", "-1002000000001"]
group_users = ["telegram:1", "telegram:2"]
[skills]
bundled = false
[skills.payroll]
allow_users = ["telegram:1"]
`;
const skills = { payroll: skill('payroll'), lookup: skill('lookup', 'env: [LOOKUP_KEY]\n') };

test('L13 /why tells an owner in private who may do what, by which rule, and what would change it', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: rules,
    skills,
    script: () => 'said',
  });
  const owner = telegram.person({ name: 'Ann', id: 1 });
  const ask = async (words: string): Promise<string> => {
    owner.says(words);
    return (await owner.dm.nextMessage()).text;
  };
  const all = await ask('/why 2');
  assert.match(all, /telegram:2 may talk to me in a direct message\./);
  assert.match(all, /Rule: access\.users \S*\/config\.toml:\d+\n/);
  assert.match(all, /Skills they may use there: lookup\n[^]*Skills they may not use there: payroll/);
  const one = await ask('/why telegram:2 payroll');
  assert.match(
    one,
    /telegram:2 may not use payroll there\.[^]*Rule: skills\.payroll\.allow_users \S*\/config\.toml:\d+\n/,
  );
  assert.match(one, /To change that: add "telegram:2" there/);
  assert.match(
    await ask('/why 2 lookup'),
    /may use lookup there\.[^]*\n\nlookup needs LOOKUP_KEY in its settings\./,
  );
  const elsewhere = await ask('/why 9 -100 lookup');
  assert.match(
    elsewhere,
    /telegram:9 may not talk to me in telegram:-100\.[^]*group_users[^]*telegram:9 may use lookup there/,
  );
  assert.match(
    await ask('/why 9 telegram:-200'),
    /may not talk to me in telegram:-200[^]*an owner presses Allow/,
  );
  assert.match(await ask('/why 2 lookpu'), /don’t know the skill lookpu\. Did you mean lookup\?/);
  for (const wrong of ['/why', '/why Ann', '/why 2 slack:C1 lookup', '/why 2 lookup again'])
    assert.match(
      await ask(wrong),
      /Write \/why PERSON SKILL, or \/why PERSON CHAT SKILL.*such as telegram:42/,
      wrong,
    );
  assert.equal(messages.requests.length, 0);
});

test('L13 H12 A11 in a group /why is about its author where it answers a message, and only the owner reads it', async (t) => {
  const set = await startWholeBot(t, { skills, toml: rules, script: () => 'said' });
  const { telegram, bot } = set;
  const [owner, ben] = [telegram.person({ name: 'Ann', id: 1 }), telegram.person({ name: 'Ben', id: 2 })];
  const room = telegram.group({ title: 'Team' });
  owner.says('/whoami');
  await owner.dm.nextMessage();
  const question = ben.says('may I?', { in: room });
  owner.says('/why@test_bot payroll', { in: room, replyTo: question });
  const { text } = await owner.dm.nextMessage();
  assert.equal((await room.nextMessage()).text, 'I answered you in a direct message.');
  assert.match(text, /telegram:2 may talk to me here\.[^]*telegram:2 may not use payroll there\./);
  ben.says('/why@test_bot 1 payroll', { in: room });
  assert.match((await room.nextMessage()).text, /^I can say that only in a direct message/);
  await bot.idle();
  assert.deepEqual(ben.dm.sent(), []);
  ben.says('/start');
  assert.equal((await ben.dm.nextMessage('Only')).text, 'Only an owner can ask that.');
});

test('L13 H12 on Slack only the owner sees the answer; "why" after a mention is a question like any other', async (t) => {
  const set = await startWholeBot(t, { skills, toml: '', script: () => 'Because.', channels: ['slack'] });
  const { slack } = set;
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  await set.reconfigure(
    `[bot]\nowner = ["slack:${anna.id}"]\n[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills.payroll]\nallow_users = []\n`,
  );
  await set.log.line(({ message }) => message === 'the config was changed');
  await slack.people.slash(anna, room, `why ${ben.id} payroll`);
  const shown = await slack.shown.until(
    ({ kind, text }) => kind === 'ephemeral' && /payroll/.test(String(text)),
  );
  assert.equal(shown.user, anna.id);
  assert.match(String(shown.text), new RegExp(`slack:${ben.id}.* may talk to me here`));
  await set.bot.idle();
  assert.deepEqual(slack.transcript(room), []);
  slack.people.mention(anna, room, 'why');
  assert.equal((await slack.posted(({ text }) => text.startsWith('Because'))).text, 'Because.');
});
