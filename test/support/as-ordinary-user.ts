import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';

const programs = ['podman', 'newuidmap', 'unshare', 'setpriv'];
const searched = '/usr/sbin:/usr/bin:/sbin:/bin';
const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** Not `nobody`, whose limits PostgreSQL's test servers use up. */
const user = 65533;
const accounts = {
  passwd: `skillet-tests:x:${user}:${user}::/:/usr/sbin/nologin`,
  group: `skillet-tests:x:${user}:`,
  subuid: `${user}:65536:65536`,
  subgid: `${user}:65536:65536`,
};

/**
 * Mounts and processes of its own, which end with it. There the user has a name and ids to map, and no file of the
 * machine changes. Its first process waits for the others. `$0` is the user's home and `$1` where the user sees it.
 */
const start = `
mount --make-rshared /
for each in ${Object.keys(accounts).join(' ')}; do mount --bind "$0/$each" "/etc/$each" || exit; done
mount --bind "$0" "$1" && cd "$1" && shift || exit
setpriv --reuid=${user} --regid=${user} --clear-groups "$@"
exit $?`;

/** Podman without systemd, on any kernel and file system. */
const settings = {
  'containers.conf': (runc: boolean) =>
    `[engine]\n${runc ? 'runtime = "runc"\n' : ''}cgroup_manager = "cgroupfs"\nevents_logger = "none"\n`,
  'storage.conf': () => '[storage]\ndriver = "vfs"\n',
};

/**
 * Registers the tests of a file that must not run as root. As an ordinary user: in this process. As root: one test runs
 * them in a process of another user, with Podman of a home of its own. There `parts` of names choose the tests, unless
 * SKILLET_TEST_CONTAINERS is set.
 */
export async function testAsOrdinaryUser(
  name: string,
  file: string,
  parts: readonly string[],
): Promise<void> {
  if (process.getuid?.() !== 0) return void (await import(file));
  const skip = lacking();
  const chosen = process.env['SKILLET_TEST_CONTAINERS'] === undefined ? parts : [];
  // Up to fifty containers, on a busy machine, too.
  test(name, { skip, timeout: 1_100_000 }, async (t) => {
    const home = mkdtempSync(path.join(tmpdir(), 'skillet-user-'));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    prepare(home);
    const seen = mkdtempSync('/tmp/skillet-');
    t.after(() => rmSync(seen, { recursive: true, force: true }));
    const { code, stdout, stderr } = await runTests({ home, seen }, file, chosen);
    const passed = [...stdout.matchAll(/^ok \d+ - (.+?)( # SKIP .+)?$/gm)];
    const why = passed.map(([, , skipped]) => skipped);
    if (code !== 0) throw new Error(`as user ${user} (exit code ${code}):\n${stdout}\n${stderr}`);
    if (!why.includes(undefined)) return t.skip(why[0]);
    const unknown = chosen.filter((part) => !passed.some(([, ran]) => ran?.includes(part)));
    if (unknown.length > 0) throw new Error(`no test has a name with ${unknown.join(' or ')}`);
    t.diagnostic(`${passed.length} tests passed as user ${user}`);
  });
}

function lacking(): string | false {
  const missing = programs.filter((program) => findProgram(program, searched) === undefined);
  if (missing.length > 0)
    return `as root this needs ${missing.join(', ')}: apt-get install podman runc uidmap`;
  const { status } = spawnSync('unshare', [...namespaces, 'true']);
  return status !== 0 && 'as root this needs namespaces of mounts and processes, which this machine refuses';
}

/**
 * `seen`: a short path. Podman's commands fail with a `--runroot` of over 50 characters, so that none cleans up after a
 * container and its client waits 20 seconds. Paths of sockets have 107 at most.
 */
type Home = Readonly<{ home: string; seen: string }>;

async function runTests(
  { home, seen }: Home,
  file: string,
  parts: readonly string[],
): Promise<Readonly<{ code: number | null; stdout: string; stderr: string }>> {
  const env = { PATH: searched, HOME: seen, TMPDIR: seen, XDG_RUNTIME_DIR: seen };
  const tests = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-reporter=tap',
    ...parts.map((part) => `--test-name-pattern=${part}`),
    file,
  ];
  const child = spawn('unshare', [...namespaces, 'sh', '-c', start, home, seen, ...tests], {
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

function prepare(home: string): void {
  const config = path.join(home, '.config');
  mkdirSync(path.join(config, 'containers'), { recursive: true });
  const runc = findProgram('runc', searched) !== undefined;
  for (const [name, content] of Object.entries(settings))
    writeFileSync(path.join(config, 'containers', name), content(runc));
  for (const [name, line] of Object.entries(accounts)) {
    const others = name.startsWith('sub') ? '' : readFileSync(path.join('/etc', name), 'utf8');
    writeFileSync(path.join(home, name), `${others}${line}\n`);
  }
  for (const folder of [config, home]) chownSync(folder, user, user);
}
