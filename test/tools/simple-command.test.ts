import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSimpleCommand } from '../../src/tools/own-script.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('T5 a simple command is read as the words a shell would pass on', () => {
  assert.deepEqual(parseSimpleCommand('git commit -m "a b" --x=\'c;$d\' e"f"g'), [
    ...['git', 'commit', '-m', 'a b', '--x=c;$d', 'efg'],
  ]);
  assert.deepEqual(parseSimpleCommand("git ''"), ['git', '']);
  for (const none of ['', '  ', "''", 'A=1', 'A=1 git'])
    assert.equal(parseSimpleCommand(none), undefined, none);
});

test('T5 what is accepted as one simple command gives the same words in a real shell, and nothing else happens', () => {
  const piece = fc.oneof(
    fc.constantFrom(...' \t\'"\\$`;|&<>()*?[]{}~!#=%^@+:,./-_\n\r\0'),
    fc.constantFrom(
      'a',
      'git',
      'é',
      '1',
      ' ',
      ' ',
      '"a b"',
      "'$HOME;'",
      '"$HOME"',
      '"`id`"',
      '"\\a"',
      '~/x',
      'A=1',
    ),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => `git ${pieces.join('')}`);
  const accepted: (readonly string[])[] = [];
  const commands: string[] = [];
  fc.assert(
    fc.property(text, (command) => {
      const words = parseSimpleCommand(command);
      if (words === undefined) return;
      accepted.push(words);
      commands.push(command);
    }),
    { numRuns: numRuns * 20 },
  );
  assert.ok(accepted.length > numRuns / 10, `only ${accepted.length} were accepted`);
  const program = 'git() { for word in git "$@"; do printf "%s\\001" "$word"; done; printf "\\002"; }';
  const printed = execFileSync('/bin/sh', ['-c', `${program}\n${commands.join('\n')}`], { encoding: 'utf8' });
  const seen = printed.split('\u0002').slice(0, -1);
  assert.deepEqual(
    seen,
    accepted.map((words) => words.map((word) => `${word}\u0001`).join('')),
  );
});
