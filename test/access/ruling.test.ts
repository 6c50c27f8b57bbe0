import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { restrictedSkills } from '../../src/access/restricted-skills.ts';
import { createRuleAt, ruleName } from '../../src/access/ruling.ts';
import { sayIn } from '../../src/core/texts/say.ts';
import type { SkillRules } from '../../src/core/access-settings.ts';

test('L13 a rule is told with the file and line that it is written in, or as a default', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-ruling-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'config.toml');
  writeFileSync(file, '[bot]\nname = "a"\n\n[access]\nusers = ["telegram:1"]\n');
  const ruleAt = createRuleAt(file, sayIn('en'));
  const written = ruleAt(['access', 'users']);
  assert.deepEqual(written, { name: 'access.users', path: file, line: 5 });
  assert.equal(ruleName(written), `access.users (${file}:5)`);
  assert.deepEqual(ruleAt(['access', 'dm']), { name: 'access.dm (default)' });
  assert.equal(ruleName(ruleAt(['access', 'dm'])), 'access.dm (default)');
  assert.equal(ruleName({ name: 'access.users', path: file }), `access.users (${file})`);
  assert.equal(ruleName({ name: 'access.users', line: 5 }), 'access.users (:5)');
  assert.deepEqual(createRuleAt(undefined, sayIn('en'))(['access', 'users']), {
    name: 'access.users (default)',
  });
});

test('S16 in a group, skills with a list of people are restricted, whoever is in it; a direct message has one person', () => {
  const rules: SkillRules = {
    enabled: true,
    defaults: {},
    skills: new Map([
      ['listed', { allowUsers: ['telegram:1'] }],
      ['nobody', { allowUsers: [] }],
      ['plain', {}],
    ]),
  };
  const names = ['plain', 'listed', 'unknown', 'nobody'];
  for (const chatType of ['group', 'channel', 'unknown'] as const)
    assert.deepEqual(restrictedSkills(names, rules, chatType), ['listed', 'nobody'], chatType);
  assert.deepEqual(restrictedSkills(names, rules, 'private'), []);
});
