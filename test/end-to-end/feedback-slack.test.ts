import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Script } from '../servers/messages/messages-server.ts';
import type { StoredMessage } from '../servers/slack/workspace.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const open = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';
const model: Script = () => 'The tide is high at noon.';

async function setUp(t: TestContext, { slack: more = '', toml = '' } = {}) {
  const set = await startWholeBot(t, {
    channels: ['slack'],
    script: model,
    slack: more,
    toml: `${open}${toml}`,
  });
  const { slack, bot } = set;
  const [anna, bob] = ['anna', 'bob'].map((name) => slack.workspace.addUser(name));
  assert.ok(anna && bob);
  const room = slack.workspace.addRoom('channel', { members: [anna.id, bob.id] });
  const list = () => bot.operate('feedback list', {});
  /** Platforms tell seconds or less, so the order within one says nothing. */
  const counted = async () => (await list()).map(({ sender, thumb }) => `${sender} ${thumb}`).sort();
  /** Asks, and returns the answer as it stands once the bot knows that it is sent. */
  const ask = async (inRoom = false): Promise<StoredMessage> => {
    const asked = inRoom ? slack.people.mention(anna, room, 'tide?') : slack.people.dm(anna, 'tide?');
    await asked.delivered;
    await slack.posted(({ text }) => text.startsWith('The tide'));
    await bot.idle();
    const own = [...slack.workspace.rooms.values()].flatMap(({ messages }) => messages);
    return own.find(({ text, deleted }) => text.startsWith('The tide') && !deleted) ?? assert.fail();
  };
  const alone = (words: string) =>
    slack.shown.until(({ kind, text }) => kind === 'ephemeral' && String(text).includes(words));
  return { ...set, anna, bob, room, list, counted, ask, alone };
}

test('U17 with the agent view two thumbs are below a final answer, and a press on 👎 opens a form for a reason', async (t) => {
  const { slack, anna, list, counted, ask } = await setUp(t, { slack: 'agent_view = true\n' });
  const answer = await ask();
  assert.deepEqual(answer.blocks?.at(-1)?.['type'], 'context_actions');
  await slack.people.press(anna, answer, 'Good answer');
  assert.deepEqual(await counted(), [`slack:${anna.id} up`]);
  assert.equal(slack.views.all().length, 0);
  await slack.people.press(anna, answer, 'Bad answer');
  assert.deepEqual(await counted(), [`slack:${anna.id} down`], 'the last press counts');
  const form = await slack.views.until(() => true);
  const sent = await slack.people.submit(anna, form, { 'What was wrong?': 'It was at 14:30.' });
  assert.equal(sent.ok, true);
  assert.equal((await list())[0]?.reason, 'It was at 14:30.');
  await slack.people.press(anna, answer, 'Bad answer');
  assert.equal(slack.views.all().length, 1, 'one offer');
  assert.equal((await list())[0]?.reason, 'It was at 14:30.');
});

test('U17 U16 in a channel a reaction counts, and what was wrong is asked of that person alone, by a button with a form', async (t) => {
  const { slack, anna, bob, room, list, counted, ask, alone } = await setUp(t);
  const answer = await ask(true);
  assert.ok(answer.blocks?.every(({ type }) => type !== 'context_actions') ?? true);
  await slack.people.react(bob, answer, '-1::skin-tone-3');
  await slack.people.react(anna, answer, 'thumbsup');
  assert.deepEqual(await counted(), [`slack:${anna.id} up`, `slack:${bob.id} down`]);
  const asked = await alone('What was wrong?');
  assert.equal(asked['user'], bob.id);
  await slack.people.pressAlone(bob, asked, 'Say it');
  const form = await slack.views.until(() => true);
  await slack.people.submit(bob, form, { 'What was wrong?': 'It was late.' });
  const reasons = (await list()).flatMap(({ sender, reason }) => reason && `${sender}: ${reason}`);
  assert.deepEqual(reasons.filter(Boolean), [`slack:${bob.id}: It was late.`]);
  await slack.people.react(bob, answer, '-1::skin-tone-3', 'removed');
  await slack.people.react(anna, answer, 'tada');
  assert.deepEqual(await counted(), [`slack:${anna.id} up`]);
  const seen = slack.transcript(room).filter((line) => /wrong|late/.test(line));
  assert.deepEqual(seen, []);
});

test('U17 a form that somebody else sends, and a thumb on words of a person, count for nothing', async (t) => {
  const { slack, anna, bob, room, list, counted, ask, alone } = await setUp(t);
  const answer = await ask(true);
  await slack.people.react(anna, answer, '-1');
  const asked = await alone('What was wrong?');
  await slack.people.pressAlone(anna, asked, 'Say it');
  const form = await slack.views.until(() => true);
  await slack.people.submit(bob, form, { 'What was wrong?': 'Forged.' });
  assert.equal((await list())[0]?.reason, undefined);
  const words = slack.people.post(bob, room, 'lunch?');
  await words.delivered;
  await slack.people.react(anna, words, '-1');
  assert.deepEqual(await counted(), [`slack:${anna.id} down`]);
});

test('U17 S17 a reaction of another app counts for nothing, whoever may talk to the bot', async (t) => {
  const { slack, bob, room, counted, ask } = await setUp(t);
  const other = slack.workspace.addUser('pollbot', { isBot: true });
  room.members.add(other.id);
  const answer = await ask(true);
  await slack.people.react(other, answer, '-1');
  await slack.people.react(bob, answer, '+1');
  assert.deepEqual(await counted(), [`slack:${bob.id} up`]);
});

test('U17 [bot] feedback decides: reactions in the agent view, buttons in a channel, or neither', async (t) => {
  await t.test('reactions', async (s) => {
    const { slack, anna, counted, ask } = await setUp(s, {
      slack: 'agent_view = true\n',
      toml: '[bot]\nfeedback = "reactions"\n',
    });
    const answer = await ask();
    assert.ok(answer.blocks?.every(({ type }) => type !== 'context_actions') ?? true);
    await slack.people.react(anna, answer, '+1');
    assert.deepEqual(await counted(), [`slack:${anna.id} up`]);
  });
  await t.test('buttons', async (s) => {
    const { slack, bob, counted, ask } = await setUp(s, { toml: '[bot]\nfeedback = "buttons"\n' });
    const answer = await ask(true);
    await slack.people.react(bob, answer, '+1');
    assert.deepEqual(await counted(), []);
    await slack.people.press(bob, answer, 'Bad answer');
    assert.deepEqual(await counted(), [`slack:${bob.id} down`]);
  });
  await t.test('off', async (s) => {
    const { slack, anna, counted, ask } = await setUp(s, {
      slack: 'agent_view = true\n',
      toml: '[bot]\nfeedback = "off"\n',
    });
    const answer = await ask();
    assert.ok(answer.blocks?.every(({ type }) => type !== 'context_actions') ?? true);
    await slack.people.react(anna, answer, '-1');
    assert.deepEqual(await counted(), []);
  });
});
