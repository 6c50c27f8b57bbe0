import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Chat } from '../servers/telegram/room.ts';
import { seededRandom } from '../support/crash/seeded-random.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

/** The promise: nothing that is meant for one person is ever in a call that others can read (U16). */

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`;
const skills = { payroll: skill('payroll'), lookup: skill('lookup') };

/** Everything that all members of a group may read. Whatever else the bot says to one of them is for that one alone. */
const forAll = [
  'I answered you in a direct message.',
  'I can say that only in a direct message. Write to me there, and you get it.',
  'I can’t do that here.',
  'Said nicely.',
];

async function inGroup(t: TestContext, { admin = false } = {}) {
  const set = await startWholeBot(t, {
    toml: `[bot]
owner = ["telegram:1"]
[access]
users = ["telegram:1", "telegram:2"]
groups_mode = "open"
[skills]
bundled = false
[skills.payroll]
allow_users = ["telegram:1"]
`,
    skills,
    script: () => 'Said nicely.',
    flood: false,
  });
  const { telegram, bot } = set;
  const [ann, ben] = [telegram.person({ name: 'Ann', id: 1 }), telegram.person({ name: 'Ben', id: 2 })];
  const room = telegram.group({ title: 'Team' });
  if (admin) room.setBot('administrator');
  await telegram.until('the menus', () => telegram.menus().has('all_group_chats'));
  return { ...set, telegram, bot, ann, ben, room };
}

/** What the calls to Telegram said where everybody reads it. */
function readByAll({ telegram }: Pick<WholeBot, 'telegram'>, room: Chat): readonly string[] {
  return telegram
    .calls()
    .filter(({ args }) => String(args['chat_id']) === String(room.id))
    .filter(
      ({ args }) =>
        args['ephemeral_message_parameters'] === undefined && args['receiver_user_id'] === undefined,
    )
    .flatMap(({ args }) => [args['text'], args['caption']].filter((text) => typeof text === 'string'))
    .map((text) => text.replace(/<[^>]+>/g, ''));
}

test('U16 Telegram: a command that is marked ephemeral is heard and answered where nobody else sees it', async (t) => {
  const set = await inGroup(t);
  const { ben, room, bot } = set;
  const menu = set.telegram.menus().get('all_group_chats') as readonly Record<string, unknown>[];
  const alone = menu.filter((entry) => entry['is_ephemeral'] === true).map((entry) => entry['command']);
  for (const name of ['help', 'skills', 'status', 'whoami', 'why', 'memory', 'routines'])
    assert.ok(alone.includes(name), name);
  const direct = set.telegram.menus().get('all_private_chats') as readonly Record<string, unknown>[];
  assert.ok(direct.every((entry) => entry['is_ephemeral'] === undefined));
  for (const [said, heard] of [
    ['/whoami', /You: telegram:2 \(user\)/],
    ['/help', /lists what I can do here/],
    ['/status', /Skills here: 1/],
    ['/skills', /Does lookup/],
    ['/why 1', /Only an owner can ask that/],
    ['/memory', /./],
    ['/routines', /./],
  ] as const) {
    ben.whispers(said, { in: room });
    await room.nextShownTo(ben, heard);
  }
  await bot.idle();
  assert.deepEqual(readByAll(set, room), []);
  assert.deepEqual(ben.dm.sent(), []);
});

test('U16 Telegram: a bot that is no administrator answers a public command in the direct message', async (t) => {
  const set = await inGroup(t);
  const { ben, room } = set;
  ben.says('hi');
  await ben.dm.nextMessage('Said nicely.');
  ben.says('/whoami@test_bot', { in: room });
  assert.match((await ben.dm.nextMessage(/telegram:2/)).text, /You: telegram:2 \(user\)/);
  await room.nextMessage('I answered you in a direct message.');
  assert.deepEqual(readByAll(set, room), ['I answered you in a direct message.']);
});

test('U16 Telegram: an answer waits for somebody who has no direct message yet', async (t) => {
  const set = await inGroup(t);
  const { ben, room } = set;
  ben.says('/whoami@test_bot', { in: room });
  const note = await room.nextMessage('I can say that only in a direct message.');
  assert.deepEqual(note.buttons, ['Open a direct message']);
  ben.says('/start');
  await ben.dm.nextMessage(/You: telegram:2 \(user\)/);
  assert.deepEqual(
    readByAll(set, room).filter((text) => !forAll.includes(text)),
    [],
  );
});

test('U16 Telegram: an administrator answers a public command and a refusal so that one person sees it', async (t) => {
  const set = await inGroup(t, { admin: true });
  const { ann, ben, room, bot } = set;
  ben.says('/whoami@test_bot', { in: room });
  await room.nextShownTo(ben, /You: telegram:2 \(user\)/);
  ben.says('/skill@test_bot payroll of Eve', { in: room });
  await room.nextShownTo(ben, /payroll/);
  ann.says('/why@test_bot 2 payroll', { in: room });
  await room.nextShownTo(ann, /telegram:2 may not use payroll/);
  await bot.idle();
  assert.deepEqual(readByAll(set, room), []);
});

test('U16 A11 Telegram: a refusal that can not be shown to one person is a neutral line, and goes nowhere else', async (t) => {
  const set = await startWholeBot(t, {
    toml: `[bot]
