import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { chatFolder } from '../../src/tools/built-in/run-folders.ts';
import { callSteps, isRun } from '../support/call-steps.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const admitted = '[access]\nusers = ["telegram:1001", "telegram:1002"]\n';
const removed = '[access]\nusers = ["telegram:1002"]\n';

test('A9 who is removed while the answer is made does not get it, and who is removed while waiting is not asked about', async (t) => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const set = await startWholeBot(t, {
    toml: admitted,
    script: async (_body, index) => {
      if (index > 0) return 'For Ben.';
      asked.resolve();
      await gone.promise;
      return 'A secret for Ann.';
    },
  });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  const ben = set.telegram.person({ name: 'Ben', id: 1002 });
  const first = ann.says('the first question');
  await asked.promise;
  ann.says('the second question');
  await set.log.line(
    ({ fields }) => fields['accepted'] === 'stored' && fields['message'] !== `telegram:1001:${first}`,
  );
  await set.reconfigure(removed);
  await set.log.line(({ message }) => message === 'the config was changed');
  gone.resolve();
  await set.log.line(
    ({ message, fields }) =>
      message.startsWith('a message is no longer admitted') && fields['message'] !== `telegram:1001:${first}`,
  );
  ben.says('hello');
  assert.equal((await ben.dm.nextMessage()).text, 'For Ben.');
  assert.deepEqual(ann.dm.everSent(), []);
  assert.equal(set.messages.requests.length, 2, 'the second question reached the model');
});

const report = { report: '---\nname: report\ndescription: Makes reports.\n---\nMake one.\n' };
const confirm = '[policy]\nmoderate = "confirm"\n';

test('S11 what a removed person was asked, they can not approve; restored, they can', async (t) => {
  const set = await startWholeBot(t, {
    toml: `${admitted}${confirm}`,
    skills: report,
    script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content: 'hello' } }]),
  });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  const changes = () => set.log.lines.filter(({ message }) => message === 'the config was changed');
  ann.says('/report');
  const question = await ann.dm.nextMessage(/wants to use.*write_file/s);
  await set.reconfigure(`${removed}${confirm}`);
  await set.log.line(() => changes().length === 1);
  ann.presses(question.id, 'Approve');
  const pressed = /somebody who is not admitted pressed a button|an approval was answered/;
  const { message } = await set.log.line((line) => pressed.test(line.message));
  assert.match(message, /not admitted/);
  await set.reconfigure(`${admitted}${confirm}`);
  await set.log.line(() => changes().length === 2);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('All done.');
});

test('S11 a run of a removed person makes no more calls, of tools or of the model', async (t) => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const call = { content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'write_file', input: {} }] };
  const set = await startWholeBot(t, {
    toml: admitted,
    skills: report,
    script: async (body) => {
      assert.ok(isRun(body));
      asked.resolve();
      await gone.promise;
      return call;
    },
  });
  const ann = set.telegram.person({ name: 'Ann', id: 1001 });
  ann.says('/report');
  await asked.promise;
  await set.reconfigure(removed);
  await set.log.line(({ message }) => message === 'the config was changed');
  gone.resolve();
  await set.log.line(({ message, fields }) => message === 'a run ended' && fields['code'] === 'MODEL_ERROR');
  await set.log.line(({ message }) => message.startsWith('a message is no longer admitted'));
  assert.equal(set.messages.requests.length, 1);
  assert.deepEqual(ann.dm.everSent(), []);
});

for (const way of ['pair revoke', 'forget'] as const)
  test(`S11 A10 who was paired and is removed (${way}) can not approve what they were asked, and nothing more runs for them`, async (t) => {
    const set = await startWholeBot(t, {
      toml: `[access]\ndm = "pairing"\n[bot]\nowner = ["telegram:1002"]\n${confirm}`,
      skills: report,
      script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content: 'hello' } }]),
    });
    const ann = set.telegram.person({ name: 'Ann', id: 1001 });
    ann.says('hello');
    const { text } = await ann.dm.nextMessage(/pairing code/);
    await set.bot.operate('pair approve', /code is ([A-Z2-9]{8})/.exec(text)?.[1] ?? '');
    await ann.dm.nextMessage(/approved/i);
    ann.says('/report');
    const question = await ann.dm.nextMessage(/wants to use.*write_file/s);
    const asked = set.messages.requests.length;
    await set.bot.operate(way, 'telegram:1001');
    const press = ann.presses(question.id, 'Approve');
    const pressed = /somebody who is not admitted pressed a button|an approval was answered/;
    const { message } = await set.log.line((line) => pressed.test(line.message));
    assert.match(message, /not admitted/);
    assert.equal(
      await set.telegram.until('a word on the press', () => press.text()),
      'You don’t have access to this bot. Ask its operator for it.',
    );
    assert.equal(set.messages.requests.length, asked, 'the model was asked for them');
    const folder = chatFolder(path.join(set.home, 'workspace'), { channel: 'telegram', chat: '1001' });
    await assert.rejects(access(path.join(folder, 'a.txt')), 'their call was made');
  });
