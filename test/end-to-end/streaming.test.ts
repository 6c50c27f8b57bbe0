import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const open = '[access]\nusers = ["telegram:1001", "slack:U1"]\ngroups_mode = "open"\n';
const said = (text: string, hold: Promise<void>) => ({
  content: [{ type: 'text' as const, text }],
  wire: { hold },
});

test('H6 in private a draft shows the answer while the model writes it; then one message that rings comes', async (t) => {
  const held = Promise.withResolvers<void>();
  const { telegram } = await startWholeBot(t, {
    toml: open,
    script: () => said('It **is** so.', held.promise),
  });
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  ann.says('is it so?');
  await telegram.until('the draft', () => ann.dm.drafts().at(-1)?.text === 'It is so.' || undefined);
  assert.equal(ann.dm.everSent().length, 0);
  held.resolve();
  const answer = await ann.dm.nextMessage('It is so.');
  assert.equal(answer.silent, false);
  assert.equal(ann.dm.everSent().length, 1);
});

test('H6 U13 what the model says before a tool call is no answer: it gives way to the answer', async (t) => {
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let calls = 0;
  const { telegram } = await startWholeBot(t, {
    toml: open,
    script: (body) => {
      calls += 1;
      if (calls > 1) {
        const results = JSON.stringify(body.messages.at(-1)).includes('tool_result');
        return said(results ? 'Two skills.' : 'No tool was called.', held[1].promise);
      }
      const content = [
        { type: 'text' as const, text: 'I look.' },
        { type: 'tool_use' as const, name: 'skills_list', input: {} },
      ];
      return { content, stopReason: 'tool_use', wire: { hold: held[0].promise } };
    },
  });
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  const friends = telegram.group({ title: 'Friends' });
  ann.says('@test_bot how many?', { in: friends });
  await friends.nextMessage('I look.');
  held[0].resolve();
  await telegram.until('the words', () => friends.sent()[0]?.text === 'Two skills.' || undefined);
  held[1].resolve();
  const asked = ann.says('@test_bot again?', { in: friends });
  const next = await friends.nextMessage('No tool was called.');
  assert.equal(next.replyTo, asked);
  assert.deepEqual(
    friends.sent().map(({ text }) => text),
    ['Two skills.', 'No tool was called.'],
  );
});

test('A9 H6 for a person who is removed while the model writes the words go, and no answer comes', async (t) => {
  const held = Promise.withResolvers<void>();
  const set = await startWholeBot(t, { toml: open, script: () => said('A secret.', held.promise) });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  const friends = set.telegram.group({ title: 'Friends' });
  ann.says('@test_bot what is it?', { in: friends });
  await friends.nextMessage('A secret.');
  await set.reconfigure('[access]\nusers = ["telegram:1002"]\ngroups_mode = "open"\n');
  await set.log.line(({ message }) => message === 'the config was changed');
  held.resolve();
  await set.telegram.until('the words are gone', () => friends.sent().length === 0 || undefined);
});

test('H6 S2 a secret never shows in a preview, cut anywhere', async (t) => {
  const held = Promise.withResolvers<void>();
  const { telegram } = await startWholeBot(t, {
    toml: open,
    script: () => ({
      ...said('It is test-key-0123456789, I think', held.promise),
      wire: { hold: held.promise, dripMs: 5 },
    }),
  });
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  const friends = telegram.group({ title: 'Friends' });
  ann.says('@test_bot what is it?', { in: friends });
  await telegram.until('the end', () => friends.sent()[0]?.text.endsWith('I think') || undefined);
  held.resolve();
  assert.ok(friends.everSent().every(({ texts }) => texts.every((text) => !text.includes('test-key-0'))));
});
