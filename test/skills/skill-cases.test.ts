import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatConfigProblem } from '../../src/config/config-problem.ts';
import { parseSkillCases } from '../../src/skills/skill-cases.ts';

const problemsOf = (text: string): readonly string[] => {
  const parsed = parseSkillCases(text, 'dice/tests/a.toml');
  return parsed.ok ? [] : parsed.problems.map(formatConfigProblem);
};

test('L3 a case needs a message, everything else has a default', () => {
  const parsed = parseSkillCases(
    '[[case]]\nmessage = "hi"\n[[case]]\nname = "b"\nmessage = "/x"\n',
    'f.toml',
  );
  assert.ok(parsed.ok);
  const [first, second] = parsed.cases;
  assert.deepEqual([first?.name, second?.name], ['case 1', 'b']);
  assert.deepEqual(
    [
      first?.chatType,
      first?.external,
      first?.skill,
      first?.mayCall,
      first?.mustCall,
      first?.alone,
      first?.timeoutSeconds,
    ],
    ['private', false, undefined, undefined, [], false, 120],
  );
  const one = parseSkillCases(
    '[[case]]\nmessage = "x"\n[case.result]\ncontains = "a"\njson = { "b[0]" = 1 }\n',
    'f',
  );
  assert.ok(one.ok);
  assert.deepEqual(one.cases[0]?.result, { contains: ['a'], lacks: [], matches: [], json: { 'b[0]': 1 } });
});

test('L3 unknown keys and wrong values are errors with file and line, all at once, with what was probably meant', () => {
  const text = `[[case]]
message = "roll"
skil = "dice"
chat_type = "room"

[[case]]
message = ""
[case.answer]
contain = "x"
matches = "(open"

[cases]
`;
  assert.deepEqual(problemsOf(text), [
    'dice/tests/a.toml:3:1: case[0].skil is not a known key: did you mean skill?',
    'dice/tests/a.toml:4:1: case[0].chat_type is "room": write "private", "group" or "channel".',
    'dice/tests/a.toml:7:1: case[1].message is "": it can\'t be empty: write a value or remove the line.',
    'dice/tests/a.toml:9:1: case[1].answer.contain is not a known key: did you mean contains?',
    'dice/tests/a.toml:10:1: case[1].answer.matches is text of 5 characters: write a regular expression as JavaScript has it, or a list of them.',
    'dice/tests/a.toml:12:1: cases is not a known key: did you mean case?',
  ]);
  assert.match(problemsOf('[[case]\n').join(), /^dice\/tests\/a\.toml:1:/);
  assert.match(problemsOf('').join(), /case is missing/);
});
