import assert from 'node:assert/strict';
import { renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hashSkill } from '../../src/skills/install/hash-skill.ts';
import { makeRoot, put, skillText } from './make-root.ts';

test('D9 the hash of a skill changes with every byte, name and file of it, and with nothing else', (t) => {
  const root = makeRoot(t, {
    'SKILL.md': skillText('name: a'),
    'scripts/run.sh': 'echo 1\n',
    '.hidden': 'x',
  });
  const seen = new Set<string | undefined>([hashSkill(root)?.hash]);
  assert.deepEqual(
    hashSkill(root)?.files.map(({ path, size }) => [path, size]),
    [
      ['.hidden', 1],
      ['SKILL.md', 24],
      ['scripts/run.sh', 7],
    ],
  );
  const changes: readonly (() => void)[] = [
    () => put(root, 'scripts/run.sh', 'echo 2\n'),
    () => put(root, '.hidden', 'y'),
    () => put(root, 'references/new.md', ''),
    () => renameSync(join(root, 'references/new.md'), join(root, 'references/old.md')),
    () => symlinkSync('run.sh', join(root, 'scripts/link.sh')),
    () => {
      unlinkSync(join(root, 'scripts/link.sh'));
      symlinkSync('../SKILL.md', join(root, 'scripts/link.sh'));
    },
  ];
  for (const change of changes) {
    change();
    seen.add(hashSkill(root)?.hash);
  }
  assert.equal(seen.size, changes.length + 1);
  assert.ok(!seen.has(undefined));
  const copy = makeRoot(t, { 'SKILL.md': 'a', 'scripts/x': 'b' });
  assert.equal(hashSkill(copy)?.hash, hashSkill(makeRoot(t, { 'scripts/x': 'b', 'SKILL.md': 'a' }))?.hash);
  put(copy, 'SKILL.md', 'a');
  assert.equal(hashSkill(copy)?.hash, hashSkill(makeRoot(t, { 'scripts/x': 'b', 'SKILL.md': 'a' }))?.hash);
});

test('D9 a folder that is absent or too large has no hash, so it matches nothing', (t) => {
  const root = makeRoot(t);
  assert.equal(hashSkill(join(root, 'absent')), undefined);
  for (let index = 0; index < 1_001; index++) put(root, `f${index}`, '');
  assert.equal(hashSkill(root), undefined);
});
