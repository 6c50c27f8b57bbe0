import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const lookup = '---\nname: lookup\ndescription: Looks things up.\n---\nLook it up and say what you found.\n';
const anybody =
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nowner = ["telegram:1001"]\n';
const onSlack = {
  toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n',
  channels: ['slack'],
} as const;

const isRun = (body: { system?: unknown }): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');

/** A model that never ends its first answer, and a promise of the first question. */
function neverEnding() {
  const asked = Promise.withResolvers<void>();
  const script = () => {
    asked.resolve();
    const never = new Promise<void>(() => undefined);
    return { content: [{ type: 'text' as const, text: 'never' }], wire: { hold: never } };
  };
  return { script, asked: asked.promise };
}

test('A8 with [skills] enabled = false nobody has a skill, by list, by name or by button', async (t) => {
  const set = await startWholeBot(t, {
    toml: `${anybody}[skills]\nenabled = false\n`,
    skills: { lookup },
    script: (body) => (isRun(body) ? 'a run' : 'only words'),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('/skills');
  assert.match((await ann.dm.nextMessage()).text, /No skills are available/);
  ann.says('/lookup Paris');
  assert.equal((await ann.dm.nextMessage()).text, 'lookup is off until an owner enables it.');
  assert.equal(set.messages.requests.length, 0);
  assert.doesNotMatch(JSON.stringify([...set.telegram.menus().values()]), /lookup/);
});

test('I3 a skill that a command wins over is not listed as one to start by name', async (t) => {
  const named = (name: string): string => lookup.replace('lookup', name);
  const set = await startWholeBot(t, {
    toml: anybody,
    skills: { lookup, help: named('help') },
    script: () => 'said',
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('/skills');
  const { text } = await ann.dm.nextMessage();
  assert.match(text, /\/lookup/);
  assert.doesNotMatch(text, /\/help/);
  ann.says('/help');
  assert.match((await ann.dm.nextMessage()).text, /\/whoami/);
});

test('D7 a name typed right after its skill was written is found by looking at the files again', async (t) => {
  const set = await startWholeBot(t, {
    toml: anybody,
    script: (body) => (isRun(body) ? 'a run' : 'said'),
  });
  const ann = set.telegram.person({ name: 'Ann' });
  for (const [name, call] of [
    ['one', '/one x'],
    ['two', '/skill two x'],
  ] as const) {
    const before = set.messages.requests.length;
    await set.skill(name, lookup.replace('lookup', name));
    ann.says(call);
    await ann.dm.nextMessage('said');
    assert.ok(isRun(set.messages.requests[before]!.body), `${call} ran without asking a model first`);
  }
});

test('Q4 /stop drops an album that is still waiting for its rest, and says so', async (t) => {
  const set = await startWholeBot(t, { toml: anybody, script: ['not to be heard'] });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.sendsAlbum(2, 'look');
  ann.says('/stop');
  assert.match((await ann.dm.nextMessage()).text, /Nothing was running\. I cancelled 1 waiting message/);
  ann.says('/stop');
  assert.match((await ann.dm.nextMessage()).text, /Nothing is running here/);
  await set.bot.idle();
  assert.equal(set.messages.requests.length, 0);
});

test('Q4 I3 in a group /stop leaves what others wait for, and the owner drops it all', async (t) => {
  const set = await startWholeBot(t, { toml: anybody, script: ['not to be heard'] });
  const [ann, bob] = [set.telegram.person({ name: 'Ann' }), set.telegram.person({ name: 'Bob' })];
  const olga = set.telegram.person({ name: 'Olga', id: 1001 });
  const group = set.telegram.group();
  ann.sendsAlbum(2, '@test_bot look', { in: group });
  bob.says('/stop@test_bot', { in: group });
  assert.match((await group.nextMessage()).text, /Nothing is running here/);
  olga.says('/stop@test_bot', { in: group });
  assert.match((await group.nextMessage()).text, /I cancelled 1 waiting message/);
  await set.bot.idle();
  assert.equal(set.messages.requests.length, 0);
});

test('I3 A11 in private a name that is clearly mistyped is answered with the right one; any other, a hidden skill alike, is a message', async (t) => {
  const named = (name: string): string => lookup.replace('lookup', name);
  // Three letters, words that hold a command, or that a command holds, are no slip.
  const ordinary = ['/payrol now', '/xylophone 3', '/tmp is full', '/payroll', '/xylophone', '/nui'];
  ordinary.push('/art', '/ski', '/rey', '/dmi', '/looking', '/etc');
  const set = await startWholeBot(t, {
    toml: `${anybody}[skills.payroll]\nallow_users = ["telegram:1001"]\n`,
    skills: { lookup, payroll: named('payroll') },
    script: ({ messages }) => {
      const read = JSON.stringify(messages.at(-1));
      const longest = ordinary.toSorted((a, b) => b.length - a.length);
      return `the model read ${longest.find((said) => read.includes(said)) ?? 'nothing'}`;
    },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  for (const [said, nearest] of [
    ['/staus', 'Did you mean /status? '],
    ['/lokup Paris', 'Did you mean /lookup? '],
    ['/hlep', 'Did you mean /help? '],
  ] as const) {
    ann.says(said);
    const name = said.split(' ')[0] ?? '';
    assert.equal(
      (await ann.dm.nextMessage()).text,
      `I don’t know the command ${name}. ${nearest}/help lists what I know. To send it as a message, leave out the /.`,
    );
  }
  assert.equal(set.messages.requests.length, 0);
  for (const said of ordinary) {
    ann.says(said);
    assert.equal((await ann.dm.nextMessage()).text, `the model read ${said}`);
  }
  const group = set.telegram.group();
  ann.says('@test_bot /payrol now', { in: group });
  assert.equal((await group.nextMessage()).text, 'the model read /payrol now');
});

test('I3 a name is shown as it is: no link can be made of it in /status or /stop', async (t) => {
  const { script, asked } = neverEnding();
  const set = await startWholeBot(t, { toml: anybody, script });
  const eve = set.telegram.person({ name: '[gift](https://evil.example)' });
  const bob = set.telegram.person({ name: 'Bob' });
  const group = set.telegram.group();
  group.setBot('administrator');
  eve.says('@test_bot a long question', { in: group });
  await asked;
  for (const [command, expected] of [
    ['/status@test_bot', /answering \[gift\]/],
    ['/stop@test_bot', /Only \[gift\]/],
  ] as const) {
    bob.says(command, { in: group });
    const isAlone = command.startsWith('/status');
    const { text, entities } = await (isAlone
      ? group.nextShownTo(bob, expected)
      : group.nextMessage(expected));
    assert.match(text, /\[gift\]\(https:\/\/evil\.example\)/);
    assert.ok(!entities.some(({ type }) => type === 'text_link' || type === 'url'), command);
  }
  eve.says('/stop@test_bot', { in: group });
  await group.nextMessage(/Stopped/);
});

test('I1 Q4 /skill stop and status from a Slack channel mean the own work in every thread of it', async (t) => {
  const { script, asked } = neverEnding();
  const { slack } = await startWholeBot(t, { ...onSlack, script });
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  const question = slack.people.mention(anna, room, 'a long question');
  await asked;
  await slack.people.slash(ben, room, 'stop');
  await slack.shown.until(
    ({ text, user }) => user === ben.id && /Nothing is running here/.test(String(text)),
  );
  await slack.people.slash(anna, room, 'status');
  await slack.shown.until(({ text }) => /answering `anna`/.test(String(text)));
  await slack.people.slash(anna, room, 'stop');
  await slack.shown.until(({ text, user }) => user === anna.id && /Stopping/.test(String(text)));
  await slack.posted(({ text, threadTs }) => threadTs === question.ts && text.includes('Stopped'));
});

test('Q2 A3 a command in a mention that comes before its twin is answered for the chat it is in', async (t) => {
  const { slack } = await startWholeBot(t, { ...onSlack, skills: { lookup }, script: [] });
  slack.knobs.twins = 'mention-first';
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const asked = slack.people.mention(anna, room, 'skills');
  await slack.shown.until(({ kind, text }) => kind === 'ephemeral' && /\/lookup/.test(String(text)));
  await asked.delivered;
  await slack.idle();
  assert.equal(slack.shown.all().filter(({ kind }) => kind === 'ephemeral').length, 1, 'once');
});

test('A10 on Slack, where /start is no command, the owner claims by text, by ! and by the slash command', async (t) => {
  const { slack, bot } = await startWholeBot(t, { channels: ['slack'], toml: '', script: [] });
  const ways = [
    (user: typeof anna, claim: string) => slack.people.dm(user, `start ${claim}`).delivered,
    (user: typeof anna, claim: string) => slack.people.dm(user, `!start ${claim}`).delivered,
    (user: typeof anna, claim: string) =>
      slack.people.slash(user, slack.workspace.dmWith(user.id), `start ${claim}`),
  ];
  const anna = slack.workspace.addUser('anna');
  for (const [index, way] of ways.entries()) {
    const user = index === 0 ? anna : slack.workspace.addUser(`user${index}`);
    await way(user, `claim_${await bot.pairing.newOwnerToken()}`);
    const dm = slack.workspace.dmWith(user.id).id;
    await slack.posted(({ channel, text }) => channel === dm && text.includes('You are the owner now'));
    assert.equal(await bot.users.isOwner(`slack:${user.id}`), true);
  }
});

test('A10 a claim with a wrong token is answered once an hour, and the right one still counts', async (t) => {
  const set = await startWholeBot(t, { script: [] });
  const eve = set.telegram.person({ name: 'Eve' });
  for (let guess = 0; guess < 3; guess++) eve.says(`/start claim_${String(guess).repeat(32)}`);
  assert.match((await eve.dm.nextMessage()).text, /invalid or has expired/);
  eve.says(`/start claim_${await set.bot.pairing.newOwnerToken()}`);
  await eve.dm.nextMessage(/You are the owner now/);
  assert.equal(eve.dm.everSent().length, 2);
});
