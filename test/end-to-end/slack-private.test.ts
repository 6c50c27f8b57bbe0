import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`;
const isRun = (body: { system?: unknown }): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');

/** The id of the first user of a workspace. */
const annasId = 'U00000004';

/** A channel with Anna and Ben in it. Payroll is Anna's alone. */
async function inChannel(t: TestContext) {
  const set = await startWholeBot(t, {
    toml: [
      '[access]\nusers = ["slack:*"]\ngroups_mode = "open"',
      `[skills]\nbundled = false\n[skills.payroll]\nallow_users = ["slack:${annasId}"]`,
    ].join('\n'),
    skills: {
      diary: skill('diary', 'sensitive: true\n'),
      lookup: skill('lookup'),
      notes: skill('notes', 'sensitive: true\naccess:\n  chat_types: [channel]\n'),
      payroll: skill('payroll'),
      trip: skill('trip', 'argument_hint: <city>\n'),
    },
    script: (body) => (isRun(body) ? 'found it' : 'Said nicely.'),
    channels: ['slack'],
  });
  const { slack } = set;
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  assert.equal(anna.id, annasId);
  const addRoom = () => slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  /** What the bot showed Anna alone. */
  const alone = (room: { id: string }, words: RegExp) =>
    slack.shown.until(
      ({ kind, user, channel, text }) =>
        kind === 'ephemeral' && user === anna.id && channel === room.id && words.test(String(text)),
    );
  return { ...set, anna, room: addRoom(), addRoom, alone };
}

test('H12 A11 what is asked of a sensitive skill by a slash command in a channel is seen by nobody else', async (t) => {
  const { slack, bot, messages, anna, room, alone } = await inChannel(t);
  await slack.people.slash(anna, room, 'diary about my divorce');
  const refusal = await alone(room, /direct message only/);
  assert.match(JSON.stringify(refusal['blocks']), /slack\.com\/app_redirect/);
  await bot.idle();
  assert.deepEqual(slack.transcript(room), []);
  assert.doesNotMatch(JSON.stringify(slack.calls.all()), /divorce/);
  assert.equal(messages.requests.length, 0);
});

test('H12 A9 what a stranger asks for by a slash command in a channel shows nothing, to nobody', async (t) => {
  const { slack, bot, messages } = await startWholeBot(t, {
    toml: `[access]\nusers = ["slack:${annasId}"]\ngroups_mode = "open"`,
    skills: { lookup: skill('lookup') },
    script: () => 'Said nicely.',
    channels: ['slack'],
  });
  const [anna, eve] = [slack.workspace.addUser('anna'), slack.workspace.addUser('eve')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, eve.id] });
  for (const text of ['lookup my divorce', '', 'help', 'whoami', 'settings'])
    assert.equal((await slack.people.slash(eve, room, text)).ok, true);
  await bot.idle();
  assert.deepEqual([slack.transcript(room), slack.shown.all(), messages.requests], [[], [], []]);
  assert.doesNotMatch(JSON.stringify(slack.calls.all()), /divorce/);
});

test('H12 what the bot itself answers to a slash command in a channel is for its sender alone', async (t) => {
  const { slack, bot, anna, addRoom, alone } = await inChannel(t);
  const answers = [
    ['help', /whoami/],
    ['', /lookup/],
    ['skills', /lookup/],
    ['status', /Model:/],
    ['whoami', /slack:U/],
    ['tools', /./],
    ['nothing-like-it', /no skill `nothing-like-it`/],
    ['trip', /city/],
    ['new', /thread/],
    ['tasks', /background/],
  ] as const;
  await Promise.all(
    answers.map(async ([command, answer]) => {
      const room = addRoom();
      await slack.people.slash(anna, room, command);
      await alone(room, answer);
      await bot.idle();
      assert.deepEqual(slack.transcript(room), [], command);
    }),
  );
});

test('H12 the thread of a slash call quotes what was asked only where everybody may ask the same', async (t) => {
  const { slack, bot, anna, addRoom } = await inChannel(t);
  const rooted = async (text: string) => {
    const room = addRoom();
    await slack.people.slash(anna, room, text);
    return (await slack.posted((said) => said.channel === room.id)).text;
  };
  assert.equal(await rooted('lookup Paris & Rome'), `<@${anna.id}> asked for lookup: Paris &amp; Rome`);
  assert.equal(await rooted('payroll of Ben'), `<@${anna.id}> asked for payroll`);
  assert.equal(await rooted('notes of my doctor'), `<@${anna.id}> asked for notes`);
  await bot.idle();
});

test('H12 a skill picked from a list that one person sees begins a thread', async (t) => {
  const { slack, messages, anna, room, alone } = await inChannel(t);
  await slack.people.slash(anna, room, '');
  await slack.people.pressAlone(anna, await alone(room, /lookup/), 'lookup');
  const root = await slack.posted(({ threadTs }) => threadTs === undefined);
  assert.equal(root.text, `<@${anna.id}> asked for lookup`);
  await slack.posted(({ threadTs, text }) => threadTs === root.ts && text.includes('Said nicely'));
  assert.ok(isRun(messages.requests[0]!.body));
});

test('H12 help, lists and usage name commands as Slack takes them', async (t) => {
  const { slack, anna, alone } = await inChannel(t);
  const dm = slack.workspace.dmWith(anna.id);
  await slack.people.slash(anna, dm, 'help');
  const help = await slack.posted(({ text }) => text.includes('whoami'));
  assert.match(help.text, /`\/skill status`/);
  await slack.people.slash(anna, dm, 'skills');
  const list = await slack.posted(({ text }) => text.includes('Does lookup'));
  assert.match(list.text, /`\/skill lookup`/);
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.people.mention(anna, room, 'help');
  const inThread = String((await alone(room, /`@skillet status`/)).text);
  for (const text of [help.text, list.text, inThread])
    assert.doesNotMatch(text, /`\/(?:skills|new|stop|tasks|status|whoami|lookup)\b/);
});
