import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileSkillStore, type SkillStore } from '../../src/skills/skill-store.ts';
import { loadSkills } from '../../src/skills/load-skills.ts';
import { malformedPath } from '../../src/skills/skill-files.ts';
import { makeRoot, put, skillText } from './make-root.ts';
import { testSkillStore } from './skill-store-contract.ts';

testSkillStore('folder', (t, files) => fileSkillStore(makeRoot(t, files)));
testSkillStore('store in memory', (_t, files) => memoryStore(files));

/** A store that is no folder: what the loader must also work on. */
function memoryStore(files: Readonly<Record<string, string>>): SkillStore {
  const skills = Object.keys(files)
    .filter((path) => path.endsWith('/SKILL.md') || !path.includes('/'))
    .sort()
    .map((path) => ({
      path: `memory:/${path}`,
      ...(path.includes('/') ? { directory: `memory:/${path.slice(0, path.lastIndexOf('/'))}` } : {}),
      stamp: '1',
      diagnostics: [],
    }));
  const read = (path: string): Buffer | undefined => {
    const text = files[path.replace('memory:/', '')];
    return text === undefined ? undefined : Buffer.from(text);
  };
  return {
    list: async () => ({ skills, diagnostics: [] }),
    async load({ path }, limit) {
      const bytes = read(path);
      if (bytes === undefined)
        return { ok: false, diagnostic: { level: 'error', code: 'UNREADABLE', message: 'gone', path } };
      return { ok: true, bytes: bytes.subarray(0, limit), cut: bytes.length > limit, stamp: '1' };
    },
    async readFile({ directory }, path) {
      const bytes = read(`${directory}/${path}`);
      if (malformedPath(path) !== undefined) return { ok: false, code: 'INVALID_PATH', message: path };
      if (bytes === undefined) return { ok: false, code: 'FILE_NOT_FOUND', message: path };
      return { ok: true, text: bytes.toString(), size: bytes.length };
    },
    folders: () => [],
  };
}

const text = (name: string): string => skillText(`name: ${name}\ndescription: d`);

async function found(root: string): Promise<{ paths: readonly string[]; codes: readonly string[] }> {
  const { skills, diagnostics } = await fileSkillStore(root).list();
  return {
    paths: skills.map(({ path }) => path.slice(root.length + 1)),
    codes: [...diagnostics, ...skills.flatMap((skill) => skill.diagnostics)].map(({ code }) => code),
  };
}

test('D8 the loader works on a store that is not a directory', async () => {
  const store = memoryStore({ 'a/SKILL.md': text('a'), 'b.md': text('b') });
  const { names } = await loadSkills([{ origin: 'integration', store }]);
  assert.deepEqual(names, ['a', 'b']);
});

test('F1 a skill is a folder with SKILL.md or a flat file, and other spellings load with a warning', async (t) => {
  const root = makeRoot(t, {
    'a/SKILL.md': text('a'),
    'b.md': text('b'),
    'c/skill.md': text('c'),
    'd/Skill.md': text('d'),
    'e/sKiLl.md': text('e'),
    'README.md': '# x',
  });
  assert.deepEqual(await found(root), {
    paths: ['a/SKILL.md', 'b.md', 'c/skill.md', 'd/Skill.md'],
    codes: ['FILE_NAME', 'FILE_NAME'],
  });
  const { names, diagnostics } = await loadSkills([{ origin: 'user', path: root }]);
  assert.deepEqual(names, ['a', 'b', 'c', 'd']);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['FILE_NAME', 'FILE_NAME'],
  );
});

test('D4 roots are scanned to depth 4 and never inside a skill, a dot entry or node_modules', async (t) => {
  const root = makeRoot(t, {
    'web/tools/fetch/SKILL.md': text('fetch'),
    'web/tools/fetch/examples/inner/SKILL.md': text('inner'),
    'a/b/c/d/SKILL.md': text('d'),
    'a/b/c/d2/e/SKILL.md': text('e'),
    '.git/x/SKILL.md': text('x'),
    'node_modules/y/SKILL.md': text('y'),
    'web/flat.md': text('flat'),
  });
  assert.deepEqual((await found(root)).paths, ['a/b/c/d/SKILL.md', 'web/tools/fetch/SKILL.md']);
  assert.deepEqual(await found(join(root, 'absent')), { paths: [], codes: [] });
});

test('D4 a SKILL.md in the root itself hides nothing and is named', async (t) => {
  const root = makeRoot(t, { 'SKILL.md': text('x'), 'a/SKILL.md': text('a') });
  assert.deepEqual(await found(root), { paths: ['a/SKILL.md'], codes: ['SKILL_IN_ROOT'] });
});

test('D4 at most 10,000 entries of a root are looked at, then there is a diagnostic', async (t) => {
  const root = makeRoot(t, { 'zz/SKILL.md': text('zz') });
  for (let index = 0; index < 10_001; index += 1) put(root, `n${index}.txt`, '');
  assert.deepEqual(await found(root), { paths: [], codes: ['ROOT_TOO_LARGE'] });
});

test('D5 a folder or SKILL.md that leads out of its root is refused, a root may be a link', async (t) => {
  const outside = makeRoot(t, { 'evil/SKILL.md': text('evil'), 'secret.md': text('secret') });
  const root = makeRoot(t, { 'real/SKILL.md': text('real') });
  symlinkSync(join(outside, 'evil'), join(root, 'evil'));
  put(root, 'half/note.txt', 'x');
  symlinkSync(join(outside, 'secret.md'), join(root, 'half/SKILL.md'));
  symlinkSync(join(outside, 'secret.md'), join(root, 'flat.md'));
  symlinkSync(join(root, 'real'), join(root, 'twin'));
  const { paths, codes } = await found(root);
  assert.deepEqual(paths, ['real/SKILL.md']);
  assert.deepEqual([...codes].sort(), ['LINKS_LEFT_OUT', ...Array<string>(3).fill('SYMLINK_ESCAPE')]);
  const link = join(outside, 'link');
  symlinkSync(root, link);
  assert.deepEqual((await loadSkills([{ origin: 'user', path: link }])).names, ['real']);
});

test('D5 a file that became a link out of its root after it was found is not read', async (t) => {
  const outside = makeRoot(t, { 'secret.md': text('secret') });
  const root = makeRoot(t, { 'a/SKILL.md': text('a') });
  const store = fileSkillStore(root);
  const [skill] = (await store.list()).skills;
  assert.ok(skill);
  symlinkSync(join(outside, 'secret.md'), join(root, 'link.md'));
  const loaded = await store.load({ ...skill, path: join(root, 'link.md') }, 1000);
  assert.equal(!loaded.ok && loaded.diagnostic.code, 'SYMLINK_ESCAPE');
});

test('S1 a pipe called SKILL.md holds nothing up', async (t: TestContext) => {
  const root = makeRoot(t, { 'a/note.txt': 'x', 'b/SKILL.md': text('b') });
  execFileSync('mkfifo', [join(root, 'a/SKILL.md')]);
  const { names, diagnostics } = await loadSkills([{ origin: 'user', path: root }]);
  assert.deepEqual([names, diagnostics.map(({ code }) => code)], [['b'], ['UNREADABLE']]);
});
