import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';

const programs = ['podman', 'newuidmap', 'unshare', 'setpriv'];
const searched = '/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Mounts and processes of its own, which end with it. There `nobody` has ids of users to map, and no file of the machine
 * changes. Its first process waits for the others. `$0` is the folder.
 */
const start = `
mount --make-rshared /
for each in uid gid; do mount --bind "$0/sub$each" "/etc/sub$each" || exit; done
setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
exit $?`;

/** Podman without systemd, on any kernel and file system. */
const settings = {
  'containers.conf': (runc: boolean) =>
    `[engine]\n${runc ? 'runtime = "runc"\n' : ''}cgroup_manager = "cgroupfs"\nevents_logger = "none"\n`,
  'storage.conf': () => '[storage]\ndriver = "vfs"\n',
};

/**
 * Registers the tests of a file that must not run as root: in this process, or, as root, all of them as one test in a
 * process of `nobody`, with Podman of a home of its own.
 */
export async function testAsNobody(name: string, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return void (await import(file));
  const missing = programs.filter((program) => findProgram(program, searched) === undefined);
  const skip =
    process.env['SKILLET_TEST_CONTAINERS'] === undefined
      ? 'as root this takes minutes: SKILLET_TEST_CONTAINERS=1 npm test -- test/sandbox/docker'
      : missing.length > 0 && `as root this needs ${missing.join(', ')}: apt-get install podman uidmap`;
  // Some fifty containers, on a busy machine, too.
  test(name, { skip, timeout: 1_100_000 }, async (t) => {
    const home = mkdtempSync(path.join(tmpdir(), 'skillet-nobody-'));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    prepare(home);
    const env = {
      PATH: searched,
      HOME: home,
      TMPDIR: home,
      XDG_RUNTIME_DIR: home,
    };
    const tests = [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      '--test',
      '--test-reporter=tap',
    ];
    const child = spawn(
      'unshare',
      ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', start, home, ...tests, file],
      { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.once('close', resolve)),
    ]);
    const [, passed = '0'] = /^# pass (\d+)$/m.exec(stdout) ?? [];
    const [, why] = /# SKIP (.+)$/m.exec(stdout) ?? [];
    if (code !== 0) throw new Error(`as nobody (exit code ${code}):\n${stdout}\n${stderr}`);
    t.diagnostic(`${passed} tests passed as nobody`);
    if (passed === '0') t.skip(why);
  });
}

function prepare(home: string): void {
  const config = path.join(home, '.config');
  mkdirSync(path.join(config, 'containers'), { recursive: true });
  const runc = findProgram('runc', searched) !== undefined;
  for (const [name, content] of Object.entries(settings))
    writeFileSync(path.join(config, 'containers', name), content(runc));
  for (const name of ['subuid', 'subgid']) writeFileSync(path.join(home, name), '65534:65536:65536\n');
  for (const folder of [config, home]) chownSync(folder, 65534, 65534);
}
