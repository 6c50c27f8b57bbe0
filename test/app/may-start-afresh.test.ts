import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayStartAfresh } from '../../src/app/may-start-afresh.ts';
import type { Entry } from '../../src/core/entry.ts';
import { makeMessage } from '../support/make-message.ts';

const said = (sender?: string): Entry => ({
  kind: 'user',
  content: 'hi',
  at: 1,
  ...(sender === undefined ? {} : { sender }),
});
const notice: Entry = { kind: 'notice', text: 'stopped', at: 2 };
const own = [said('telegram:42'), notice, said()];
const shared = [...own, said('telegram:66')];

test('I3 in a group only the owner puts aside what others said, too', () => {
  for (const chatType of ['group', 'channel', 'unknown'] as const) {
    const message = makeMessage({ chatType });
    assert.equal(mayStartAfresh(message, false, shared), false, chatType);
    assert.equal(mayStartAfresh(message, true, shared), true, chatType);
    assert.equal(mayStartAfresh(message, false, own), true, chatType);
    assert.equal(mayStartAfresh(message, false, []), true, chatType);
  }
});

test('I3 in a direct message anybody starts afresh', () => {
  assert.equal(mayStartAfresh(makeMessage(), false, shared), true);
});
