import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { printable } from '../../src/lib/text/text.ts';
import type { Offers } from '../../src/skills/install/install-offers.ts';
import { makeRepository, type Repository } from '../support/git-repository.ts';
import { offerSkills, openForTest } from '../support/offer-skills.ts';
import { makeRoot, put, skillText } from './make-root.ts';

const text = (name: string): string => skillText(`name: ${name}\ndescription: What ${name} does.`);

function problemsOf({ refused }: Offers, name: string): string {
  return refused.find((each) => each.name === name)?.problems.join(' | ') ?? 'not refused';
}

/** A repository whose skills each hold one thing that git itself would not put there. */
function hostile(
  repository: Repository,
  bad: Readonly<Record<string, readonly Readonly<{ mode: string; name: string | Uint8Array; id: string }>[]>>,
): void {
  const entries = Object.entries(bad).map(([name, more]) => ({
    mode: '40000',
    name,
    id: repository.tree([{ mode: '100644', name: 'SKILL.md', id: repository.blob(text(name)) }, ...more]),
  }));
  repository.commitTree(repository.tree(entries));
}

test('D6 S1 a skill with names that lead elsewhere, pass for git or hide is refused, others are not', async (t) => {
  const repository = makeRepository(t);
  const id = repository.blob('evil');
  const file = (name: string | Uint8Array) => [{ mode: '100644', name, id }];
  const inner = (name: string) => [{ mode: '40000', name, id: repository.tree(file('x')) }];
  hostile(repository, {
    absolute: file('/etc/cron.d/x'),
    backslash: file('..\\x'),
    both: [{ mode: '100644', name: 'a', id }, ...inner('a')],
    bytes: file(Buffer.from([0x61, 0xff, 0xfe])),
    dotdot: file('../x'),
    folder: inner('..'),
    forged: file('x\n  tools        none'),
    git: inner('.git'),
    'git-case': inner('.GiT'),
    'git-dots': inner('.git. .'),
    'git-hidden': inner('.g\u200cit'),
    'git-short': inner('GIT~1'),
    'git-stream': inner('.git::$INDEX_ALLOCATION'),
    good: file('notes.txt'),
    twice: [...file('a.txt'), ...file('A.txt')],
  });
  const offers = await offerSkills(t, repository.url);
  assert.deepEqual(
    offers.offers.map(({ name }) => name),
    ['good'],
  );
  for (const name of ['absolute', 'dotdot', 'folder'])
    assert.match(problemsOf(offers, name), /absolute|leads elsewhere/);
  for (const name of ['git', 'git-case', 'git-dots', 'git-short', 'git-stream'])
    assert.match(problemsOf(offers, name), /"\.git"/, name);
  for (const name of ['backslash', 'forged', 'git-hidden'])
    assert.match(problemsOf(offers, name), /steer a terminal/);
  assert.match(problemsOf(offers, 'bytes'), /not UTF-8/);
  assert.match(problemsOf(offers, 'twice'), /one name on some systems/);
  assert.match(problemsOf(offers, 'both'), /a file and a folder|absolute|leads elsewhere/);
  // Nothing that is shown can begin a line of its own.
  for (const { problems } of offers.refused)
    for (const each of problems) assert.doesNotMatch(printable(each), /\n/);
});

test('D6 S1 links and submodules are left out with a word, a SKILL.md that is a link is no skill', async (t) => {
  const repository = makeRepository(t);
  const commit = repository.commit({ 'x/SKILL.md': text('x') });
  const skill = repository.tree([
    { mode: '100644', name: 'SKILL.md', id: repository.blob(text('a')) },
    { mode: '120000', name: 'passwd', id: repository.blob('/etc/passwd') },
    { mode: '160000', name: 'sub', id: commit },
  ]);
  const linked = repository.tree([{ mode: '120000', name: 'SKILL.md', id: repository.blob('/etc/passwd') }]);
  repository.commitTree(
    repository.tree([
      {
        mode: '100644',
        name: '.gitmodules',
        id: repository.blob('[submodule "sub"]\n path = a/sub\n url = file:///x\n'),
      },
      { mode: '40000', name: 'a', id: skill },
      { mode: '40000', name: 'b', id: linked },
    ]),
  );
  const { offers, refused } = await offerSkills(t, repository.url);
  assert.deepEqual(
    offers.map(({ name, files }) => [name, files.map(({ path: file }) => file)]),
    [['a', ['SKILL.md']]],
  );
  assert.deepEqual(refused, []);
  assert.deepEqual(
    offers[0]?.diagnostics.map(({ code }) => code),
    ['LINK_LEFT_OUT', 'SUBMODULE_LEFT_OUT'],
  );
});

