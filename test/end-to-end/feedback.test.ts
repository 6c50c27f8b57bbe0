import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Script } from '../servers/messages/messages-server.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const open = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';
const tides = '---\nname: tides\ndescription: Says when the tide is high.\n---\nSay always: at noon.\n';

/** A model that asks the skill `tides` about tides and passes its answer on; the skill's run says what its text says. */
const model: Script = (body) => {
  const last = JSON.stringify(body.messages.at(-1));
  const system = JSON.stringify(body.system);
  if (system.includes('You carry out the skill')) return /at noon/.test(system) ? 'At noon.' : 'At 14:30.';
  const said = /At noon|At 14:30/.exec(last)?.[0];
  if (said !== undefined) return `The tide is high: ${said}.`;
  if (!/tide/.test(last)) return 'Hello.';
  const input = { skill: 'tides', message: 'When?' };
  return { content: [{ type: 'tool_use', id: 'toolu_1', name: 'use_skill', input }] };
};

async function setUp(t: TestContext, options: WholeBotOptions = {}) {
  const toml = `${open}${options.toml ?? ''}`;
  const set = await startWholeBot(t, { script: model, skills: { tides }, flood: false, ...options, toml });
  const { bot } = set;
  const list = () => bot.operate('feedback list', {});
  /** Platforms tell seconds or less, so the order within one says nothing. */
  const counted = async () => (await list()).map(({ sender, thumb }) => `${sender} ${thumb}`).sort();
  return { ...set, list, counted };
}

async function onTelegram(t: TestContext, options: WholeBotOptions = {}) {
  const set = await setUp(t, options);
  const { telegram, bot } = set;
  const [ann, bob] = [1007, 1008].map((id) => telegram.person({ name: `P${id}`, id }));
  const group = telegram.group();
  assert.ok(ann && bob);
  /** Resolves once everything that people did was handled. */
  const settled = async (): Promise<void> => {
    await telegram.until('all updates', () => telegram.queue.waiting().length === 0);
    await bot.idle();
  };
  /** Asks about the tide, and returns the answer once the bot knows that it is sent. */
  const ask = async (who = ann, where?: typeof group) => {
    who.says(
      where === undefined ? 'when is the tide high?' : '@test_bot when is the tide high?',
      where && { in: where },
    );
    const answer = await (where ?? who.dm).nextMessage('The tide is high');
    await bot.idle();
    return answer;
  };
  return { ...set, ann, bob, group, settled, ask };
}

