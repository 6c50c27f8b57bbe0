import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeMessage } from '../support/make-message.ts';
import { openDoor } from '../support/open-door.ts';

const callback = 'https://back.example/?code=good&state=state-work';
const out = '(the answer of a sign-in page, taken out)';

test('C6 a code that a message is edited into completes the sign-in and is never stored', async (t) => {
  const { onEvent, waiting, records } = await openDoor(t);
  await onEvent({ type: 'message', message: makeMessage({ text: 'one moment' }) });
  await onEvent({ type: 'edited', message: makeMessage({ text: callback }) });
  assert.deepEqual(await waiting(), [{ text: 'one moment', quoted: undefined, shared: undefined }]);
  const [flow] = await records.flows('telegram:42');
  assert.equal(flow?.state, 'submitted');
});

test('C6 a code that a message quotes or passes on is taken out before it is stored, in an edit, too', async (t) => {
  const { onEvent, waiting, store } = await openDoor(t);
  const quote = { name: 'Ann', own: false, text: callback };
  const message = makeMessage({
    text: 'does this work?',
    replyTo: quote,
    shared: [{ ...quote, note: 'forwarded' }],
  });
  const clean = { quoted: out, shared: [out] };
  await onEvent({ type: 'message', message });
  assert.deepEqual(await waiting(), [{ text: 'does this work?', ...clean }]);
  await onEvent({ type: 'edited', message: { ...message, text: 'and this?' } });
  assert.deepEqual(await waiting(), [{ text: 'and this?', ...clean }]);
  const place = { channel: 'telegram', chat: '-1' };
  await onEvent({
    type: 'message',
    message: { ...message, id: 'telegram:-1:1', conversation: place, chatType: 'group', addressed: false },
  });
  const [heard] = await store.groupContext.recent('telegram:-1', 1, 0);
  assert.equal(heard?.replyTo?.text, out);
});

test('C6 a pasted code completes the sign-in, and nothing else hears of it', async (t) => {
  const { onEvent, waiting, records } = await openDoor(t);
  await onEvent({ type: 'message', message: makeMessage({ text: callback }) });
  assert.deepEqual(await waiting(), []);
  const [flow] = await records.flows('telegram:42');
  assert.equal(flow?.state, 'submitted');
});
