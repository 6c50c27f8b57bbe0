import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { openSandbox } from '../../src/sandbox/open-sandbox.ts';
import { quietLog, type QuietLog } from '../support/quiet-log.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { sandboxLimits } from '../support/sandbox-limits.ts';

const open = (mode: Parameters<typeof openSandbox>[0]['mode'], log: QuietLog = quietLog()) =>
  openSandbox({ mode, limits: sandboxLimits, hidden: [], containers: { folder: '/nowhere' }, log });

test(
  'T9 T4 auto opens bubblewrap where it works, and the log says so',
  { skip: bubblewrapHere.skip },
  async () => {
    for (const mode of ['auto', 'bubblewrap'] as const) {
      const log = quietLog();
      const sandbox = await open(mode, log);
      assert.equal(sandbox.mode, 'bubblewrap');
      const [line] = log.lines;
      assert.deepEqual(line?.fields, { sandbox: 'bubblewrap' });
      assert.match(line?.message ?? '', /^(?:\S+ ){0,11}docs\/how-to\/sandbox\.md$/);
      await sandbox.close();
    }
  },
);

test('T9 T4 where bubblewrap is not installed auto opens virtual, and the log and refusals say what to install', async (t) => {
  await withPath(t, []);
  const log = quietLog();
  const sandbox = await open('auto', log);
  assert.equal(sandbox.mode, 'virtual');
  assert.match(
    log.lines[0]?.message ?? '',
    /^scripts run in memory, (?:\S+ ){0,8}docs\/how-to\/sandbox\.md$/,
  );
  assert.match(String(log.lines[0]?.fields['better']), /apt-get install bubblewrap/);
  await sandbox.close();
  await assert.rejects(
    open('bubblewrap'),
    (error) =>
      error instanceof OperatorError &&
      /"bubblewrap".*not installed: apt-get install bubblewrap.*"auto"/.test(error.message),
  );
});

test('T9 T4 where namespaces are forbidden bubblewrap counts as not there, and the reason is given', async (t) => {
  await withPath(t, ['mkfifo', 'du'], {
    bwrap: `#!/bin/sh\n[ "$1" = --help ] && echo "--size --disable-userns" && exit\necho "bwrap: setting up uid map: Permission denied" >&2; exit 1\n`,
  });
  const log = quietLog();
  const sandbox = await open('auto', log);
  assert.equal(sandbox.mode, 'virtual');
  assert.match(
    String(log.lines[0]?.fields['better']),
    /does not let it make namespaces.*unprivileged_userns_clone.*uid map/,
  );
  await sandbox.close();
});

test('T4 the sandbox turned off is said with a warning, virtual by choice is not taken for a lack', async () => {
  const log = quietLog();
  for (const mode of ['off', 'virtual'] as const) {
    const sandbox = await open(mode, log);
    assert.equal(sandbox.mode, mode);
    await sandbox.close();
  }
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields['sandbox']]),
    [
      ['warn', 'off'],
      ['info', 'virtual'],
    ],
  );
});

/** PATH leads to the named programs of the system and to scripts of the test's own. */
async function withPath(
  t: TestContext,
  programs: readonly string[],
  scripts: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-path-'));
  for (const program of programs) await symlink(`/usr/bin/${program}`, path.join(folder, program));
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(path.join(folder, name), text, { mode: 0o755 });
  }
  const before = process.env['PATH'];
  process.env['PATH'] = folder;
  t.after(async () => {
    process.env['PATH'] = before;
    await rm(folder, { recursive: true });
  });
}
