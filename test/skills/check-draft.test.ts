import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDraft, draftLimits, type SkillDraft } from '../../src/skills/prepare-draft.ts';

const content = '---\nname: greet\ndescription: Greets people.\n---\n\nGreet.\n';
const draft: SkillDraft = { name: 'greet', content, files: [] };
const problems = (change: Partial<SkillDraft>): readonly string[] =>
  checkDraft({ ...draft, ...change }).problems;
const ofPath = (path: string): readonly string[] => problems({ files: [{ path, content: 'x' }] });

test('D9 a good skill has no problem, and what the specification only frowns at is a warning', () => {
  const files = ['scripts/run.sh', 'references/größe (2).md', 'a/b/c/d/e/f.txt'].map((path) => ({
    path,
    content: 'x',
  }));
  assert.deepEqual(checkDraft({ ...draft, files }).problems, []);
  const odd = checkDraft({ ...draft, content: content.replace('---\n\n', 'mystery: 1\n---\n\n') });
  assert.deepEqual([odd.problems, odd.warnings.length], [[], 1]);
  assert.match(odd.warnings[0] ?? '', /SKILL\.md line 4: "mystery"/);
});

test('D9 everything that is wrong is said at once', () => {
  const found = problems({
    name: 'Greet Me',
    content: '---\nname: other\nsensitive: maybe\n---\n\n',
    files: [
      { path: '../up.sh', content: 'x' },
      { path: 'a', content: '\0' },
      { path: 'a/b', content: 'x' },
    ],
  });
  for (const part of ['name: "Greet Me"', 'sensitive', '"../up.sh"', 'NUL', '"a": is a file and the folder'])
    assert.ok(
      found.some((problem) => problem.includes(part)),
      `${part} in ${JSON.stringify(found)}`,
    );
});

test('D9 no path leads out, hides, repeats or takes the place of the SKILL.md', () => {
  const bad = [
    '',
    '/etc/passwd',
    '..',
    'a/../b',
    'a//b',
    './a',
    '.hidden',
    'a/.git/config',
    'a\\b',
    'C:x',
    'a\0b',
  ];
  const worse = [
    'node_modules/x.js',
    'SKILL.md',
    'sub/skill.md',
    'a/',
    'a\nb',
    'a\u202eb',
    'a;b',
    'a/b/c/d/e/f/g',
  ];
  for (const path of [...bad, ...worse]) assert.ok(ofPath(path).length > 0, JSON.stringify(path));
  const twice = ['Run.sh', 'run.sh'].map((path) => ({ path, content: '' }));
  assert.match(problems({ files: twice }).join(), /named twice/);
});

test('D9 names are plain, not reserved, and equal to the one in the file', () => {
  for (const name of ['', 'Greet', 'a--b', '../x', 'a/b', 'defaults', 'sources', '.x', 'ﬁne', 'x'.repeat(65)])
    assert.ok(problems({ name, content: content.replace('greet', name) }).length > 0, name);
  assert.match(problems({ name: 'other' }).join(), /must be the folder's name/);
});

test('D9 sizes and counts are capped', () => {
  const file = (size: number, path = 'a.md') => ({ path, content: 'x'.repeat(size) });
  assert.deepEqual(problems({ files: [file(draftLimits.file)] }), []);
  assert.match(problems({ files: [file(draftLimits.file + 1)] }).join(), /at most 30000/);
  assert.match(problems({ content: content + 'x'.repeat(draftLimits.content) }).join(), /references/);
  const many = Array.from({ length: 21 }, (_, index) => file(1, `f${index}`));
  assert.match(problems({ files: many }).join(), /files: 21; at most 20/);
  const large = ['a', 'b', 'c'].map((path) => file(draftLimits.file - 1, path));
  assert.match(problems({ files: large }).join(), /bytes in all/);
});
