import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { bubblewrapArguments, systemMounts } from '../../src/sandbox/bubblewrap/bubblewrap-arguments.ts';
import { sandboxEnvironment } from '../../src/sandbox/inside-sandbox.ts';
import { sandboxLimits } from '../support/sandbox-limits.ts';

function optionsOf(session?: 'kept'): readonly string[] {
  const { options } = bubblewrapArguments(
    { argv: ['true'], skillDirectory: '/home/skills/dice', scratch: '/home/scratch' },
    sandboxLimits,
    { system: [], more: [], before: [], ...(session === undefined ? {} : { session }) },
  );
  return options;
}

test('T9 bubblewrap closes a command off in every way it knows, also where another one would do', () => {
  const options = optionsOf();
  for (const alone of ['user', 'pid', 'ipc', 'uts', 'net']) assert.ok(options.includes(`--unshare-${alone}`));
  for (const option of ['--unshare-cgroup-try', '--disable-userns', '--die-with-parent', '--new-session'])
    assert.ok(options.includes(option), option);
  const line = `${options.join(' ')} `;
  for (const words of [
    '--cap-drop ALL',
    '--ro-bind /dev/null /proc/cmdline',
    '--remount-ro /proc',
    '--remount-ro /dev',
    '--ro-bind /home/skills/dice /skill',
    '--bind /home/scratch /scratch',
  ])
    assert.ok(line.includes(` ${words} `), words);
  assert.match(line, / --remount-ro \/ --chdir \/scratch $/);
  assert.ok(!optionsOf('kept').includes('--new-session'), 'a person at a terminal keeps it');
});

test('T9 U3 what a skill declares changes nothing of what the sandbox itself sets', () => {
  const own = { PATH: '/evil', HOME: '/evil', TMPDIR: '/evil', USER: 'evil', LANG: 'evil' };
  const env = sandboxEnvironment({ ...own, TZ: 'Europe/Berlin', API_KEY: 'x' }, { network: ['api.example'] });
  assert.ok(!Object.values(env).some((value) => value.includes('evil')));
  assert.deepEqual([env['TZ'], env['API_KEY']], ['Europe/Berlin', 'x']);
});

test('T9 commands see a system that they can not change, and of what is hidden in it only that it is there', async (t) => {
  const { args } = systemMounts(undefined);
  assert.ok(args.includes('/usr'));
  const kinds = args.filter((word) => word.startsWith('--'));
  assert.deepEqual([...new Set(kinds)].sort(), ['--ro-bind', '--symlink']);

  const root = await mkdtemp(path.join(tmpdir(), 'skillet-mounts-'));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(path.join(root, 'usr/data'), { recursive: true });
  await writeFile(path.join(root, 'usr/config.toml'), '');
  await symlink(path.join(root, 'usr/data'), path.join(root, 'data'));
  const hidden = ['usr/config.toml', 'data', 'usr/missing'].map((name) => path.join(root, name));
  assert.deepEqual(systemMounts(root).cover(hidden), [
    ...['--ro-bind', '/dev/null', '/usr/config.toml'],
    ...['--size', '4096', '--tmpfs', '/usr/data'],
  ]);
});
