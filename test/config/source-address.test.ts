import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText, readAddress, refProblem } from '../../src/config/source-address.ts';

const here = { cwd: '/work', home: '/home/op' };

function textOf(written: string): string {
  const read = readAddress(written, here);
  return read.ok ? addressText(read.address) : 'refused';
}

test('D6 a source is owner/name, a git URL over https or ssh, or a folder', () => {
  assert.equal(textOf('owner/name'), 'https://github.com/owner/name');
  assert.equal(textOf('https://Git.Example.com/a/b.git/'), 'https://git.example.com/a/b.git');
  assert.equal(textOf('git@github.com:owner/name.git'), 'git@github.com:owner/name.git');
  assert.equal(textOf('ssh://git@example.com:2222/a/b'), 'ssh://git@example.com:2222/a/b');
  assert.equal(textOf('~/skills'), '/home/op/skills');
  assert.equal(textOf('./a/../b'), '/work/b');
  assert.equal(textOf('/srv/skills'), '/srv/skills');
  assert.equal(textOf('file:///srv/skills.git'), 'file:///srv/skills.git');
  assert.equal(textOf('http://127.0.0.1:8080/x'), 'http://127.0.0.1:8080/x');
  assert.equal(textOf('http://localhost/x'), 'http://localhost/x');
});

test('D6 S1 what could start a program, reach elsewhere or hide is no source', () => {
  for (const written of [
    '-oProxyCommand=touch x',
    '--upload-pack=touch x',
    'ext::sh -c touch% x',
    'fd::17',
    'https::https://example.com/x',
    'git://example.com/x',
    'ftp://example.com/x',
    'http://example.com/x',
    'http://127.0.0.1.example.com/x',
    'http://169.254.169.254/x',
    'file://host/x',
    'ssh://-oProxyCommand=x/y',
    'ssh://git@example.com/-x',
    'git@-oProxyCommand=x:y',
    'git@example.com:-x',
    'https://example.com/x?token=1',
    'https://example.com/a\nb',
    '/srv/\u202eskills',
    'a/b/c',
    'name',
    'owner/-name',
    '',
  ]) {
    assert.equal(textOf(written), 'refused', written);
  }
});

test('D6 G5 a password in a URL is refused and not repeated', () => {
  for (const written of [
    'https://me:hunter22hunter@example.com/x',
    'ssh://me:hunter22hunter@example.com/x',
  ]) {
    const read = readAddress(written, here);
    assert.ok(!read.ok && /no user or password/.test(read.problem) && !read.problem.includes('hunter'));
  }
  assert.equal(textOf('https://ghp_token@example.com/x'), 'refused');
});

test('D6 a ref is a branch, a tag or a commit, never an option or a refspec', () => {
  for (const ref of ['main', 'v1.2.0', 'feature/x+y', 'a'.repeat(40)])
    assert.equal(refProblem(ref), undefined, ref);
  for (const ref of [
    '-x',
    '--upload-pack=x',
    'a:b',
    '+a',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'x.lock',
    'a\n',
    '@{u}',
    '',
  ])
    assert.notEqual(refProblem(ref), undefined, ref);
});
