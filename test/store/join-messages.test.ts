import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinMessages } from '../../src/store/grow-item.ts';
import { makeMessage } from '../support/make-message.ts';

test('H3 a text that the client cut keeps its command, with all of its arguments', () => {
  const joined = joinMessages([
    { message: makeMessage({ text: '/skill dice 1', command: { name: 'skill', args: 'dice 1' } }), glue: '' },
    { message: makeMessage({ id: '2', text: '2 3' }), glue: '' },
    { message: makeMessage({ id: '3', text: '' }), glue: '' },
  ]);
  assert.deepEqual(joined.command, { name: 'skill', args: 'dice 12 3' });
  assert.equal(joined.text, '/skill dice 12 3');
  assert.equal(joined.id, makeMessage().id);
});

test("H3 an album is meant for the bot when one of its captions is, and carries that caption's command", () => {
  const replyTo = { name: 'Bob', text: 'before', own: true };
  const joined = joinMessages([
    { message: makeMessage({ text: '', addressed: false }), glue: '' },
    {
      message: makeMessage({ text: '/x', command: { name: 'x', args: '' }, replyTo, external: true }),
      glue: '\n',
    },
  ]);
  assert.equal(joined.addressed, true);
  assert.equal(joined.external, true);
  assert.equal(joined.text, '/x');
  assert.deepEqual(joined.command, { name: 'x', args: '' });
  assert.deepEqual(joined.replyTo, replyTo);
});
