import assert from 'node:assert/strict';
import type { Update } from 'grammy/types';
import { test } from 'node:test';
import type { OnEvent } from '../../src/core/channel.ts';
import { ann, dm, hearingBot, me, said } from '../support/telegram-updates.ts';
import { systemClock } from '../../src/lib/clock.ts';

const pressed = {
  update_id: 2,
  callback_query: {
    id: 'q',
    from: ann,
    chat_instance: 'i',
    data: 'yes',
    message: {
      message_id: 7,
      from: { ...me, is_bot: true, first_name: 'Bot' },
      chat: dm,
      date: 1,
      text: 'ok?',
    },
  },
} as unknown as Update;

function takeWith(onEvent: OnEvent) {
  const done: string[] = [];
  const { take, log } = hearingBot({
    onEvent,
    stored: ({ text }) => void done.push(text),
    pressed: ({ action }) => void done.push(action),
    clock: systemClock,
  });
  return { take, done, log };
}

test('Q1 an update counts as taken only when its event was, whatever it is', async () => {
  const updates = {
    message: said('hi'),
    edited: { update_id: 3, edited_message: said('hi').message },
    pressed,
  };
  for (const [what, update] of Object.entries(updates)) {
    const { take, done } = takeWith(() => Promise.reject(new Error('disk full')));
    await assert.rejects(take(update as Update), /disk full/, what);
    assert.deepEqual(done, [], `${what} was dealt with`);
  }
});

test('H3 a message that waits and a press that was dealt with are told, after they were', async () => {
  const { take, done } = takeWith(async (event) => {
    assert.deepEqual(done, []);
    if (event.type === 'message') event.stored?.();
  });
  await take(pressed);
  assert.deepEqual(done.splice(0), ['yes']);
  await take(said('hi'));
  assert.deepEqual(done, ['hi']);
});

test('Q1 an update that can not be read is taken: it must not block those behind it', async () => {
  const { take } = takeWith(() => assert.fail('there is no event'));
  await take({ update_id: 4, message: { message_id: 3, chat: null, text: 'x' } } as unknown as Update);
});

test('A9 H3 updates of a business account, of guests and of unknown kinds reach nobody, and the log names them', async () => {
  const { take, log } = takeWith(() => assert.fail('there is no event'));
  const { message } = said('x');
  const updates = [{ business_message: message }, { guest_message: message }, { poll: { id: '1' } }, {}];
  for (const update of updates) await take({ update_id: 5, ...update } as unknown as Update);
  const reasons = log.lines.map(({ fields }) => fields['reason']);
  assert.deepEqual(
    reasons,
    ['business_message', 'guest_message', 'poll', 'empty'].map((kind) => `unused update ${kind}`),
  );
});
