import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeCase, type CaseRun } from '../../src/cli/skill-tests/judge-case.ts';
import { parseSkillCases } from '../../src/skills/skill-cases.ts';

const run: CaseRun = {
  used: [{ skill: 'dice', status: 'ok' }],
  called: ['skills_run_script', 'skills_read_file'],
  result: 'Rolled:\n```json\n{"rolls": [3, {"x": "y"}], "sum": 3}\n```\n',
  answer: 'You rolled a 3.',
  files: [],
  calls: [],
  tokens: 0,
};
const judge = (toml: string, change: Partial<CaseRun> = {}): readonly string[] => {
  const parsed = parseSkillCases(`[[case]]\nmessage = "x"\n${toml}`, 'f');
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return judgeCase(parsed.cases[0]!, { ...run, ...change });
};

test('L3 a case that goes as it should has no problem', () => {
  const good = `skill = "dice"
status = "ok"
must_call = ["skills_run_script"]
may_call = ["skills_read_file"]
[case.result]
contains = ["Rolled", "sum"]
lacks = "error"
matches = ['"sum": \\d', '^Rolled']
json = { sum = 3, "rolls[0]" = 3, "$.rolls[1].x" = "y", "rolls[1]" = { x = "y" } }
[case.answer]
contains = "3"
`;
  assert.deepEqual(judge(good), []);
  assert.deepEqual(judge('skill = "none"', { used: [] }), []);
  assert.deepEqual(judge('[case.result]\njson = { "$" = [1] }', { result: '[1]' }), []);
});

test('L3 each expectation that is not met is told by itself', () => {
  const bad: readonly (readonly [string, RegExp, Partial<CaseRun>?])[] = [
    ['skill = "mail"', /skill mail was not used, but dice/],
    ['skill = "none"', /a skill was used, dice, and none should be/],
    ['skill = "dice"', /dice was not used, but none/, { used: [] }],
    ['status = "error"', /ended as ok, not as error/],
    ['must_call = ["bash"]', /bash was not called/],
    ['may_call = ["skills_run_script"]', /skills_read_file was called, and only skills_run_script may be/],
    ['may_call = []', /skills_run_script was called, and only no tool may be/],
    ['[case.result]\ncontains = "4"', /the result lacks "4"/],
    ['[case.result]\nlacks = "sum"', /the result contains "sum"/],
    ['[case.answer]\nmatches = "^3"', /the answer does not match \/\^3\//],
    ['[case.result]\njson = { sum = 4 }', /the result has 3 at sum, not 4/],
    ['[case.result]\njson = { "rolls[9].x" = 4 }', /has nothing at rolls\[9\]\.x/],
    ['[case.result]\njson = { "__proto__.x" = 4 }', /has nothing at/],
    ['[case.answer]\njson = { sum = 4 }', /the answer is no JSON/],
    ['[case.result]\ncontains = "x"', /the result is missing/, { result: undefined as unknown as string }],
    ['', /gave up/, { fault: 'it gave up' }],
  ];
  for (const [toml, expected, change] of bad) {
    const problems = judge(toml, change);
    assert.match(problems.join('\n'), expected, toml);
  }
});