test('D6 S1 hooks, filters, attributes and configuration of a repository or a user start nothing', async (t) => {
  const repository = makeRepository(t);
  const marks = makeRoot(t);
  const touch = (name: string): string => `touch ${path.join(marks, name)}`;
  repository.commit({
    '.gitattributes': '* filter=evil text eol=crlf diff=evil export-subst ident working-tree-encoding=UTF-16',
    '.lfsconfig': `[lfs]\n\turl = file://${marks}\n`,
    'a/SKILL.md': `${text('a')}$Id$\n$Format:%H$\n`,
    'a/big.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 1\n',
  });
  for (const hook of [
    'pre-receive',
    'post-checkout',
    'post-update',
    'reference-transaction',
    'fsmonitor-watchman',
  ]) {
    writeFileSync(path.join(repository.folder, 'hooks', hook), `#!/bin/sh\n${touch(hook)}\n`, {
      mode: 0o755,
    });
  }
  const home = makeRoot(t, {
    '.gitconfig': `[core]\n fsmonitor = ${touch('fsmonitor')}\n hooksPath = ${repository.folder}/hooks\n sshCommand = ${touch('ssh')}\n[filter "evil"]\n smudge = ${touch('smudge')}\n clean = ${touch('clean')}\n required = true\n[credential]\n helper = "!${touch('credential')}"\n[uploadpack]\n packObjectsHook = ${touch('pack')}\n[url "ext::sh -c touch% ${marks}/ext "]\n insteadOf = file\n`,
  });
  repository.git(['config', 'uploadpack.packObjectsHook', touch('pack-local')]);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    GIT_SSH_COMMAND: touch('env-ssh'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: `${repository.folder}/hooks`,
    GIT_EXTERNAL_DIFF: touch('diff'),
    GIT_TRACE: path.join(marks, 'trace'),
  };
  const { offers } = await offerSkills(t, repository.url, { env });
  assert.equal(offers[0]?.files[0]?.bytes.toString(), `${text('a')}$Id$\n$Format:%H$\n`);
  assert.match(offers[0]?.files[1]?.bytes.toString() ?? '', /^version https:\/\/git-lfs/);
  assert.deepEqual(readdirSync(marks), []);
});

test('D6 a file, a skill or a source that is too large, and too many files, are refused', async (t) => {
  const repository = makeRepository(t);
  repository.commit({
    'big/SKILL.md': text('big'),
    'big/data.bin': 'x'.repeat(5_000),
    'many/SKILL.md': text('many'),
    ...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`many/${index}.txt`, 'x'])),
    'small/SKILL.md': text('small'),
  });
  const offers = await offerSkills(t, repository.url, { limits: { fileBytes: 4_000, skillFiles: 20 } });
  assert.deepEqual(
    offers.offers.map(({ name }) => name),
    ['small'],
  );
  assert.match(problemsOf(offers, 'big'), /"big\/data\.bin" has 4\.9 KB; at most 3\.9 KB/);
  assert.match(problemsOf(offers, 'many'), /31 files; at most 20/);
  const all = await offerSkills(t, repository.url, { limits: { skillBytes: 4_000 } });
  assert.match(problemsOf(all, 'big'), /4\.9 KB|5\.0 KB/);
  await assert.rejects(offerSkills(t, repository.url, { limits: { entries: 20 } }), /more than 20 files/);
  await assert.rejects(
    offerSkills(t, repository.url, { limits: { totalBytes: 4_000 } }),
    /at most 3\.9 KB.*--name/,
  );
});

test('D6 S1 a small pack that unfolds to a huge file or to endless folders ends at the limits', async (t) => {
  const repository = makeRepository(t);
  const huge = repository.blob(Buffer.alloc(30_000_000));
  let level = repository.tree([{ mode: '100644', name: 'x', id: repository.blob('x') }]);
  for (let depth = 0; depth < 6; depth += 1) {
    level = repository.tree(
      Array.from({ length: 30 }, (_, index) => ({ mode: '40000', name: `d${index + 10}`, id: level })),
    );
  }
  const skill = { mode: '100644', name: 'SKILL.md', id: repository.blob(text('a')) };
  repository.commitTree(
    repository.tree([
      { mode: '40000', name: 'a', id: repository.tree([skill, { mode: '100644', name: 'huge', id: huge }]) },
    ]),
  );
  assert.match(problemsOf(await offerSkills(t, repository.url), 'a'), /"a\/huge" has 28\.6 MB; at most 5 MB/);
  repository.commitTree(
    repository.tree([
      { mode: '40000', name: 'a', id: repository.tree([skill, { mode: '40000', name: 'b', id: level }]) },
    ]),
  );
  await assert.rejects(
    offerSkills(t, repository.url, { limits: { entries: 1_000 } }),
    /more than 1000 files/,
  );
});

test('D6 a plain folder is copied without links, pipes, .git and node_modules', async (t) => {
  const outside = makeRoot(t, { 'secret.txt': 'secret' });
  const root = makeRoot(t, {
    'a/SKILL.md': text('a'),
    'a/scripts/x.sh': 'echo x',
    'a/.git/config': 'x',
    'note.md': '# x',
  });
  put(root, 'a/node_modules/m/index.js', 'x');
  put(root, 'flat.md', text('flat'));
  symlinkSync(path.join(outside, 'secret.txt'), path.join(root, 'a/link.txt'));
  symlinkSync(outside, path.join(root, 'b'));
  mkdirSync(path.join(root, 'c'));
  symlinkSync(path.join(outside, 'secret.txt'), path.join(root, 'c/SKILL.md'));
  const { offers, refused } = await offerSkills(t, root);
  assert.deepEqual(
    offers.map(({ name, files }) => [name, files.map(({ path: file }) => file)]),
    [
      ['a', ['SKILL.md', 'scripts/x.sh']],
      ['flat', ['SKILL.md']],
    ],
  );
  assert.deepEqual(refused, []);
  await assert.rejects(offerSkills(t, path.join(root, 'absent')), /is no folder/);
});

test('D6 what was fetched is gone when the source is closed, or could not be opened', async (t: TestContext) => {
  const repository = makeRepository(t);
  repository.commit({ 'a/SKILL.md': text('a') });
  const snapshot = await openForTest(t, repository.url);
  assert.ok(existsSync(snapshot.quarantine));
  snapshot.close();
  assert.ok(!existsSync(snapshot.quarantine));
  await assert.rejects(
    openForTest(t, repository.url, { ref: 'absent' }),
    /Is there a branch, tag or commit absent\?/,
  );
});
