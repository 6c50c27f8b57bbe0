import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const refusals = [
  [401, 'invalid x-api-key', /Check \[models\.default\] api_key\.$/],
  [
    400,
    'Your credit balance is too low to access the Anthropic API.',
    /Check the account of \[models\.default\] api_key\.$/,
  ],
  [404, 'model: claude-sonnet-5-5', /Check \[models\.default\] model and base_url\.$/],
] as const;
for (const [status, message, look] of refusals) {
  test(`M14 the owner hears of a ${status} once an hour with the API's own words, others one sentence`, async (t) => {
    const { telegram, messages } = await startWholeBot(t, {
      toml: '[bot]\nowner = ["telegram:1001"]\n[access]\ndm = "open"\n',
      script: () => ({ status, message }),
    });
    const ann = telegram.person({ id: 1001, name: 'Ann' });
    const bob = telegram.person({ id: 1002, name: 'Bob' });
    ann.says('hello');
    await ann.dm.nextMessage(/does not answer/);
    for (const text of ['hello', 'hello again']) {
      bob.says(text);
      await bob.dm.nextMessage("I can't reach my language model right now. I've told my operator.");
    }
    const told = ann.dm.sent().filter(({ text }) => /does not answer/.test(text));
    assert.equal(told.length, 1);
    assert.ok(told[0]?.text.includes(`It said (${status}): ${message.replace(/\.$/, '')}`), told[0]?.text);
    assert.match(told[0]?.text ?? '', /^My language model claude-sonnet-5-5 \(default\) does not answer\. /);
    assert.match(told[0]?.text ?? '', look);
    // Nothing of it is tried again.
    assert.equal(messages.requests.length, 3);
  });
}
