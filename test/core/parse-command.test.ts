import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseCommand } from '../../src/core/message.ts';

const runs = Number(process.env.SKILLET_FUZZ_RUNS ?? 200);

test('I1 a command is a slash, a name in any case, and trimmed arguments whose newlines stay', () => {
  assert.deepEqual(parseCommand('/Deploy  now\nplease '), { name: 'deploy', args: 'now\nplease' });
  assert.deepEqual(parseCommand('/help'), { name: 'help', args: '' });
  assert.deepEqual(parseCommand('  /help \n'), { name: 'help', args: '' });
  assert.deepEqual(parseCommand('/notes\nfirst line'), { name: 'notes', args: 'first line' });
});

test('I1 a name keeps its hyphens and underscores, where Telegram would cut it', () => {
  assert.deepEqual(parseCommand('/my-skill args'), { name: 'my-skill', args: 'args' });
  assert.deepEqual(parseCommand('/my_skill'), { name: 'my_skill', args: '' });
});

test('I1 the bot a command is meant for is given apart, as written', () => {
  assert.deepEqual(parseCommand('/my-skill@SkilletBot do it'), {
    name: 'my-skill',
    args: 'do it',
    bot: 'SkilletBot',
  });
});

test('I3 what only looks like a command is an ordinary text', () => {
  const texts = [
    '',
    '/',
    '/ help',
    '//help',
    '/etc/hosts',
    '/a.b',
    '/help!',
    '/help@',
    '/-x',
    'say /help',
    '@b /x',
  ];
  for (const text of texts) {
    assert.equal(parseCommand(text), undefined, text);
  }
});

test('S6 parsing a command never throws, and what it gives can be found in the text', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string().map((rest) => `/${rest}`),
      ),
      (text) => {
        const command = parseCommand(text);
        if (command === undefined) return;
        assert.ok(text.toLowerCase().includes(command.name));
        assert.ok(text.includes(command.args));
        assert.equal(command.args, command.args.trim());
      },
    ),
    { numRuns: runs },
  );
});
