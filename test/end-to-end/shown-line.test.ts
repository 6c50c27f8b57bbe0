import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const lookup =
  '---\nname: lookup\ndescription: Looks things up.\nargument_hint: "[question]"\n---\nLook it up.\n';
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });

test('Q6 U13 the line that a person watches is silent and goes; the answer rings, as a reply in a group', async (t) => {
  const held = Promise.withResolvers<void>();
  const long = `**First.** ${'word '.repeat(1_200)}\n\nLast.`;
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001"]\ngroups_mode = "open"\n',
    skills: { lookup },
    script: (body) => (isRun(body) ? { ...said('found'), wire: { hold: held.promise } } : long),
  });
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  const friends = telegram.group({ title: 'Friends' });
  const asked = ann.says('/lookup@test_bot is it so?', { in: friends });
  const line = await friends.nextMessage('lookup');
  assert.deepEqual([line.silent, line.replyTo], [true, asked]);
  held.resolve();
  await friends.nextMessage('Last.');
  const [shown, first, second, ...more] = friends.everSent();
  assert.deepEqual(more, []);
  assert.deepEqual([shown?.id, shown?.deleted], [line.id, true]);
  assert.deepEqual([first?.silent, first?.replyTo, first?.text.startsWith('First.')], [false, asked, true]);
  assert.equal(second?.replyTo, undefined);
});

test('A9 H7 for a person who is removed meanwhile the line goes, and no answer comes', async (t) => {
  const held = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: '[access]\nusers = ["telegram:1001"]\n',
    skills: { lookup },
    script: (body) => (isRun(body) ? { ...said('found'), wire: { hold: held.promise } } : 'A secret.'),
  });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  ann.says('/lookup is it so?');
  await ann.dm.nextMessage('lookup');
  await set.reconfigure('[access]\nusers = ["telegram:1002"]\n');
  await set.log.line(({ message }) => message === 'the config was changed');
  held.resolve();
  await set.telegram.until('the line is gone', () => ann.dm.sent().length === 0 || undefined);
  assert.ok(ann.dm.everSent().every(({ texts }) => !texts.some((text) => text.includes('secret'))));
});

test('Q3 H7 the apology for a message that was given up rings, and the line goes', async (t) => {
  const held = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    skills: { lookup },
    mostTries: 1,
    script: (body) =>
      isRun(body)
        ? { ...said('found'), wire: { hold: held.promise } }
        : { status: 529, headers: { 'x-should-retry': 'false', 'retry-after': '0' } },
  });
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('/lookup is it so?');
  const line = await ann.dm.nextMessage('lookup');
  held.resolve();
  const apology = await ann.dm.nextMessage(/^(?!lookup)/);
  assert.deepEqual(
    ann.dm.everSent().map(({ id, deleted, silent }) => [id, deleted, silent]),
    [
      [line.id, true, true],
      [apology.id, false, false],
    ],
  );
});
