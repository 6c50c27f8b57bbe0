import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { makeRepository } from '../support/git-repository.ts';
import { openCliHome } from '../support/run-cli.ts';
import { put, skillText } from '../skills/make-root.ts';

const text = (name: string, more = ''): string => skillText(`name: ${name}\ndescription: d${more}`);

test('D6 skills in folders with a dot are offered: .claude, .codex, .agents, .github, .cursor, skills/.curated', async (t) => {
  const layouts = {
    'skills/.curated/hello/SKILL.md': text('hello'),
    'skills/.experimental/try/SKILL.md': text('try'),
    '.claude/skills/review/SKILL.md': text('review'),
    '.agents/skills/plan/SKILL.md': text('plan'),
    '.codex/skills/code/SKILL.md': text('code'),
    '.github/skills/issue/SKILL.md': text('issue'),
    '.cursor/skills/cursor/SKILL.md': text('cursor'),
    'plugins/.x/skills/.y/more/deep/SKILL.md': text('deep'),
    'skills/both/SKILL.md': text('both'),
    '.claude/skills/both/SKILL.md': text('both'),
    'node_modules/m/SKILL.md': text('module'),
    '.venv/lib/SKILL.md': text('venv'),
    '.cache/x/SKILL.md': text('cached'),
    'a/node_modules/.x/n/SKILL.md': text('inner-module'),
  };
  const names = ['both', 'code', 'cursor', 'deep', 'hello', 'issue', 'plan', 'review', 'try'];
  const home = await openCliHome(t);
  for (const [file, content] of Object.entries(layouts)) put(home.folder, `repo/${file}`, content);
  const repository = makeRepository(t);
  repository.commit(layouts);
  for (const source of ['./repo', repository.url, repository.folder]) {
    const fresh = await openCliHome(t);
    const from = source === './repo' ? path.join(home.folder, 'repo') : source;
    const added = await fresh.run(['skill', 'add', from, '--yes']);
    assert.equal(added.code, 0, added.stdout + added.stderr);
    assert.doesNotMatch(added.stdout, /not offered/);
    const [, said = ''] = /Installed: (.*)\. A running/.exec(added.stdout) ?? [];
    assert.deepEqual(said.split(', ').sort(), names, source);
    assert.match(added.stdout, /from +skills\/both$/m);
  }
});

test('D6 where there is no skill, the sentence says what was looked at, and names one that lies too deep', async (t) => {
  const home = await openCliHome(t);
  put(home.folder, 'none/docs/a.txt', 'x');
  const none = await home.run(['skill', 'add', './none']);
  assert.equal(none.code, 1);
  assert.match(
    none.stderr,
    /none of its 1 files is a SKILL\.md within four folders.*\.claude\/skills.*not \.git/,
  );
  put(home.folder, 'deep/a/b/c/d/e/SKILL.md', text('e'));
  assert.match((await home.run(['skill', 'add', './deep'])).stderr, /a\/b\/c\/d\/e\/SKILL\.md lies deeper/);
});

test('D6 skill add --yes leaves out a name that is installed from elsewhere and installs the others; --except leaves out more', async (t) => {
  const home = await openCliHome(t);
  put(home.folder, 'first/a/SKILL.md', text('a'));
  for (const name of ['a', 'b', 'c', 'd']) put(home.folder, `second/${name}/SKILL.md`, text(name, ' more'));
  assert.equal((await home.run(['skill', 'add', './first', '--yes'])).code, 0);
  const added = await home.run(['skill', 'add', './second', '--yes', '--except', 'c', '--except', 'd']);
  assert.equal(added.code, 0, added.stdout + added.stderr);
  assert.match(added.stdout, /left out: a is installed from .*first; .*skill remove a/);
  assert.match(added.stdout, /Installed: b\./);
  const alone = await home.run(['skill', 'add', './second', '--yes', '--name', 'a']);
  assert.equal(alone.code, 1);
  assert.match(alone.stdout, /left out: a.*\nNothing can be installed\./s);
  const wrong = await home.run(['skill', 'add', './second', '--yes', '--except', 'bb']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /no skill "bb".*Near: b/);
  const rest = await home.run(['skill', 'add', './second', '--yes']);
  assert.match(rest.stdout, /Installed: c, d\./);
});
