import assert from 'node:assert/strict';
import { test } from 'node:test';
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
