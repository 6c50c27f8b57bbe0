import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const lookup = '---\nname: lookup\ndescription: Looks things up.\n---\nLook it up.\n';
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const lastSaid = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));

test('H11 what the requester writes while a skill works reaches the model with its result, and there is one answer', async (t) => {
  const held = Promise.withResolvers<void>();
  const { telegram, messages, log } = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001", "telegram:1002"]\ngroups_mode = "open"\n',
    skills: { lookup },
    script: (body) => {
      if (isRun(body)) return { content: [{ type: 'text', text: 'at nine' }], wire: { hold: held.promise } };
      const said = lastSaid(body);
      if (said.includes('tool_result'))
        return said.includes('by bus, please') ? 'The bus goes at nine.' : 'The train goes at nine.';
      if (said.includes('and I?')) return 'You, too.';
      const input = { skill: 'lookup', args: 'to Bern' };
      return { content: [{ type: 'tool_use', name: 'use_skill', input }], stopReason: 'tool_use' };
    },
  });
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  const bob = telegram.person({ name: 'Bob', id: 1002 });
  const friends = telegram.group({ title: 'Friends' });
  const asked = ann.says('@test_bot when can I go to Bern?', { in: friends });
  await telegram.until('the run', () => messages.requests.some(({ body }) => isRun(body)) || undefined);
  ann.says('@test_bot by bus, please', { in: friends });
  const other = bob.says('@test_bot and I?', { in: friends });
  await log.line(({ fields }) => JSON.stringify(fields).includes(`telegram:${friends.id}:${other}`));
  held.resolve();
  const answer = await friends.nextMessage('The bus goes at nine.');
  assert.equal(answer.replyTo, asked);
  assert.equal((await friends.nextMessage('You, too.')).replyTo, other);
  assert.deepEqual(
    friends.sent().map(({ text }) => text),
    ['The bus goes at nine.', 'You, too.'],
  );
});

test('H11 Q4 stop alone stops what is under way for its sender; where nothing is it is a message', async (t) => {
  const { telegram, messages, bot } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    script: (body) =>
      lastSaid(body).includes('go on')
        ? { content: [{ type: 'text', text: 'I go' }], wire: { hold: new Promise(() => undefined) } }
        : 'What should I stop?',
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('stop');
  await ann.dm.nextMessage('What should I stop?');
  ann.says('go on');
  await telegram.until('the work', () => messages.requests.length === 2 || undefined);
  ann.says('@test_bot Stopp!');
  await ann.dm.nextMessage(/Stopped\.$/);
  await bot.idle();
  assert.equal(ann.dm.sent().filter(({ text }) => /Stop/.test(text)).length, 1, 'it is answered once');
  assert.equal(messages.requests.length, 2);
});

test('H11 H3 an edit of the question under way is what is answered; an edit that adds a mention is a question', async (t) => {
  const held = Promise.withResolvers<void>();
  const { telegram, messages, bot } = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001"]\ngroups_mode = "open"\n',
    script: (body) => {
      const said = lastSaid(body);
      if (said.includes('to Basel')) return 'To Basel at ten.';
      if (said.includes('to Chur')) return 'To Chur at eleven.';
      return { content: [{ type: 'text', text: 'To Bern at nine.' }], wire: { hold: held.promise } };
    },
  });
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  const friends = telegram.group({ title: 'Friends' });
  const asked = ann.says('@test_bot when to Bern?', { in: friends });
  await telegram.until('the call', () => messages.requests.length === 1 || undefined);
  ann.edits(asked, '@test_bot when to Basel?', friends);
  await telegram.until('all of it is taken', () => telegram.queue.waiting().length === 0 || undefined);
  held.resolve();
  await friends.nextMessage('To Basel at ten.');
  const unmeant = ann.says('when to Chur?', { in: friends });
  ann.edits(unmeant, '@test_bot when to Chur?', friends);
  await friends.nextMessage('To Chur at eleven.');
  await bot.idle();
  assert.deepEqual(
    friends.sent().map(({ replyTo }) => replyTo),
    [asked, unmeant],
  );
});

test('H11 fragments that come one after another are one question with one answer, for each person', async (t) => {
  const held = Promise.withResolvers<void>();
  const { telegram, messages, bot } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    script: (body) => {
      if (lastSaid(body).includes('2+2')) return 'It is 4.';
      return { content: [{ type: 'text', text: 'Hello!' }], wire: { hold: held.promise } };
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('hey');
  await telegram.until('the call', () => messages.requests.length === 1 || undefined);
  ann.says('quick one', { quick: true });
  ann.says('what is 2+2?', { quick: true });
  await telegram.until('all of it is taken', () => telegram.queue.waiting().length === 0 || undefined);
  held.resolve();
  await ann.dm.nextMessage('It is 4.');
  await bot.idle();
  assert.deepEqual(
    ann.dm.sent().map(({ text }) => text),
    ['It is 4.'],
  );
});
