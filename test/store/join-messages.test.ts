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

test('M12 of several captions of an album each stays with its own file; one alone is that of them all', () => {
  const part = (name: string, text: string) => ({
    message: makeMessage({ text, attachments: [{ kind: 'photo', name }] }),
    glue: '\n',
  });
  const captionsOf = (...texts: readonly [string, ...string[]]) => {
    const [first, ...rest] = texts.map((text, at) => part(`${at}.jpg`, text));
    const joined = joinMessages([first!, ...rest]);
    return [joined.text, ...joined.attachments.map(({ name, caption }) => `${name} ${caption}`)];
  };
  assert.deepEqual(captionsOf('before', '', 'after'), [
    'before\nafter',
    '0.jpg before',
    '1.jpg undefined',
    '2.jpg after',
  ]);
  assert.deepEqual(captionsOf('', 'the three', ''), [
    'the three',
    '0.jpg undefined',
    '1.jpg undefined',
    '2.jpg undefined',
  ]);
  const words = { message: makeMessage({ text: 'long' }), glue: '' };
  assert.deepEqual(joinMessages([words, part('a.jpg', 'b')]).attachments, [{ kind: 'photo', name: 'a.jpg' }]);
});
