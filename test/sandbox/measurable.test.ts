import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';
import { isWatchable } from '../../src/sandbox/limits/measurable.ts';

const here = process.platform === 'linux' ? false : 'only Linux runs commands in processes';
const source = path.join(import.meta.dirname, '../../src');
const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Opens a sandbox in a process with this PATH, and says which one it got or why none. `before`: what starts it. */
function opened(mode: string, PATH: string, before: readonly string[] = []): string {
  const script = `
    const { openSandbox } = await import('${source}/sandbox/open-sandbox.ts');
    const nothing = () => undefined;
    const limits = { memoryMb: 512, cpuSeconds: 60, diskMb: 100, processes: 64 };
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const containers = { folder: '/nowhere' };
    const said = await openSandbox({ mode: '${mode}', limits, hidden: [], containers, log }).then(
      (sandbox) => sandbox.close().then(() => sandbox.mode),
      (error) => error.name + ': ' + error.message,
    );
    console.log(said);`;
  const [program = '', ...args] = [...before, process.execPath, '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync(program, args, { env: { PATH }, encoding: 'utf8' });
  assert.equal(stderr, '');
  return stdout.trim();
}

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'skillet-measurable-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  chmodSync(made, 0o755);
  return made;
}

/** Programs that a test can replace. */
function programsIn(t: TestContext, names: readonly string[]): string {
  const made = folder(t);
  for (const name of names) symlinkSync(findProgram(name, systemPath) ?? name, path.join(made, name));
  return made;
}

test(
  'T9 without the programs that measure no command runs, and what to install is said',
  { skip: here },
  (t) => {
    const none = folder(t);
    for (const mode of ['off', 'docker'])
      assert.match(
        opened(mode, none),
        new RegExp(
          `^OperatorError: \\[sandbox\\] mode = "${mode}": limits of commands can't be kept here\\. mkfifo and du are needed`,
        ),
      );
    assert.equal(opened('auto', none), 'virtual');
    assert.equal(opened('off', programsIn(t, ['mkfifo', 'du'])), 'off');
  },
);

for (const [what, du, says] of [
  [
    'counts no names',
    '#!/bin/sh\ncase "$*" in *--inodes*) echo "du: unrecognized option: inodes" >&2; exit 1;; esac\n',
    /du says nothing of .*unrecognized option/,
  ],
  ['says nothing', '#!/bin/sh\nexit 0\n', /du says nothing of/],
  ['can not be started', '#!/nowhere/sh\n', /du does not measure folders here/],
] as const)
  test(`T9 a du that ${what} has not measured: no command runs`, { skip: here }, (t) => {
    const programs = programsIn(t, ['mkfifo', 'bwrap']);
    writeFileSync(path.join(programs, 'du'), du, { mode: 0o755 });
    const said = opened('off', programs);
    assert.match(said, /^OperatorError: \[sandbox\] mode = "off": limits of commands can't be kept here/);
    assert.match(said, says);
    assert.equal(opened('auto', programs), 'virtual');
  });

/** Starts a program where /proc is something else. */
const withoutProc = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
const skipWithoutProc =
  here || (spawnSync('unshare', ['--mount', 'true']).status !== 0 && 'no namespaces of mounts here');

test(
  'T9 where /proc is hidden no command runs unwatched',
  {
    skip: here || (spawnSync('unshare', ['--mount', 'true']).status !== 0 && 'no namespaces of mounts here'),
  },
  () => {
    for (const mode of ['off', 'bubblewrap'])
      assert.match(
        opened(mode, systemPath, withoutProc),
        /^OperatorError: .*can not be watched, as \/proc is missing or hides them/,
      );
    assert.equal(opened('auto', systemPath, withoutProc), 'virtual');
  },
);

test(
  'R6 T9 where /proc is hidden no root file system is removed that a command may still use',
  { skip: skipWithoutProc },
  (t) => {
    const trees = folder(t);
    mkdirSync(path.join(trees, 'old'));
    const script = `
      const { sweep } = await import('${source}/sandbox/packages/build-root.ts');
      await sweep('${trees}', 'new');`;
    const node = [process.execPath, '--input-type=module', '-e', script];
    const run = ([program = '', ...args]: readonly string[]): readonly string[] => {
      assert.equal(spawnSync(program, args, { env: { PATH: systemPath }, encoding: 'utf8' }).stderr, '');
      return readdirSync(trees);
    };
    assert.deepEqual(run([...withoutProc, ...node]), ['old']);
    assert.deepEqual(run(node), []);
  },
);

test(
  'T9 a process is watchable with its children, and one that is gone or hidden is not',
  { skip: here },
  async (t) => {
    assert.ok(isWatchable(process.pid));
    const child = spawn('sh', ['-c', 'sleep 600 & echo; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => spawnSync('pkill', ['-KILL', '-P', String(child.pid)]));
    t.after(() => child.kill('SIGKILL'));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    assert.ok(isWatchable(child.pid ?? 0, 2));
    assert.ok(!isWatchable(child.pid ?? 0, 3));
    assert.ok(!isWatchable(2 ** 30));
  },
);

test(
  'T9 the memory of a process that hides its own account of it counts as a whole',
  {
    skip:
      here ||
      (process.getuid?.() === 0 &&
        findProgram('setpriv', systemPath) === undefined &&
        'as root this needs setpriv'),
  },
  (t) => {
    // A program that nobody may read can't be looked into. It holds what it could not write yet.
    const hiding = path.join(folder(t), 'dd');
    copyFileSync(findProgram('dd', systemPath) ?? 'dd', hiding);
    chmodSync(hiding, 0o111);
    const script = `
      import { spawn } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      const { measureOwnMemory } = await import('${source}/lib/processes/measure-processes.ts');
      const dd = spawn('${hiding}', ['if=/dev/zero', 'bs=64M', 'count=1'], { stdio: ['ignore', 'pipe', 'ignore'] });
      const held = () => Number(/^RssAnon:\\s+(\\d+)/m.exec(readFileSync('/proc/' + dd.pid + '/status', 'latin1'))[1]);
      while (held() < 60_000) await new Promise(setImmediate);
      let hidden = false;
      try { readFileSync('/proc/' + dd.pid + '/smaps_rollup'); } catch { hidden = true; }
      console.log(JSON.stringify({ hidden, bytes: await measureOwnMemory([dd.pid]) }));
      dd.kill('SIGKILL');`;
    const as =
      process.getuid?.() === 0 ? ['setpriv', '--reuid=65533', '--regid=65533', '--clear-groups'] : [];
    const [program = '', ...args] = [...as, process.execPath, '--input-type=module', '-e', script];
    const { stdout, stderr } = spawnSync(program, args, { env: { PATH: systemPath }, encoding: 'utf8' });
    assert.equal(stderr, '');
    const { hidden, bytes } = JSON.parse(stdout) as { hidden: boolean; bytes: number };
    assert.ok(hidden, 'this kernel shows what the program holds');
    assert.ok(bytes > 60_000_000, `${bytes} bytes`);
  },
);
