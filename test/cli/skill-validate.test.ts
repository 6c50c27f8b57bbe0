import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';
import { put, skillText } from '../skills/make-root.ts';

test('F5 skill validate says a sentence about whatever lies there, and never hangs or shows a stack', async (t) => {
  const home = await openCliHome(t);
  const at = (name: string): string => path.join(home.folder, 't', name);
  const folder = (name: string): string => {
    mkdirSync(at(name), { recursive: true });
    return at(`${name}/SKILL.md`);
  };
  execFileSync('mkfifo', [folder('fifo')]);
  execFileSync('mkfifo', [at('pipe.md')]);
  mkdirSync(folder('folder'));
  symlinkSync('SKILL.md', folder('loop'));
  symlinkSync('nothing.md', folder('broken-link'));
  symlinkSync('/dev/zero', folder('device'));
  symlinkSync(at('fifo/SKILL.md'), folder('linked-fifo'));
  symlinkSync('me', at('me'));
  writeFileSync(folder('empty'), '');
  writeFileSync(folder('binary'), Buffer.from([0xff, 0xfe, 0, 1]));
  writeFileSync(folder('huge'), skillText('name: huge\ndescription: d'));
  // Sparse: larger than any string.
  truncateSync(at('huge/SKILL.md'), 8 * 1024 ** 3);
  const socket = createServer().listen(folder('socket'));
  await once(socket, 'listening');
  t.after(() => socket.close());

  const cases: readonly (readonly [name: string, said: RegExp])[] = [
    ['fifo', /UNREADABLE: is no file/],
    ['fifo/SKILL.md', /UNREADABLE: is no file/],
    ['pipe.md', /UNREADABLE: is no file/],
    ['folder', /UNREADABLE: is no file/],
    ['folder/SKILL.md', /no SKILL\.md in this folder/],
    ['loop', /UNREADABLE: cannot be read: ELOOP/],
    ['me', /UNREADABLE: cannot be read: ELOOP/],
    ['broken-link', /UNREADABLE: cannot be read: ENOENT/],
    ['device', /UNREADABLE: is no file/],
    ['linked-fifo', /UNREADABLE: is no file/],
    ['socket', /UNREADABLE: cannot be read: ENXIO/],
    ['empty', /FRONT_MATTER|BODY_EMPTY/],
    ['binary', /NOT_UTF8/],
    ['x'.repeat(300), /UNREADABLE: cannot be read: ENAMETOOLONG/],
    ['nowhere', /there is no such file or folder/],
  ];
  for (const strict of [[], ['--strict']])
    for (const [name, said] of cases) {
      const ran = await home.run(['skill', 'validate', at(name), ...strict]);
      assert.equal(ran.code, 1, `${name}: ${ran.stdout}${ran.stderr}`);
      assert.match(ran.stdout, strict.length === 0 ? said : /^invalid/, name);
      assert.doesNotMatch(ran.stdout + ran.stderr, /\n +at /, name);
    }
  const huge = await home.run(['skill', 'validate', at('huge')]);
  assert.match(huge.stdout, /CONTENT_TRUNCATED/);
  const tree = await home.run(['skill', 'validate', path.join(home.folder, 't')]);
  assert.equal(tree.code, 1);
  assert.equal(tree.stderr, '');
  assert.match(tree.stdout, /invalid {2}.*fifo\/SKILL\.md/);
});

test('F5 the loader reads the same odd entries without a word less', async (t) => {
  const home = await openCliHome(t);
  const root = path.join(home.folder, 'workspace/skills');
  mkdirSync(path.join(root, 'folder/SKILL.md'), { recursive: true });
  mkdirSync(path.join(root, 'fifo'));
  execFileSync('mkfifo', [path.join(root, 'fifo/SKILL.md')]);
  put(root, 'fine/SKILL.md', skillText('name: fine\ndescription: d'));
  const ran = await home.run(['skill', 'list']);
  assert.match(ran.stdout, /^fine /m);
  assert.match(ran.stdout, /UNREADABLE .*folder\/SKILL\.md: is a folder/);
  assert.match(ran.stdout, /UNREADABLE .*fifo\/SKILL\.md: is no file/);
});

test('F5 a file without a name is valid, and validate, skill list and the log say what the specification wants', async (t) => {
  const home = await openCliHome(t);
  const root = path.join(home.folder, 'workspace/skills');
  put(root, 'notes/SKILL.md', skillText('description: Keeps notes.'));
  const said = /note NAME_MISSING.*"notes".*valid here; the Agent Skills specification wants name/;
  const validated = await home.run(['skill', 'validate', path.join(root, 'notes')]);
  assert.equal(validated.code, 0, validated.stdout);
  assert.match(validated.stdout, /^valid {4}.*notes\/SKILL\.md\n/);
  assert.match(validated.stdout, said);
  const listed = await home.run(['skill', 'list']);
  assert.equal(listed.code, 0, listed.stdout);
  assert.match(listed.stdout, said);
  await home.write('config.toml', '[skills]\nstrict = true\n');
  assert.match((await home.run(['skill', 'list'])).stdout, /^notes /m);
  const strict = await home.run(['skill', 'validate', '--strict', path.join(root, 'notes')]);
  assert.equal(strict.code, 1);
  assert.match(strict.stdout, /error NAME_MISSING/);
});
