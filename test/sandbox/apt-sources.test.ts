import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { aptSources } from '../../src/sandbox/packages/root-recipe.ts';

test("R6 packages come from the host's own sources of its own release, in either form apt knows", (t) => {
  const root = host(t, {
    'etc/os-release': 'ID=debian\nVERSION_CODENAME=bookworm\n',
    'etc/apt/sources.list.d/debian.sources': [
      'Types: deb deb-src',
      '# a comment',
      'URIs: http://a.example/debian http://b.example/debian',
      'Suites: bookworm bookworm-updates',
      'Components: main contrib',
      'Signed-By: /usr/share/keyrings/debian.gpg',
      '',
      'Types: deb',
      'URIs: http://off.example/debian',
      'Suites: bookworm',
      'Components: main',
      'Enabled: no',
      '',
      'Types: deb',
      'URIs: http://c.example/debian-security',
      'Suites:',
      ' bookworm-security',
      'Components: main',
      'Signed-By:',
      ' -----BEGIN PGP PUBLIC KEY BLOCK-----',
      ' .',
      ' abc',
    ].join('\n'),
    'etc/apt/sources.list.d/vendor.list': 'deb https://vendor.example/apt stable main\n',
    'etc/apt/sources.list.d/vendor.sources':
      'Types: deb\nURIs: https://v.example\nSuites: nodistro\nComponents: main\n',
    'etc/apt/sources.list':
      '# old\n#deb http://no.example bookworm main\ndeb [arch=amd64]   http://d.example/debian  bookworm-backports main # note\ndeb-src http://d.example bookworm main\n',
    'etc/apt/sources.list.d/kept.save': 'deb http://e.example bookworm main\n',
  });
  assert.deepEqual(aptSources(root), {
    suite: 'bookworm',
    lines: [
      'deb [arch=amd64] http://d.example/debian bookworm-backports main',
      'deb [signed-by=/usr/share/keyrings/debian.gpg] http://a.example/debian bookworm main contrib',
      'deb [signed-by=/usr/share/keyrings/debian.gpg] http://a.example/debian bookworm-updates main contrib',
      'deb [signed-by=/usr/share/keyrings/debian.gpg] http://b.example/debian bookworm main contrib',
      'deb [signed-by=/usr/share/keyrings/debian.gpg] http://b.example/debian bookworm-updates main contrib',
      'deb http://c.example/debian-security bookworm-security main',
    ],
  });
});

test('R6 a relative of Debian or Ubuntu installs from the other, and one that follows a moving release follows it', (t) => {
  const mint = host(t, {
    'etc/os-release': 'ID=linuxmint\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n',
    'etc/apt/sources.list':
      'deb http://packages.mint.example wilma main\ndeb http://archive.example/ubuntu noble main universe\n',
  });
  assert.deepEqual(aptSources(mint), {
    suite: 'noble',
    lines: ['deb http://archive.example/ubuntu noble main universe'],
  });
  const rolling = host(t, {
    'etc/os-release': 'ID=debian\nVERSION_CODENAME="forky"\n',
    'etc/apt/sources.list':
      'deb http://deb.example/debian testing main\ndeb http://deb.example/security testing-security main\n',
  });
  assert.deepEqual([aptSources(rolling).suite, aptSources(rolling).lines.length], ['testing', 2]);
});

test('R6 a host without apt sources says what it takes', (t) => {
  assert.throws(
    () => aptSources(host(t, { 'etc/os-release': 'ID=fedora\nVERSION_CODENAME=""\n' })),
    (error) => error instanceof OperatorError && /Debian or a relative/.test(error.message),
  );
});

function host(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'skillet-host-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  return root;
}
