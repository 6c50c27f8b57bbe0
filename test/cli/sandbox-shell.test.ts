import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { findProgram } from '../../src/sandbox/find-program.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { containersHere, imageForTests } from '../support/containers-here.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { isRunning } from '../support/sandbox-limits-contract.ts';
import { until } from '../support/until.ts';

const hasScript = findProgram('script', process.env['PATH'] ?? '') !== undefined;
const noTerminal = hasScript ? false : 'script (bsdutils) is not installed, so there is no terminal';
const skip = noTerminal !== false ? noTerminal : bubblewrapHere.skip;

test(
  'R6 L1 sandbox shell: a person looks around in what the scripts of a skill see, with job control and their environment',
  { skip },
  async (t) => {
    const home = await withSkill(t);
    const shell = await open(t, home, ['sandbox', 'shell', 'parcels']);
    await shell.until(
      /sandbox bubblewrap: \/skill \(.*, read-only\), \/scratch.*network: a\.test; environment: PARCELS_KEY\r\n[^]*sandbox:\S+\$ /,
    );
    await shell.ask('pwd; ls -d /*; cat /skill/SKILL.md', /\/scratch\r\n[^]*\/skill[^]*name: parcels/);
    await shell.ask('touch /skill/x || echo "key $PARCELS_KEY"', /Read-only file system[^]*key k-12/);
    await shell.ask(
      'ls -A; id -un; echo data > kept.txt; test -t 0 && echo terminal',
      /skillet\r\n[^]*terminal/,
    );
    // Keys reach what runs in the foreground, and neither the shell nor the command line.
    shell.type('sleep 66.219\n');
    await until(() => isRunning('sleep\u000066.219'));
    shell.type('\x03');
    await shell.until(/sandbox:\S+\$ /);
    await shell.ask('echo "ended by $?"', /ended by 130/);
    await shell.ask('sleep 67.219 & jobs; kill %1', /\[1\]\+ +Running/);
    assert.equal(await shell.end('exit 7'), 7);
    assert.deepEqual(await readdir(path.join(home.folder, 'workspace/runs')), []);
  },
);

test('T9 sandbox shell: nothing in it can type on the terminal of the person', { skip }, async (t) => {
  const home = await openCliHome(t);
  const shell = await open(t, home, ['sandbox', 'shell']);
  await shell.until(/sandbox:\S+\$ /);
  if (findProgram('perl', '/usr/bin') === undefined) return t.skip('needs perl');
  await shell.ask(
    `perl -e '$x = "x"; print ioctl(STDIN, 0x5412, $x) ? "typed" : "refused: $!"'`,
    /refused: Operation not permitted/,
  );
  assert.equal(await shell.end('exit'), 0);
});

test(
  'R6 sandbox shell: what takes too many processes ends the shell, and the reason is said',
  { skip },
  async (t) => {
    const home = await openCliHome(t);
    await home.write('config.toml', '[sandbox]\nprocesses = 20\n');
    const shell = await open(t, home, ['sandbox', 'shell']);
    await shell.until(/sandbox:\S+\$ /);
    assert.equal(await shell.end('for i in $(seq 40); do sleep 60 & done; wait'), 1);
    assert.match(shell.seen(), /it met the limit of processes/);
  },
);

test(
  'R6 T9 sandbox shell: in a container it is the same, and nothing of it is left',
  { skip: noTerminal !== false ? noTerminal : containersHere.skip },
  async (t) => {
    const { engine } = containersHere;
    assert.ok(engine);
    const home = await withSkill(t);
    const image = await imageForTests(engine);
    const program = path.basename(engine.program);
    await home.write(
      'config.toml',
      `[sandbox]\nmode = "docker"\nengine = "${program}"\nimage = "${await image.current()}"\n[skills.parcels]\nPARCELS_KEY = "k-12"\n`,
    );
    const { HOME, DOCKER_HOST, XDG_RUNTIME_DIR } = process.env;
    const shell = await open(t, home, ['sandbox', 'shell', 'parcels'], {
      HOME,
      DOCKER_HOST,
      XDG_RUNTIME_DIR,
    });
    await shell.until(/sandbox docker: \/skill[^]*sandbox:\S+\$ /);
    await shell.ask('pwd; whoami; echo "key $PARCELS_KEY"', /\/scratch\r\nskillet\r\nkey k-12\r/);
    await shell.ask('sleep 67.219 & jobs; kill %1', /\[1\]\+ +Running/);
    assert.equal(await shell.end('exit 7'), 7);
    assert.deepEqual(await readdir(path.join(home.folder, 'workspace/runs')), []);
  },
);

test('R6 L1 sandbox shell: without a terminal, a skill or programs it is refused with what to do', async (t) => {
  const home = await withSkill(t);
  const piped = await home.run(['sandbox', 'shell']);
  assert.deepEqual([piped.code, piped.stdout], [1, '']);
  assert.match(piped.stderr, /needs a terminal/);
  if (noTerminal !== false) return t.diagnostic(noTerminal);
  const unknown = await open(t, home, ['sandbox', 'shell', 'parcel']);
  assert.equal(await unknown.ended, 1);
  assert.match(unknown.seen(), /There is no skill "parcel"\. Near: parcels/);
  await home.write('config.toml', '[sandbox]\nmode = "virtual"\n');
  const virtual = await open(t, home, ['sandbox', 'shell']);
  assert.equal(await virtual.ended, 1);
  assert.match(virtual.seen(), /apt-get install bubblewrap/);
});

async function withSkill(t: TestContext): Promise<CliHome> {
  const home = await openCliHome(t);
  await mkdir(path.join(home.folder, 'workspace/skills/parcels'), { recursive: true });
  await home.write(
    'workspace/skills/parcels/SKILL.md',
    '---\nname: parcels\ndescription: Parcels.\nnetwork: [a.test]\nenv: [PARCELS_KEY, PARCELS_OTHER]\n---\nGo.\n',
  );
  await home.write('config.toml', '[skills.parcels]\nPARCELS_KEY = "k-12"\n');
  return home;
}

type Terminal = Readonly<{
  type(text: string): void;
  /** Resolves when what came since it was last asked is like this. */
  until(pattern: RegExp): Promise<string>;
  /** Types a line, and waits for an answer like this. */
  ask(line: string, answer: RegExp): Promise<void>;
  /** Types a last line; gives the exit code. */
  end(line: string): Promise<number>;
  ended: Promise<number>;
  seen(): string;
}>;

/** The command line at a terminal of its own. */
async function open(
  t: TestContext,
  { folder }: CliHome,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Terminal> {
  const words = [process.execPath, cliPath, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let all = '';
  let from = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (all += text));
  const ended = once(child, 'close').then(([code]) => code as number);
  const terminal: Terminal = {
    type: (text) => void child.stdin.write(text),
    async until(pattern) {
      for (;;) {
        const match = pattern.exec(all.slice(from));
        if (match !== null) {
          from += match.index + match[0].length;
          return match[0];
        }
        const gone = ended.then(() => 'gone' as const);
        if (
          (await Promise.race([once(child.stdout, 'data'), gone])) === 'gone' &&
          !pattern.test(all.slice(from))
        )
          throw new Error(`the terminal was closed before ${pattern}: ${all}`);
      }
    },
    async ask(line, answer) {
      terminal.type(`${line}\n`);
      await terminal.until(answer);
      await terminal.until(/sandbox:\S+\$ /);
    },
    async end(line) {
      terminal.type(`${line}\n`);
      return ended;
    },
    ended,
    seen: () => all,
  };
  return terminal;
}
