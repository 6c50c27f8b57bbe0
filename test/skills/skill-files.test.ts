import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSkillFile, listSkillFiles } from '../../src/skills/skill-files.ts';
import { makeRoot, put, skillText } from './make-root.ts';

test('R3 the index lists every file but SKILL.md, dot entries and links, and tells the scripts', (t) => {
  const directory = makeRoot(t, {
    'SKILL.md': skillText('name: a'),
    'scripts/run.sh': '',
    'scripts/data': '',
    'references/x.md': '',
    'assets/logo.png': '',
    'helper.py': '',
    'docs/deep/y.md': '',
    '.env': 'SECRET',
    'docs/.hidden/z': '',
    'bad\nname.md': '',
  });
  symlinkSync('/etc/passwd', join(directory, 'link.md'));
  symlinkSync('/etc', join(directory, 'etc'));
  assert.deepEqual(listSkillFiles({ directory }), {
    files: [
      'assets/logo.png',
      'docs/deep/y.md',
      'helper.py',
      'references/x.md',
      'scripts/data',
      'scripts/run.sh',
    ],
    scripts: ['helper.py', 'scripts/data', 'scripts/run.sh'],
    cut: false,
  });
  assert.deepEqual(listSkillFiles({}), { files: [], scripts: [], cut: false });
});

test('R3 at most 100 files and 6 folders deep, scripts first, and a cut is told', (t) => {
  const directory = makeRoot(t, { 'scripts/run.sh': '', 'a/b/c/d/e/f.md': '' });
  assert.deepEqual(listSkillFiles({ directory }), {
    files: ['a/b/c/d/e/f.md', 'scripts/run.sh'],
    scripts: ['scripts/run.sh'],
    cut: false,
  });
  put(directory, 'a/b/c/d/e/f/g.md', '');
  assert.equal(listSkillFiles({ directory }).cut, true);
  const full = makeRoot(t, { 'scripts/run.sh': '' });
  for (let index = 0; index < 99; index += 1) put(full, `a${index}.md`, '');
  assert.deepEqual(
    [listSkillFiles({ directory: full }).files.length, listSkillFiles({ directory: full }).cut],
    [100, false],
  );
  put(full, 'a99.md', '');
  const cut = listSkillFiles({ directory: full });
  assert.deepEqual([cut.files.length, cut.scripts, cut.cut], [100, ['scripts/run.sh'], true]);
});

test('R4 a malformed path is INVALID_PATH, before the disk is touched', (t) => {
  const directory = makeRoot(t, { 'a.md': 'x' });
  for (const path of [
    '',
    '/etc/passwd',
    '../a.md',
    'x/../a.md',
    'C:/x',
    'c:x',
    '\\x',
    'x\\..\\a.md',
    'a.md\0',
    'x/',
    '..',
    `${'x'.repeat(1025)}`,
  ]) {
    for (const folder of [directory, '/nowhere/at/all']) {
      const result = readSkillFile({ directory: folder }, path);
      assert.equal(!result.ok && result.code, 'INVALID_PATH', JSON.stringify(path));
    }
  }
});

test('R4 outside, through a link, a folder, a pipe or absent: the same answer', (t) => {
  const outside = makeRoot(t, { 'secret.md': 'secret', 'sub/secret.md': 'secret' });
  const directory = makeRoot(t, { 'inside/a.md': 'fine' });
  symlinkSync(join(outside, 'secret.md'), join(directory, 'final.md'));
  symlinkSync(join(directory, 'inside/a.md'), join(directory, 'own.md'));
  symlinkSync(join(outside, 'sub'), join(directory, 'sub'));
  symlinkSync(join(directory, 'inside'), join(directory, 'alias'));
  mkdirSync(join(directory, 'folder.md'));
  execFileSync('mkfifo', [join(directory, 'pipe.md')]);
  for (const path of [
    'final.md',
    'own.md',
    'sub/secret.md',
    'folder.md',
    'pipe.md',
    'absent.md',
    'inside/a.md/x',
  ]) {
    const result = readSkillFile({ directory }, path);
    const expected = {
      ok: false,
      code: 'FILE_NOT_FOUND',
      message: `the skill has no file ${JSON.stringify(path)}`,
    };
    assert.deepEqual(result, expected, path);
  }
  assert.deepEqual(readSkillFile({ directory }, 'alias/a.md'), { ok: true, text: 'fine', size: 4 });
  assert.deepEqual(readSkillFile({ directory }, './inside/a.md'), { ok: true, text: 'fine', size: 4 });
  assert.equal(readSkillFile({}, 'a.md').ok, false);
});

test('R4 over 200,000 bytes is FILE_TOO_LARGE, no text is BINARY_FILE with type and size', (t) => {
  const directory = makeRoot(t, {
    'full.txt': 'x'.repeat(200_000),
    'over.txt': 'x'.repeat(200_001),
    'logo.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]),
    'data.bin': Buffer.from([1, 0, 2]),
    'latin1.txt': Buffer.from([0x66, 0xfc, 0x72]),
  });
  const read = (path: string): string => {
    const result = readSkillFile({ directory }, path);
    return result.ok ? `ok ${result.size}` : `${result.code} ${result.message}`;
  };
  assert.equal(read('full.txt'), 'ok 200000');
  assert.equal(read('over.txt'), 'FILE_TOO_LARGE 200001 bytes; at most 200000 can be read');
  assert.equal(read('logo.png'), 'BINARY_FILE logo.png is no text: PNG image, 6 bytes');
  assert.equal(read('data.bin'), 'BINARY_FILE data.bin is no text: binary data (.bin), 3 bytes');
  assert.equal(read('latin1.txt'), 'BINARY_FILE latin1.txt is no text: binary data (.txt), 3 bytes');
});
