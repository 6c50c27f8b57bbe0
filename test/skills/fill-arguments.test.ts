import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillArguments, splitArguments } from '../../src/skills/registry.ts';

const fill = (body: string, args: string, argumentHint?: string): string =>
  fillArguments(body, args, { skillPath: '/skill', ...(argumentHint === undefined ? {} : { argumentHint }) })
    .text;

test('I5 $ARGUMENTS is all of them, $ARGUMENTS[N] and $N one, counted from 0 with shell quotes', () => {
  assert.equal(fill('<$ARGUMENTS>', 'a "b c"'), '<a "b c">');
  assert.equal(fill('$ARGUMENTS[0]|$ARGUMENTS[1]|$1|$0', 'a "b c"'), 'a|b c|b c|a');
});

test('I5 a missing index stays as written and an escape is left out', () => {
  assert.equal(
    fill('$ARGUMENTS[2] $2 \\$0 \\$ARGUMENTS $ARGUMENTS', 'a'),
    '$ARGUMENTS[2] $2 $0 $ARGUMENTS a',
  );
});

test('I5 $N counts only with an argument hint or where $ARGUMENTS is used', () => {
  const body = "awk '{print $1}'; pay $5 or $1.50 or $5,000; \\$1";
  assert.equal(fill(body, 'a b'), body);
  assert.equal(fill('use $1', 'a b', '[x] [y]'), 'use b');
  assert.equal(fill('use $1, \\$ARGUMENTS', 'a b'), 'use $1, $ARGUMENTS');
  assert.equal(fill('$1.50 $1,000 $1st $0.', 'a b', 'hint'), '$1.50 $1,000 $1st a.');
});

test('I5 what is filled in is never looked at again', () => {
  assert.equal(
    fill('$ARGUMENTS and $0', '$0$ARGUMENTS$&$`{baseDir}'),
    '$0$ARGUMENTS$&$`{baseDir} and $0$ARGUMENTS$&$`{baseDir}',
  );
});

test('I5 the names of the skill path are filled in, a command is never executed', () => {
  assert.equal(
    fill('{baseDir}/a ${CLAUDE_SKILL_DIR}/b <skill_dir>/c !`id`', ''),
    '/skill/a /skill/b /skill/c !`id`',
  );
});

test('I5 it is told whether the arguments found a place', () => {
  const said = (body: string): boolean => fillArguments(body, 'x', { skillPath: '/s' }).substituted;
  assert.deepEqual(
    ['$ARGUMENTS', 'plain', '{baseDir}', '\\$ARGUMENTS', '$ARGUMENTS[3]', '$ARGUMENTS_X'].map(said),
    [true, false, false, false, false, false],
  );
});

test('I5 arguments are split as a shell would, an open quote ends with the text', () => {
  assert.deepEqual(splitArguments(`a 'b c' "d \\"e" f\\ g '' h"i j"k`), [
    'a',
    'b c',
    'd "e',
    'f g',
    '',
    'hi jk',
  ]);
  assert.deepEqual(splitArguments(`it's open`), ['its open']);
  assert.deepEqual(splitArguments('  '), []);
  assert.deepEqual(splitArguments('end\\'), ['end\\']);
});
