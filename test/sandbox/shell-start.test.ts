import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { shellStart } from '../../src/sandbox/virtual/shell-worker.ts';

test('R5 options before a script are set first, and the script starts as it would in a real bash', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-start-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'main.sh');
  await writeFile(
    file,
    'echo "$0 $# $1"; false | true; echo piped; echo "${NOT_SET_HERE}"; false; echo last; exit 4',
  );
  for (const options of [
    [],
    ['-e'],
    ['-eu'],
    ['-u', '-e'],
    ['-euo', 'pipefail'],
    ['-o', 'pipefail', '-e'],
    ['--posix'],
    ['+e'],
    ['-l'],
  ]) {
    const args = [...options, file, 'a b', '-e'];
    const start = shellStart(args);
    const [direct, started] = [args, start].map((list) => {
      const { stdout, status } = spawnSync('bash', list, {
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin' },
      });
      return { stdout, status };
    });
    assert.deepEqual(started, direct, options.join(' '));
  }
});

test('R5 a command given as text, and a shell without a file, are left as they are', () => {
  for (const args of [['-c', 'echo'], ['-ec', 'x'], ['-s'], [], ['-e']]) {
    assert.deepEqual(shellStart(args), args);
  }
  assert.deepEqual(shellStart(['-o', '$(id)', 'x.sh']), ['-c', '. "$0"', 'x.sh']);
});
