import assert from 'node:assert/strict';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Chat } from '../servers/telegram/room.ts';
import { formatConfigProblem } from '../../src/config/config-problem.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

/** First contact: each person is told once, alone, what the bot is, what it keeps, and how to see and delete that (U19). */

const english = /^Hello, I am Skillet, an AI\..* for 90 days .*memory`? shows my notes.*forget`? tells you/;
const german = /^Hallo, ich bin Skillet, eine KI\..*90 Tage.*memory`? zeigt meine Notizen.*forget`? sagt dir/;

async function stage(t: TestContext, more: Partial<WholeBotOptions> & { bot?: string } = {}) {
  const { bot = '', ...options } = more;
  const set = await startWholeBot(t, {
    toml: `[bot]\n${bot}[access]\nusers = ["telegram:1", "telegram:2", "slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false\n`,
    script: () => 'Said nicely.',
    strangers: true,
    flood: false,
    ...options,
  });
  return set;
}

async function onTelegram(t: TestContext, more: Parameters<typeof stage>[1] = {}) {
  const set = await stage(t, more);
  const ann = set.telegram.person({ name: 'Ann', id: 1 });
  const bea = set.telegram.person({ name: 'Bea', id: 2, language: 'de' });
  return { ...set, ann, bea };
}

async function onSlack(t: TestContext) {
  const set = await stage(t, { channels: ['slack'] });
  const { slack } = set;
  const [anna, bert] = [
    slack.workspace.addUser('anna'),
    slack.workspace.addUser('bert', { locale: 'de-DE' }),
  ];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, bert.id] });
  const dm = slack.workspace.dmWith(anna.id);
  const answer = (channel: { id: string }, text = 'Said nicely.') =>
    slack.posted((message) => message.channel === channel.id && message.text.includes(text));
  return { ...set, slack, anna, bert, room, dm, answer };
}

const said = (chat: Chat): readonly string[] => chat.sent().map(({ text }) => text);
const isFirst = (text: unknown): boolean => /, an AI\./.test(String(text));

test('U19 Telegram: a person reads once, before the first answer and in their language, what the bot is and keeps', async (t) => {
  const { ann, bea, bot, restart } = await onTelegram(t);
  for (const [who, words] of [
    [ann, english],
    [bea, german],
  ] as const) {
    who.says('hello');
    await who.dm.nextMessage('Said nicely.');
    who.says('and more');
    await who.dm.nextMessage('Said nicely.');
    await bot.idle();
    const [first = '', ...rest] = said(who.dm);
    assert.match(first, words);
    assert.deepEqual(rest, ['Said nicely.', 'Said nicely.']);
  }
  const again = await restart();
  ann.says('again');
  await ann.dm.nextMessage('Said nicely.');
  await again.bot.idle();
  assert.equal(said(ann.dm).filter(isFirst).length, 1);
});

test('U19 Slack: a person reads it once, before the first answer and in their language, with commands as Slack takes them', async (t) => {
  const { slack, anna, bert, dm, answer, bot } = await onSlack(t);
  slack.people.dm(anna, 'hello');
  await answer(dm);
  slack.people.dm(bert, 'hallo');
  await answer(slack.workspace.dmWith(bert.id));
  slack.people.dm(anna, 'and more');
  await bot.idle();
  const [first = '', second] = slack.transcript(dm).filter((line) => line.startsWith('skillet: '));
  assert.match(first.slice('skillet: '.length), english);
  assert.match(first, /\/skill memory.*\/skill forget/);
  assert.equal(second, 'skillet: Said nicely.');
  assert.equal(slack.transcript(dm).filter(isFirst).length, 1);
  const theirs = slack
    .transcript(slack.workspace.dmWith(bert.id))
    .filter((line) => line.startsWith('skillet: '));
  assert.match(theirs[0]?.slice('skillet: '.length) ?? '', german);
});

