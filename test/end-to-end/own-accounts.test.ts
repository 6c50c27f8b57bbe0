import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeIn, linkIn, startOwnAccounts } from '../support/own-accounts.ts';

test('X8 a person signs in from a direct message: link, page, code, then the tools run as them', async (t) => {
  const { telegram, finish, server, bot, messages } = await startOwnAccounts(t);
  const ann = telegram.person({ name: 'Ann', id: 42 });
  ann.says('who am I?');
  const asked = await ann.dm.nextMessage(/To use work for you, I need you to sign in there/);
  await ann.dm.nextMessage(/It says: error SIGN_IN_NEEDED/);
  const page = await finish(linkIn(asked.text), 'ann');
  assert.match(page, /work<?.*Ann \(telegram:42\)/s);
  assert.equal(server.calls.length, 0, 'nothing is used before the code came back');
  ann.says(codeIn(page));
  await ann.dm.nextMessage(/Connected\. I now use your account at work/);
  await bot.idle();
  ann.says('who am I?');
  await ann.dm.nextMessage('It says: You are ann');
  const bodies = JSON.stringify(messages.requests);
  for (const token of server.tokens) assert.ok(!bodies.includes(token));
  assert.ok(!bodies.includes(codeIn(page)), 'the code is kept out of the conversation');
  assert.ok(!bodies.includes('/auth?'), 'the link is kept out of the conversation');
});