test('U17 on Telegram a thumb in private counts with skill, version, model and tools; the last one, or none', async (t) => {
  const { ann, list, counted, settled, ask } = await onTelegram(t);
  const answer = await ask();
  assert.deepEqual(answer.buttons, [], 'reactions need no buttons');
  const reacts = async (emoji: readonly string[]): Promise<readonly string[]> => {
    assert.equal(ann.reacts(answer.id, emoji), true, 'the bot asks for reactions');
    await settled();
    return counted();
  };
  assert.deepEqual(await reacts(['👍']), ['telegram:1007 up']);
  const [row] = await list();
  assert.match(row?.skills[0]?.version ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual(
    [row?.skills.map(({ name }) => name), row?.model, row?.tools, row?.message, row?.conversation],
    [['tides'], 'claude-sonnet-5-5', ['use_skill'], String(answer.id), 'telegram:1007'],
  );
  assert.equal(ann.dm.sent().length, 1, 'a thumb up is not asked about');
  assert.deepEqual(await reacts(['🔥', '👎']), ['telegram:1007 down']);
  assert.deepEqual(await reacts(['🔥']), []);
  assert.deepEqual(await reacts(['👎', '👍']), ['telegram:1007 up']);
  assert.deepEqual(await reacts([]), []);
});

test('U17 on Telegram a thumb down is asked about once, and a reply to that is its reason', async (t) => {
  const { ann, list, settled, ask, messages } = await onTelegram(t);
  const answer = await ask();
  ann.reacts(answer.id, ['👎']);
  const asked = await ann.dm.nextMessage('What was wrong? Reply to this message');
  assert.equal(asked.replyTo, answer.id);
  ann.reacts(answer.id, ['👍']);
  ann.reacts(answer.id, ['👎']);
  await settled();
  assert.equal(ann.dm.sent().length, 2, 'one offer');
  const requests = messages.requests.length;
  ann.says('It was at 14:30, I was there!', { replyTo: asked.id });
  await ann.dm.nextMessage('Thank you. I keep that');
  assert.deepEqual(
    (await list()).map(({ reason, isComplete }) => [reason, isComplete]),
    [['It was at 14:30, I was there!', true]],
  );
  assert.equal(messages.requests.length, requests, 'no model reads it');
  ann.says('hello');
  await ann.dm.nextMessage('Hello.');
});

test('U17 U16 in a group everybody who may talk has one thumb, and is asked about it alone', async (t) => {
  const { ann, bob, group, list, counted, settled, ask } = await onTelegram(t);
  group.setBot('administrator');
  const answer = await ask(ann, group);
  bob.reacts(answer.id, ['👎'], group);
  const asked = await group.nextShownTo(bob, 'What was wrong?');
  ann.reacts(answer.id, ['👍'], group);
  await settled();
  assert.deepEqual(await counted(), ['telegram:1007 up', 'telegram:1008 down']);
  const ofBob = async () => (await list()).find(({ sender }) => sender === 'telegram:1008');
  assert.equal((await ofBob())?.isComplete, false, 'what Ann asked is not kept with the thumb of Bob');
  bob.whispers('It was late.', { in: group, replyTo: asked.id });
  await group.nextShownTo(bob, 'Thank you. I keep that');
  assert.equal((await ofBob())?.reason, 'It was late.');
  assert.deepEqual(
    group.sent().map(({ text }) => text),
    ['The tide is high: At noon.'],
    'nobody else sees any of it',
  );
  assert.deepEqual([...ann.dm.sent(), ...bob.dm.sent()], []);
});

test('U17 U16 where the question can’t be shown to one person, nothing is said', async (t) => {
  const { telegram, bob, ann, group, counted, settled, ask, bot } = await onTelegram(t, {
    toml: '[bot]\nfeedback = "buttons"\n',
  });
  const answer = await ask(ann, group);
  assert.deepEqual(answer.buttons, ['👍', '👎']);
  const status = { code: 400, description: 'Bad Request: BOT_NOT_ADMIN' };
  telegram.faults.add({ method: 'sendMessage', times: 2, status });
  const press = bob.presses(answer.id, '👎', group);
  await telegram.until('the answer to the press', () => press.answered());
  assert.equal(press.text(), 'Thank you. The last thumb counts.');
  await settled();
  assert.deepEqual(await counted(), ['telegram:1008 down']);
  assert.deepEqual([group.sent().length, bob.dm.sent().length, group.shownTo(bob).length], [1, 0, 0]);
  assert.deepEqual(await bot.operate('outbox list'), []);
});

test('U17 with buttons the last press counts, and reactions are not asked for', async (t) => {
  const { telegram, ann, counted, settled, ask } = await onTelegram(t, {
    toml: '[bot]\nfeedback = "buttons"\n',
  });
  const answer = await ask();
  assert.equal(ann.reacts(answer.id, ['👎']), false);
  for (const [thumb, wanted] of [
    ['👎', 'down'],
    ['👍', 'up'],
    ['👍', 'up'],
  ] as const) {
    const press = ann.presses(answer.id, thumb);
    await telegram.until('the answer', () => press.answered());
    await settled();
    assert.deepEqual(await counted(), [`telegram:1007 ${wanted}`]);
  }
});

test('U17 a thumb on anything but a final answer, or while feedback is off, is ignored', async (t) => {
  const { ann, group, counted, settled, ask, log } = await onTelegram(t, {
    toml: '[bot]\nowner = ["telegram:1007"]\n',
  });
  group.setBot('administrator');
  const own = ann.says('/whoami');
  const command = await ann.dm.nextMessage('You:');
  const others = ann.says('just talk', { in: group });
  for (const id of [own, command.id]) ann.reacts(id, ['👎']);
  ann.reacts(others, ['👎'], group);
  await settled();
  assert.deepEqual(await counted(), []);
  assert.equal(log.lines.filter(({ level }) => level === 'error').length, 0);
  const answer = await ask();
  ann.reacts(answer.id, ['👎']);
  const asked = await ann.dm.nextMessage('What was wrong?');
  ann.reacts(asked.id, ['👎']);
  await settled();
  assert.equal((await counted()).length, 1);
});

test('U17 a thumb that comes before the bot knows under which id its answer is shown counts afterwards', async (t) => {
  const { ann, telegram, counted } = await onTelegram(t);
  const receipt = Promise.withResolvers<void>();
  telegram.faults.add({ method: 'sendMessage', answered: receipt.promise });
  ann.says('when is the tide high?');
  const answer = await ann.dm.nextMessage('The tide is high');
  ann.reacts(answer.id, ['👍']);
  ann.reacts(answer.id, ['👎']);
  await telegram.until('all updates', () => telegram.queue.waiting().length === 0);
  assert.deepEqual(await counted(), []);
  receipt.resolve();
  await ann.dm.nextMessage('What was wrong?');
  assert.deepEqual(await counted(), ['telegram:1007 down']);
});

test('U17 feedback = "off" neither asks for reactions nor shows buttons', async (t) => {
  const { ann, ask } = await onTelegram(t, { toml: '[bot]\nfeedback = "off"\n' });
  const answer = await ask();
  assert.deepEqual(answer.buttons, []);
  assert.equal(ann.reacts(answer.id, ['👎']), false);
});

test('U17 S11 the thumb of somebody who may no longer talk does not count, nor does their reason', async (t) => {
  const set = await onTelegram(t, {
    toml: '[access.telegram]\nusers = ["telegram:1007", "telegram:1008"]\ndm = "allowlist"\ngroup_users = ["telegram:1007", "telegram:1008"]\n',
  });
  const { ann, bob, group, counted, settled, ask, reconfigure } = set;
  group.setBot('administrator');
  const answer = await ask(ann, group);
  bob.reacts(answer.id, ['👎'], group);
  await settled();
  assert.deepEqual(await counted(), ['telegram:1008 down']);
  await reconfigure(
    `${open}[access.telegram]\nusers = ["telegram:1007"]\ndm = "allowlist"\ngroup_users = ["telegram:1007"]\n`,
  );
  await set.log.line(({ message }) => message === 'the config was changed');
  bob.reacts(answer.id, ['👍'], group);
  await settled();
  assert.deepEqual(await counted(), ['telegram:1008 down'], 'it did not change');
});