test('U19 a command is a first contact, too, and /forget says how everything is deleted', async (t) => {
  const { ann } = await onTelegram(t);
  ann.says('/forget me');
  const how = await ann.dm.nextMessage('To delete everything');
  assert.match(how.text, /\/memory removes single notes.*skillet forget telegram:1/);
  assert.match(said(ann.dm)[0] ?? '', english);
  ann.says('/forget');
  await ann.dm.nextMessage('To delete everything');
  assert.equal(said(ann.dm).filter(isFirst).length, 1);
});

test('L18 /forget says that a legal hold keeps it for now', async (t) => {
  const { bot, ann, bea } = await onTelegram(t);
  await bot.operate('hold add', { id: 'telegram:1' });
  ann.says('/forget');
  await ann.dm.nextMessage(/A legal hold keeps it for now/);
  bea.says('/forget');
  assert.doesNotMatch((await bea.dm.nextMessage(/rückgängig/)).text, /Aufbewahrung/);
});

test('U19 U16 Telegram: in a group nobody else reads it or hears of it; it waits for the first direct message', async (t) => {
  const { ann, telegram, bot } = await onTelegram(t);
  const room = telegram.group({ title: 'Team' });
  for (const text of ['hello', 'and more']) {
    ann.says(`@test_bot ${text}`, { in: room });
    await room.nextMessage('Said nicely.');
    await bot.idle();
  }
  assert.deepEqual(said(room), ['Said nicely.', 'Said nicely.']);
  assert.deepEqual(said(ann.dm), []);
  ann.says('hi');
  await ann.dm.nextMessage('Said nicely.');
  await bot.idle();
  assert.match(said(ann.dm)[0] ?? '', english);
  assert.deepEqual(said(ann.dm).slice(1), ['Said nicely.']);
  ann.says('@test_bot once more', { in: room });
  await room.nextMessage('Said nicely.');
  await bot.idle();
  assert.equal([...said(ann.dm), ...said(room)].filter(isFirst).length, 1);
});

test('U19 U16 Telegram: an administrator shows it to the person alone, and not again in the direct message', async (t) => {
  const { ann, telegram, bot } = await onTelegram(t);
  const room = telegram.group({ title: 'Team' });
  room.setBot('administrator');
  ann.says('@test_bot hello', { in: room });
  await room.nextShownTo(ann, english);
  await room.nextMessage('Said nicely.');
  ann.says('hi');
  await ann.dm.nextMessage('Said nicely.');
  await bot.idle();
  assert.deepEqual([said(room), said(ann.dm)], [['Said nicely.'], ['Said nicely.']]);
});

test('U19 U16 Slack: in a channel it is shown to the person alone, and where that fails in their direct message', async (t) => {
  const { slack, anna, bert, room, dm, answer, bot } = await onSlack(t);
  slack.people.mention(anna, room, 'hello');
  await slack.shown.until(
    ({ kind, user, channel, text }) =>
      kind === 'ephemeral' && user === anna.id && channel === room.id && english.test(String(text)),
  );
  await answer(room);
  slack.people.dm(anna, 'hello');
  await answer(dm);
  slack.faults.always('chat.postEphemeral', { kind: 'error', error: 'user_not_in_channel' });
  slack.people.mention(bert, room, 'hallo');
  await slack.posted(({ text }) => german.test(text));
  await bot.idle();
  assert.equal(slack.transcript(dm).filter(isFirst).length, 0);
  const others = slack.transcript(room).filter((line) => /KI|AI|direct message|Direktnachricht/.test(line));
  assert.deepEqual(others, []);
});

test('U19 U16 Slack: a slash command in a channel is a first contact that others see nothing of', async (t) => {
  const { slack, anna, room, bot } = await onSlack(t);
  await slack.people.slash(anna, room, 'help');
  await slack.shown.until(
    ({ kind, user, text }) => kind === 'ephemeral' && user === anna.id && isFirst(text),
  );
  await bot.idle();
  assert.deepEqual(slack.transcript(room), []);
});

