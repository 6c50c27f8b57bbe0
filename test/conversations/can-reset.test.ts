import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canReset } from '../../src/conversations/handle-item.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';
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
    assert.equal(canReset(message, false, shared), false, chatType);
    assert.equal(canReset(message, true, shared), true, chatType);
    assert.equal(canReset(message, false, own), true, chatType);
    assert.equal(canReset(message, false, []), true, chatType);
  }
});

test('I3 in a direct message anybody starts afresh', () => {
  assert.equal(canReset(makeMessage(), false, shared), true);
});

test('I3 M9 what a summary stands for counts like what was said', () => {
  const summary = (senders?: readonly string[]): Entry => ({
    kind: 'summary',
    text: 'They talked.',
    kept: 0,
    tokens: noTokens,
    at: 3,
    ...(senders === undefined ? {} : { senders }),
  });
  const message = makeMessage({ chatType: 'group' });
  assert.equal(canReset(message, false, [summary(['telegram:42']), ...own]), true);
  assert.equal(canReset(message, false, [summary(['telegram:42', 'telegram:66']), ...own]), false);
  assert.equal(canReset(message, false, [summary(), ...own]), false);
});