owner = ["telegram:1"]
[access]
users = ["telegram:1", "telegram:2"]
groups_mode = "open"
[skills]
bundled = false
`,
    skills: { diary: skill('diary', 'sensitive: true\n') },
    script: () => 'Said nicely.',
  });
  const ben = set.telegram.person({ name: 'Ben', id: 2 });
  const room = set.telegram.group();
  ben.says('/skill@test_bot diary about my divorce', { in: room });
  await room.nextMessage('I can’t do that here.');
  await set.bot.idle();
  assert.deepEqual(readByAll(set, room), ['I can’t do that here.']);
  assert.deepEqual(ben.dm.sent(), []);
});

test('U16 Telegram: a picked skill answers to all, but words to the bot alone reach neither model nor group', async (t) => {
  const set = await inGroup(t);
  const { ben, room, messages, bot } = set;
  ben.whispers('/skill', { in: room });
  const list = await room.nextShownTo(ben, /Does lookup/);
  ben.whispers('my salary is 5000', { in: room, replyTo: list.id });
  await room.nextShownTo(ben, /Where only you see it, I answer commands/);
  await bot.idle();
  assert.equal(messages.requests.length, 0);
  assert.deepEqual(readByAll(set, room), []);
  ben.pressesAlone(list.id, list.buttons[0] ?? '', room);
  await room.nextMessage('Said nicely.');
});

test('U16 Telegram: a server that does not know private messages, or shows them to all, gets no second one', async (t) => {
  const old = await inGroup(t);
  old.ben.says('hi');
  await old.ben.dm.nextMessage('Said nicely.');
  const unknown = { code: 404, description: 'Not Found: method not found' };
  old.telegram.faults.add({ method: 'deleteEphemeralMessage', status: unknown });
  old.ben.says('/whoami@test_bot', { in: old.room });
  await old.ben.dm.nextMessage(/You: telegram:2/);
  await old.room.nextMessage('I answered you');
  const tries = old.telegram
    .calls('sendMessage')
    .filter(({ args }) => 'ephemeral_message_parameters' in args);
  assert.equal(tries.length, 0);
});

test('U16 Slack: what a mention asks about oneself is shown to the sender alone, or comes by direct message', async (t) => {
  const set = await startWholeBot(t, {
    toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false',
    skills: { diary: skill('diary', 'sensitive: true\n') },
    script: () => 'Said nicely.',
    channels: ['slack'],
  });
  const { slack } = set;
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  const alone = (words: RegExp) =>
    slack.shown.until(
      ({ kind, user, channel, text }) =>
        kind === 'ephemeral' && user === anna.id && channel === room.id && words.test(String(text)),
    );
  slack.people.mention(anna, room, '/whoami');
  await alone(/You: `?slack:/);
  slack.people.mention(anna, room, '/diary about my divorce');
  await alone(/direct message only/);
  const said = () => slack.transcript(room).filter((line) => !line.startsWith('anna: '));
  assert.deepEqual(said(), []);
  slack.faults.always('chat.postEphemeral', { kind: 'error', error: 'user_not_in_channel' });
  slack.people.mention(anna, room, '/whoami');
  assert.match((await slack.posted(({ text }) => text.includes('You:'))).text, /slack:/);
  await slack.posted(({ text }) => text.includes('I answered you in a direct message.'));
  assert.ok(
    said().every((line) => forAll.some((text) => line.endsWith(text))),
    JSON.stringify(said()),
  );
});