test('U19 A10 whoever is refused is told nothing of it, until they are approved', async (t) => {
  const { telegram, bot } = await onTelegram(t);
  const eve = telegram.person({ name: 'Eve', id: 66 });
  const room = telegram.group({ title: 'Team' });
  eve.says('hello');
  const refusal = await eve.dm.nextMessage('Your pairing code is');
  eve.says('@test_bot hello', { in: room });
  await telegram.until('no update waits', () => telegram.queue.waiting().length === 0);
  await bot.idle();
  assert.deepEqual([said(eve.dm).filter(isFirst), said(room)], [[], []]);
  const [, code = ''] = /code is (\w+)/.exec(refusal.text) ?? [];
  await bot.operate('pair approve', code);
  await eve.dm.nextMessage('You’re approved');
  eve.says('hello');
  await eve.dm.nextMessage('Said nicely.');
  assert.deepEqual(said(eve.dm).map(isFirst), [false, false, true, false]);
});

test('U19 Q12 after a person was forgotten, the next contact is the first one', async (t) => {
  const { ann, telegram, bot } = await onTelegram(t);
  const room = telegram.group({ title: 'Team' });
  ann.says('@test_bot hello', { in: room });
  await room.nextMessage('Said nicely.');
  await bot.idle();
  // What waits for the first direct message is forgotten with them.
  await bot.operate('forget', 'telegram:1');
  for (const round of [1, 2]) {
    ann.says('hello');
    await ann.dm.nextMessage('Said nicely.');
    await bot.idle();
    assert.equal(said(ann.dm).filter(isFirst).length, round);
    await bot.operate('forget', 'telegram:1');
  }
});

test('U19 Q2 who was told stays told when the message itself is past its time', async (t) => {
  const { ann, home, bot, restart } = await onTelegram(t);
  ann.says('hello');
  await ann.dm.nextMessage('Said nicely.');
  await bot.close();
  const store = await openStore(`sqlite:${path.join(home, 'data', 'skillet.db')}`);
  await store.prune(Date.now() + 40 * 86_400_000, 90 * 86_400_000);
  assert.equal(await store.outbox.receipt('first-words:telegram:1#0'), undefined);
  await store.close();
  const again = await restart();
  ann.says('again');
  await ann.dm.nextMessage('Said nicely.');
  await again.bot.idle();
  assert.equal(said(ann.dm).filter(isFirst).length, 1);
});

test('U19 operators say it in their words, with commands as they work where it is read', async (t) => {
  const words = 'I am an AI of Example Ltd. See `/memory` and /forget me.';
  const { slack, telegram, bot } = await stage(t, {
    bot: `first_words = "${words}"\n`,
    channels: ['telegram', 'slack'],
  });
  const ann = telegram.person({ name: 'Ann', id: 1 });
  ann.says('hello');
  assert.equal(
    (await ann.dm.nextMessage('I am an AI')).text,
    'I am an AI of Example Ltd. See /memory and /forget.',
  );
  slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  const there = await slack.posted(({ text }) => text.includes('I am an AI'));
  assert.match(there.text, /See `\/skill memory` and `\/skill forget`\./);
  await bot.idle();
});

test('U19 G4 operators can not leave it out: such a text is a config error that says what to write', () => {
  for (const words of ['', ' ', 'Welcome!', 'I am an AI. See /memory.', 'See /memorybook and /forgetful.']) {
    const parsed = parseConfig(`[bot]\nfirst_words = "${words}"\n`, { file: 'config.toml', env: {} });
    const problems = parsed.ok ? [] : parsed.problems.map(formatConfigProblem);
    assert.equal(problems.length, 1, words);
    assert.match(
      problems[0] ?? '',
      /config\.toml:2.*say that the bot is an AI.*name \/memory and \/forget\. Without this key/,
    );
  }
});
