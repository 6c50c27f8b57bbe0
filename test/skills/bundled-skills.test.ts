import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSkills } from '../../src/skills/load-skills.ts';
import { newSkillText } from '../../src/skills/parse/skill-definition.ts';
import { validateSkill, validateTree } from '../../src/skills/parse/validate-skill.ts';

const root = join(import.meta.dirname, '../../skills');

test('D1 every bundled skill passes validation, and strict where it needs no key of our own', async () => {
  for (const { path, valid, problems } of validateTree(root))
    assert.ok(valid, `${path}: ${JSON.stringify(problems)}`);
  const [help] = validateTree(join(root, 'skillet-help'), { strict: true });
  assert.deepEqual(help?.problems, []);
  const { names, diagnostics } = await loadSkills([{ origin: 'bundled', path: root }]);
  assert.deepEqual(diagnostics, []);
  for (const name of ['research', 'skill-writer', 'skillet-help', 'summarize'])
    assert.ok(names.includes(name), name);
});

test('F5 a new skill passes validate and strict whatever it is called and however it is described', () => {
  const descriptions = [
    'Does it',
    'Use when: "late" # or \\ early --- or not',
    '- a\n- b',
    '[x] {y} &z *w !v %u @t `s`',
    "it's 'quoted'",
  ];
  for (const name of ['tool', 'my-tool-2', 'größe'])
    for (const description of descriptions) {
      const bytes = Buffer.from(newSkillText(name, description));
      for (const strict of [false, true]) {
        const problems = validateSkill(
          { path: `/r/${name}/SKILL.md`, directory: `/r/${name}`, bytes },
          { strict },
        );
        assert.deepEqual(problems, [], `${name} ${description} ${strict}`);
      }
    }
  assert.throws(() => newSkillText('Bad Name', 'd'), /try "bad-name"/);
  assert.throws(() => newSkillText('tool', ' '), RangeError);
});
