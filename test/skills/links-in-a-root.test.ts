import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { loadSkills } from '../../src/skills/load-skills.ts';
import { makeRoot, skillText } from './make-root.ts';

const text = (name: string): string => skillText(`name: ${name}\ndescription: d`);

async function load(root: string) {
  const { skills, diagnostics } = await loadSkills([{ origin: 'user', path: root }]);
  return {
    paths: skills.map((skill) => path.relative(root, skill.path)),
    said: diagnostics.map(({ level, code, message }) => `${level} ${code} ${message}`),
  };
}

test('D2 D5 links to skills and to folders above cost one line, and the real skill wins whatever sorts first', async (t) => {
  const root = makeRoot(t, {
    'zeta/SKILL.md': text('zeta'),
    'kind/eta/SKILL.md': text('eta'),
    'flat.md': text('flat'),
  });
  symlinkSync('zeta', path.join(root, 'alpha'));
  symlinkSync('.', path.join(root, 'all'));
  symlinkSync('..', path.join(root, 'kind/up'));
  symlinkSync('../zeta', path.join(root, 'kind/beta'));
  symlinkSync('kind', path.join(root, 'a-kind'));
  symlinkSync('flat.md', path.join(root, 'also.md'));
  mkdirSync(path.join(root, 'aaa'));
  symlinkSync('../zeta/SKILL.md', path.join(root, 'aaa/SKILL.md'));
  const { paths, said } = await load(root);
  assert.deepEqual([...paths].sort(), ['flat.md', 'kind/eta/SKILL.md', 'zeta/SKILL.md']);
  assert.equal(said.length, 1, said.join('\n'));
  assert.match(said[0] ?? '', /^note LINKS_LEFT_OUT .*alpha → zeta.*and 2 more$/);
});

test('D5 a farm of 120 links with loops is one line, and what only a link leads to is read once', async (t) => {
  const store = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`.store/s${index}/SKILL.md`, text(`s${index}`)]),
  );
  const root = makeRoot(t, store);
  for (let index = 0; index < 40; index += 1)
    for (const name of [`s${index}`, `x${index}`, `loop${index}`])
      symlinkSync(name.startsWith('loop') ? '.' : `.store/s${index}`, path.join(root, name));
  const { paths, said } = await load(root);
  assert.equal(paths.length, 40);
  assert.equal(said.length, 1, said.join('\n'));
});

test('D5 a link out of the root is not read, and says what to do instead', async (t) => {
  const away = makeRoot(t, { 'x/SKILL.md': text('x') });
  const root = makeRoot(t);
  symlinkSync(path.join(away, 'x'), path.join(root, 'x'));
  const { paths, said } = await load(root);
  assert.deepEqual(paths, []);
  assert.match(said.join('\n'), /SYMLINK_ESCAPE x leads out of its root.*skillet skill add .*\/x"/);
});