test('U16 property: whatever people ask and whatever fails, others read neutral lines only', async (t) => {
  const seed = Number(process.env['SKILLET_SEED'] ?? 7);
  const random = seededRandom(seed);
  const set = await inGroup(t);
  const { telegram, ann, ben, room, bot } = set;
  const commands = [
    'help',
    'skills',
    'status',
    'whoami',
    'why 2',
    'memory',
    'routines',
    'skill',
    'skill payroll x',
  ];
  const faults = [
    { status: { code: 400, description: 'Bad Request: BOT_NOT_ADMIN' } },
    { status: { code: 403, description: 'Forbidden: bot was kicked from the supergroup chat' } },
    { retryAfter: 1 },
    { cut: 'after' },
    { cut: 'before' },
    { badGateway: true },
  ] as const;
  for (let step = 0; step < 40; step += 1) {
    const who = random.pick([ann, ben]);
    const command = random.pick(commands);
    if (random.chance(0.2)) room.setBot(random.pick(['administrator', 'member'] as const));
    if (random.chance(0.1)) who.says('/start');
    if (random.chance(0.3)) telegram.faults.add({ method: 'sendMessage', ...random.pick(faults) });
    const canBeAlone = !command.startsWith('skill payroll');
    if (canBeAlone && random.chance(0.5)) who.whispers(`/${command}`, { in: room });
    else who.says(`/${command.replace(/^\w+/, '$&@test_bot')}`, { in: room });
    const shown = room.shownTo(who).at(-1);
    if (
      shown !== undefined &&
      shown.buttons.length > 0 &&
      random.chance(0.3) &&
      !/lookup/.test(shown.buttons[0] ?? '')
    )
      who.pressesAlone(shown.id, shown.buttons[0] ?? '', room);
    if (step % 5 < 4) continue;
    await telegram.until('no update waits', () => telegram.queue.waiting().length === 0);
    await bot.idle();
  }
  await bot.idle();
  await telegram.until('no update waits', () => telegram.queue.waiting().length === 0);
  while (telegram.faults.next('sendmessage') !== undefined);
  // What is asked last is answered last, in each chat. The direct messages may have brought more into the group.
  const last = async (): Promise<void> => {
    ben.says('@test_bot the last words', { in: room });
    await room.nextMessage('Said nicely.');
  };
  await last();
  for (const who of [ann, ben]) {
    who.says('the last words');
    await who.dm.nextMessage('Said nicely.');
  }
  await last();
  await bot.idle();
  const leaked = readByAll(set, room).filter((text) => !forAll.includes(text));
  assert.deepEqual(leaked, [], `SKILLET_SEED=${seed}`);
  const alone = [...room.shownTo(ann), ...room.shownTo(ben), ...ann.dm.sent(), ...ben.dm.sent()];
  assert.ok(alone.length >= 10, `only ${alone.length} answers came`);
});
