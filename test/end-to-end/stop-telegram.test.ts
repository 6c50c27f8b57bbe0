import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const open =
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nowner = ["telegram:1009"]\nshutdown_seconds = 1\n';
const never = new Promise<void>(() => undefined);
const held = (text: string, hold = never) => ({ content: [{ type: 'text' as const, text }], wire: { hold } });
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const dig = '---\nname: dig\ndescription: Digs for a long time.\n---\nDig and say what you found.\n';
const callDig = (id: string, input: object = {}) => ({
  content: [
    {
      type: 'tool_use' as const,
      id,
      name: 'use_skill',
      input: { skill: 'dig', message: 'Find the map.', ...input },
    },
  ],
});

test('U15 in private the stop button of a draft ends the answer, keeps its words, and the model sees them', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: open,
    script: (body) => (/is it so/.test(lastOf(body)) ? held('I guess so, then.') : 'As I said.'),
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('is it so?');
  const draft = await telegram.until('the draft', () => ann.dm.drafts().find(({ text }) => text !== ''));
  assert.deepEqual([draft.canStop, draft.keepOnStop], [true, true]);
  ann.stops();
  const answer = await ann.dm.nextMessage('I guess so, then.');
  assert.equal(answer.text, 'I guess so, then.\n\nStopped.');
  ann.says('and now?');
  await ann.dm.nextMessage('As I said.');
  const seen = JSON.stringify(messages.requests.at(-1)?.body.messages);
  assert.match(seen, /I guess so, then./);
  assert.match(seen, /The work was stopped in the middle of the answer above/);
  assert.deepEqual(
    ann.dm.sent().map(({ text }) => text),
    ['I guess so, then.\n\nStopped.', 'As I said.'],
  );
});

test('U15 S2 a stopped answer ends with the letters that could have begun a secret, unless they are a good part of one', async (t) => {
  // The key of the model is "test-key-0123456789", so a "te" at the end may begin it.
  for (const [said, kept] of [
    ['I think it is too la', 'I think it is too la'],
    ['I think it is late', 'I think it is late'],
    ['The key is test-key-01234', 'The key is'],
  ] as const) {
    const { telegram } = await startWholeBot(t, { toml: open, script: () => held(said) });
    const ann = telegram.person({ name: 'Ann' });
    ann.says('is it so?');
    await telegram.until('the draft', () => ann.dm.drafts().find(({ text }) => text !== ''));
    ann.stops();
    assert.equal((await ann.dm.nextMessage('Stopped.')).text, `${kept}\n\nStopped.`);
  }
});

test('U15 a stop that comes after its answer ends nothing else', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { telegram } = await startWholeBot(t, {
    toml: open,
    script: (body) => held(/first/.test(lastOf(body)) ? 'One.' : 'Two.', gate.promise),
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('the first');
  const draft = await telegram.until('the draft', () => ann.dm.drafts().at(-1));
  gate.resolve();
  await ann.dm.nextMessage('One.');
  ann.says('the second');
  const stopped = { chat: { id: ann.id, type: 'private', first_name: 'Ann' }, draft_id: draft.id };
  telegram.queue.add('stopped_message_generation', stopped, ann.id);
  assert.equal((await ann.dm.nextMessage(/Two/)).text, 'Two.');
  assert.equal(ann.dm.sent().length, 2);
});

test('U15 in a group only who asked, or an owner, ends an answer by its button; others are told alone', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: open,
    script: (body) => held(`About ${/first|second/.exec(lastOf(body))?.[0]}.`),
  });
  const [ann, bob, olga] = [1007, 1008, 1009].map((id) => telegram.person({ name: `P${id}`, id }));
  const group = telegram.group();
  ann!.says('@test_bot the first', { in: group });
  bob!.says('@test_bot the second', { in: group });
  const first = await group.nextMessage('About first.');
  assert.deepEqual(first.buttons, ['Stop']);
  const refused = bob!.presses(first.id, 'Stop', group);
  await telegram.until('the refusal', () => refused.answered());
  assert.equal(refused.text(), 'Only `P1007` or an owner can stop what is running here.');
  ann!.presses(first.id, 'Stop', group);
  // The message that waited is answered: only the first turn was stopped.
  const second = await group.nextMessage('About second.');
  const changed = group.sent().find(({ id }) => id === first.id);
  assert.deepEqual([changed?.text, changed?.buttons], ['About first.\n\nStopped.', []]);
  olga!.presses(second.id, 'Stop', group);
  await telegram.until('the end', () =>
    group.sent().some(({ text }) => text === 'About second.\n\nStopped.'),
  );
});

test('U15 a press ends the run that its turn waits for, and no earlier run in the background', async (t) => {
  const gate = Promise.withResolvers<void>();
  let digging = 0;
  const { telegram, bot } = await startWholeBot(t, {
    toml: open,
    skills: { dig },
    script: (body) => {
      if (isRun(body)) {
        digging += 1;
        return held('The map is under the oak.', gate.promise);
      }
      const last = lastOf(body);
      if (/under the oak/.test(last)) return 'Found: under the oak.';
      if (/tool_result/.test(last)) return 'It runs.';
      return /later/.test(last) ? callDig('toolu_1', { background: true }) : callDig('toolu_2');
    },
  });
  const ann = telegram.person({ name: 'Ann' });
  const group = telegram.group();
  ann.says('@test_bot dig later', { in: group });
  await group.nextMessage('It runs.');
  ann.says('@test_bot dig now', { in: group });
  const line = await telegram.until('the line', () => group.sent().find(({ buttons }) => buttons.length > 0));
  await telegram.until('both runs', () => digging === 2);
  ann.presses(line.id, 'Stop', group);
  await group.nextMessage('Stopped.');
  gate.resolve();
  await group.nextMessage('Found: under the oak.');
  await bot.idle();
  assert.equal(group.sent().filter(({ text }) => /under the oak/.test(text)).length, 1);
});

test('U15 T8 a press cancels the approval that its turn waits for', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: `${open}[[policy.rules]]\ntool = "use_skill"\naction = "confirm"\n`,
    skills: { dig },
    script: (body) =>
      /tool_result/.test(lastOf(body))
        ? callDig('toolu_2')
        : { content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'skills_list', input: {} }] },
  });
  const ann = telegram.person({ name: 'Ann' });
  const group = telegram.group();
  ann.says('@test_bot dig', { in: group });
  const question = await group.nextMessage(/needs? a yes to use/);
  const line = await telegram.until('the line', () =>
    group.sent().find(({ buttons }) => buttons[0] === 'Stop'),
  );
  ann.presses(line.id, 'Stop', group);
  await group.nextMessage('Stopped.');
  const late = await telegram.until('the outcome', () =>
    group.sent().find(({ id, buttons }) => id === question.id && buttons.length === 0),
  );
  assert.match(late.text, /^Stopped/);
});

test('S11 U15 a press of somebody who was removed meanwhile ends nothing', async (t) => {
  const gate = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001", "telegram:1002"]\ngroups_mode = "open"\n',
    script: () => held('I guess so.', gate.promise),
  });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  const group = set.telegram.group();
  ann.says('@test_bot is it so?', { in: group });
  const words = await group.nextMessage('I guess so.');
  await set.reconfigure('[access]\nusers = ["telegram:1002"]\ngroups_mode = "open"\n');
  await set.log.line(({ message }) => message === 'the config was changed');
  const press = ann.presses(words.id, 'Stop', group);
  await set.telegram.until('the refusal', () => press.answered());
  assert.match(press.text() ?? '', /access/);
  gate.resolve();
  await set.telegram.until('the words go, because they were removed', () => group.sent().length === 0);
});
