import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { getCommandNames } from 'just-bash';
import {
  followAvailablePackages,
  type RootFileSystem,
} from '../../src/sandbox/packages/available-packages.ts';
import { installedPackages } from '../../src/sandbox/packages/debian-packages.ts';

const stanza = (name: string, more = '', state = 'install ok installed'): string =>
  `Package: ${name}\nStatus: ${state}\n${more}Description: x\n Package: not-this\n\n`;

test('P3 R6 installed is what dpkg says is whole, and what that provides', () => {
  const names = installedPackages(
    stanza('jq') +
      stanza('gone', '', 'deinstall ok config-files') +
      stanza('half', '', 'install ok half-configured') +
      stanza('postfix', 'Provides: mail-transport-agent, smtp (= 1.0)\n') +
      stanza('held', '', 'hold ok installed'),
  );
  assert.deepEqual([...names], ['jq', 'postfix', 'mail-transport-agent', 'smtp', 'held']);
});

test('P3 R6 each sandbox counts what its own commands find, and what changes counts at once', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-status-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const hostStatus = path.join(folder, 'status');
  writeFileSync(hostStatus, stanza('host-tool'));
  const built: Pick<RootFileSystem, 'path' | 'installed'>[] = [];
  const follow = (mode: 'virtual' | 'bubblewrap' | 'docker' | 'off') =>
    followAvailablePackages({ mode, root: () => built[0], hostStatus });
  const [virtual, bubblewrap, docker, off] = (['virtual', 'bubblewrap', 'docker', 'off'] as const).map(
    follow,
  );
  const seen = (name: string) => [virtual, bubblewrap, docker, off].map((each) => each?.().has(name));

  assert.deepEqual(seen('host-tool'), [false, true, false, true]);
  built.push({ path: '/x', installed: new Set(['root-tool']) });
  assert.deepEqual(seen('host-tool'), [false, false, false, true]);
  assert.deepEqual(seen('root-tool'), [false, true, true, false]);

  writeFileSync(hostStatus, stanza('other-tool'));
  utimesSync(hostStatus, 1, 1);
  assert.deepEqual([off?.().has('host-tool'), off?.().has('other-tool')], [false, true]);
  rmSync(hostStatus);
  assert.equal(off?.().has('other-tool'), false);
});

test('P3 R6 each sandbox knows which programs its commands can start', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'skillet-root-'));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(path.join(root, 'usr/bin'), { recursive: true });
  writeFileSync(path.join(root, 'usr/bin/gh'), '', { mode: 0o755 });
  writeFileSync(path.join(root, 'usr/bin/notes'), '', { mode: 0o644 });
  writeFileSync(path.join(root, 'usr/bin/python3'), '', { mode: 0o755 });
  const built = { path: root, installed: new Set<string>() };
  const inRoot = followAvailablePackages({ mode: 'bubblewrap', root: () => built })();
  assert.deepEqual(
    ['gh', 'notes', 'sh', 'node', 'python'].map((name) => inRoot.runs(name)),
    [true, false, false, true, true],
  );
  const onHost = followAvailablePackages({ mode: 'off', root: () => built })();
  assert.deepEqual([onHost.runs('sh'), onHost.runs('no-such-program')], [true, false]);
  const virtual = followAvailablePackages({ mode: 'virtual', root: () => built })();
  const names = ['gh', 'curl', 'python3', 'node', 'git', ...getCommandNames()];
  const told = names.filter((name) => virtual.runs(name));
  assert.ok(told.includes('jq') && told.every((name) => getCommandNames().includes(name)));
});
