import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, watch, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Sandbox, SandboxLimits, SandboxOutcome, SandboxRequest } from '../../src/sandbox/sandbox.ts';

/** The folders of a run, and a folder beside them that no sandbox may show. */
export type Ground = Readonly<{ skill: string; scratch: string; chat: string; beside: string }>;

export type SandboxUnderTest = Readonly<{
  open(limits: SandboxLimits): Sandbox;
  /** Why it can't be tested here. */
  skip?: string | false;
  /** Commands are kept from the host: not so where the sandbox is off. */
  contains: boolean;
}>;

const canary = 'canary-5d1f0b';

/**
 * What every sandbox does, whatever it is made of: run from the test file of each. Scripts keep to what a plain
 * `sh` has. `open` is called once, and most tests share a run: a sandbox may keep something warm for it.
 */
export function testSandboxContract(name: string, { open, skip = false, contains }: SandboxUnderTest): void {
  const made: { sandbox?: Sandbox; shared?: Ground } = {};
  const roots: string[] = [];
  const sandbox = (): Sandbox => (made.sandbox ??= open(contractLimits));
  const contained = skip === false && !contains ? 'nothing is contained where the sandbox is off' : skip;
  before(async () => {
    if (skip === false) made.shared = await makeGround(roots);
  });
  after(async () => {
    await made.sandbox?.close();
    await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
  });

  /** The shared run with this script, its folders emptied. */
  const prepare = async (script: string): Promise<Ground> => {
    assert.ok(made.shared);
    for (const folder of [made.shared.skill, made.shared.scratch, made.shared.chat]) await empty(folder);
    await writeFile(path.join(made.shared.skill, 'main.sh'), script);
    return made.shared;
  };
  const request = (ground: Ground, more: Partial<SandboxRequest> = {}): SandboxRequest =>
    requestOf(sandbox(), ground, more);
  const run = (ground: Ground, more: Partial<SandboxRequest> = {}): Promise<SandboxOutcome> =>
    sandbox().run(request(ground, more));
  const runScript = async (
    script: string,
    args: readonly string[] = [],
    more: Partial<SandboxRequest> = {},
  ): Promise<Exited> => {
    const ground = await prepare(script);
    const { argv } = request(ground);
    return exited(await run(ground, { argv: [...argv, ...args], ...more }));
  };

  test(`R5 ${name}: arguments reach the script as they are, none is read by a shell`, { skip }, async () => {
    const args = ['a b', '$(echo no)', "it's", '*', '', '-n', '`id`', 'ünï'];
    const { stdout } = await runScript('for each in "$@"; do printf "[%s]" "$each"; done', args);
    assert.equal(stdout, args.map((each) => `[${each}]`).join(''));
  });

  test(`R5 ${name}: both streams and the exit code come back apart`, { skip }, async () => {
    const { exitCode, stdout, stderr } = await runScript('echo out; echo err >&2; exit 7');
    assert.deepEqual({ exitCode, stdout, stderr }, { exitCode: 7, stdout: 'out\n', stderr: 'err\n' });
  });

  test(`R5 ${name}: /dev/stdout and /dev/stderr can be written to`, { skip }, async () => {
    const { exitCode, stdout, stderr } = await runScript('echo out > /dev/stdout; echo err > /dev/stderr');
    assert.deepEqual({ exitCode, stdout, stderr }, { exitCode: 0, stdout: 'out\n', stderr: 'err\n' });
  });

  test(
    `R5 T10 ${name}: the scratch folder is the working directory and keeps what is written`,
    { skip },
    async () => {
      const ground = await prepare('cat before.txt; mkdir -p sub; echo new > sub/after.txt');
      await writeFile(path.join(ground.scratch, 'before.txt'), 'old\n');
      assert.equal(exited(await run(ground)).stdout, 'old\n');
      assert.equal(await readFile(path.join(ground.scratch, 'sub', 'after.txt'), 'utf8'), 'new\n');
    },
  );

  test(`T10 ${name}: the folder of the conversation keeps what is written`, { skip }, async () => {
    const ground = await prepare('cat "$1/before.txt"; echo new > "$1/after.txt"; cp "$1/after.txt" .');
    await writeFile(path.join(ground.chat, 'before.txt'), 'old\n');
    const { argv } = request(ground);
    const { stdout } = exited(await run(ground, { argv: [...argv, sandbox().seen('chat', ground.chat)] }));
    assert.equal(stdout, 'old\n');
    assert.equal(await readFile(path.join(ground.chat, 'after.txt'), 'utf8'), 'new\n');
  });

  test(
    `T10 T9 ${name}: one run sees nothing of another run or conversation`,
    { skip: contained },
    async () => {
      const one = await prepare('echo mine > mine.txt; echo mine > "$1/kept.txt"; ls . "$1"');
      const { chat, ...other } = await makeGround(
        roots,
        'ls / /chat; find / -path /usr -prune -o -path /proc -prune -o -name mine.txt -print -o -name kept.txt -print',
      );
      const seen = sandbox().seen('chat', one.chat);
      const first = exited(await run(one, { argv: [...request(one).argv, seen] }));
      assert.match(first.stdout, /mine\.txt[^]*kept\.txt/);
      const { argv } = request(one);
      const { stdout } = exited(await sandbox().run(withoutChat(request({ ...other, chat }, { argv }))));
      assert.match(stdout, /^scratch$/m);
      assert.doesNotMatch(stdout, /^chat$|mine|kept/m, 'a run without a conversation has no such folder');
    },
  );

  test(
    `R5 ${name}: a path of the skill means the same in every form of a command, and what commands write stays in the run`,
    { skip },
    async () => {
      const ground = await prepare('');
      for (const folder of ['scripts', 'references', 'references/deep'])
        await mkdir(path.join(ground.skill, folder));
      await writeFile(path.join(ground.skill, 'scripts/make.sh'), 'echo MADE $#\n', { mode: 0o755 });
      await writeFile(path.join(ground.skill, 'references/style.md'), 'STYLE\n');
      await writeFile(path.join(ground.skill, 'references/deep/more.md'), 'DEEP\n');
      await writeFile(path.join(ground.skill, 'top.md'), 'TOP\n');
      await writeFile(path.join(ground.skill, '.hidden'), 'HIDDEN\n');
      await symlink(path.join(ground.beside, 'secret.txt'), path.join(ground.skill, 'linked'));
      const commands: readonly (readonly [command: string, printed: string])[] = [
        ['sh scripts/make.sh a', 'MADE 1\n'],
        ['sh scripts/make.sh \\\n  --type note \\\n  --output out.md', 'MADE 4\n'],
        ['sh scripts/make.sh | cat', 'MADE 0\n'],
        ['sh scripts/make.sh > out.txt && cat out.txt', 'MADE 0\n'],
        ['set -- a; (sh ./scripts/make.sh "$@")', 'MADE 1\n'],
        ['X=1 sh scripts/make.sh', 'MADE 0\n'],
        ['cat references/style.md top.md', 'STYLE\nTOP\n'],
        ['cp references/style.md x.md && cat x.md', 'STYLE\n'],
        ['echo a > a.txt; sh scripts/make.sh a.txt', 'MADE 1\n'],
        ['cd references && cat style.md deep/more.md', 'STYLE\nDEEP\n'],
        ['for f in references/*.md; do cat "$f"; done', 'STYLE\n'],
        ['cat < references/style.md | cat', 'STYLE\n'],
        ['echo "$(cat top.md)"', 'TOP\n'],
        ['ls references', 'deep\nstyle.md\n'],
        ['cp -r references/ copied && cat copied/deep/more.md', 'DEEP\n'],
        ['printf /scripts > note.txt; cat note.txt; echo', '/scripts\n'],
        ['cat .hidden linked 2>/dev/null; echo none', 'none\n'],
      ];
      for (const [command, printed] of commands) {
        const outcome = exited(await run(ground, { argv: ['sh', '-c', command] }));
        assert.equal(outcome.stdout, printed, `${command}: ${outcome.stderr}`);
      }
      const left = await readdir(ground.scratch);
      assert.deepEqual(left.sort(), ['a.txt', 'copied', 'note.txt', 'out.txt', 'x.md']);
    },
  );

  test(
    `R5 ${name}: what the run wrote comes before the skill's files of that name, which join its folders`,
    { skip },
    async () => {
      const ground = await prepare('');
      await mkdir(path.join(ground.skill, 'scripts'));
      await writeFile(path.join(ground.skill, 'scripts/make.sh'), 'echo MADE\n');
      await writeFile(path.join(ground.skill, 'scripts/same.sh'), 'echo SKILL\n');
      await writeFile(path.join(ground.skill, 'notes.md'), 'of the skill\n');
      await mkdir(path.join(ground.scratch, 'scripts'));
      await writeFile(path.join(ground.scratch, 'scripts/same.sh'), 'echo RUN\n');
      await writeFile(path.join(ground.scratch, 'notes.md'), 'of the run\n');
      const script =
        'sh scripts/make.sh; sh scripts/same.sh; cat notes.md; echo mine > scripts/new.txt; ls scripts';
      const { stdout } = exited(await run(ground, { argv: ['sh', '-c', script] }));
      assert.equal(stdout, 'MADE\nRUN\nof the run\nmake.sh\nnew.txt\nsame.sh\n');
      const left = await readdir(path.join(ground.scratch, 'scripts'));
      assert.deepEqual(left.sort(), ['new.txt', 'same.sh']);
    },
  );

  test(
    `R5 T9 ${name}: in the working folder a command may write over and beside the skill's files, and the skill stays as it is`,
    { skip },
    async () => {
      const ground = await prepare('');
      await mkdir(path.join(ground.skill, 'scripts'));
      await mkdir(path.join(ground.skill, 'assets/deep'), { recursive: true });
      await writeFile(path.join(ground.skill, 'scripts/make.sh'), 'echo MADE\n', { mode: 0o755 });
      await writeFile(path.join(ground.skill, 'assets/deep/logo.txt'), 'LOGO\n');
      await writeFile(path.join(ground.skill, 'package.json'), '{}\n');
      const commands: readonly (readonly [command: string, printed: string])[] = [
        [
          'mkdir -p scripts && echo "echo NEW" > scripts/new.sh && sh scripts/new.sh && ./scripts/make.sh',
          'NEW\nMADE\n',
        ],
        ['touch assets/out.png; cat assets/deep/logo.txt', 'LOGO\n'],
        ['echo more >> package.json; cat package.json', '{}\nmore\n'],
        ['cat package.json; sh scripts/new.sh; ls scripts', '{}\nmore\nNEW\nmake.sh\nnew.sh\n'],
        ['echo "echo OTHER" > scripts/make.sh; sh scripts/make.sh', 'OTHER\n'],
        ['rm assets/deep/logo.txt; sh scripts/make.sh', 'OTHER\n'],
        ['cat assets/deep/logo.txt; touch assets/deep/logo.txt', 'LOGO\n'],
      ];
      for (const [command, printed] of commands) {
        const outcome = exited(await run(ground, { argv: ['sh', '-c', command] }));
        assert.equal(outcome.stdout, printed, `${command}: ${outcome.stderr}`);
      }
      assert.deepEqual((await readdir(ground.scratch, { recursive: true })).sort(), [
        ...['assets', 'assets/out.png', 'package.json', 'scripts', 'scripts/make.sh', 'scripts/new.sh'],
      ]);
      assert.deepEqual(await readdir(path.join(ground.skill, 'scripts')), ['make.sh']);
      assert.equal(await readFile(path.join(ground.skill, 'scripts/make.sh'), 'utf8'), 'echo MADE\n');
      assert.equal(await readFile(path.join(ground.skill, 'package.json'), 'utf8'), '{}\n');
      assert.deepEqual(await readdir(path.join(ground.skill, 'assets/deep')), ['logo.txt']);
    },
  );

  test(
    `R5 T9 ${name}: larger files of the skill stand in the working folder read-only`,
    { skip: contained },
    async () => {
      const ground = await prepare('');
      await mkdir(path.join(ground.skill, 'data'));
      await writeFile(path.join(ground.skill, 'data/large.txt'), 'LARGE\n'.repeat(200_000));
      for (const command of [
        'echo x > data/large.txt',
        'echo x > data/new',
        'rm data/large.txt',
        'mv data/large.txt data/other',
        'mv data moved',
        'mkdir data/sub',
        'chmod 777 data/large.txt',
        'cp main.sh data/large.txt',
        'ln -s /etc data/link',
      ]) {
        const outcome = exited(await run(ground, { argv: ['sh', '-c', `${command} && echo done`] }));
        assert.equal(outcome.stdout, '', command);
      }
      const read = exited(await run(ground, { argv: ['sh', '-c', 'head -1 data/large.txt'] }));
      assert.equal(read.stdout, 'LARGE\n');
      assert.deepEqual(await readdir(path.join(ground.skill, 'data')), ['large.txt']);
      assert.deepEqual(await readdir(ground.scratch), []);
    },
  );

  test(
    `R5 T9 ${name}: a link that a command leaves leads the removal of what was shown nowhere`,
    { skip: contained },
    async () => {
      const ground = await prepare('');
      await mkdir(path.join(ground.skill, 'scripts'));
      await writeFile(path.join(ground.skill, 'scripts/make.sh'), 'echo MADE\n');
      await writeFile(path.join(ground.beside, 'make.sh'), 'echo MADE\n');
      await run(ground, { argv: ['sh', '-c', `mv scripts kept; ln -s ${ground.beside} scripts`] });
      await run(ground, { argv: ['sh', '-c', 'true'] });
      assert.equal(await readFile(path.join(ground.skill, 'scripts/make.sh'), 'utf8'), 'echo MADE\n');
      assert.deepEqual(await readdir(path.join(ground.skill, 'scripts')), ['make.sh']);
      assert.ok((await readdir(ground.beside)).includes('make.sh'));
      await rm(path.join(ground.beside, 'make.sh'));
    },
  );

  test(`R5 T9 ${name}: the skill can be read and not written`, { skip: contained }, async () => {
    const ground = await prepare('');
    await writeFile(path.join(ground.skill, 'data.txt'), 'data\n');
    const seen = sandbox().seen('skill', ground.skill);
    const reading = exited(await run(ground, { argv: ['cat', `${seen}/data.txt`] }));
    assert.equal(reading.stdout, 'data\n');
    const attacks = ['rm -f', 'mv', 'chmod 777', 'touch', 'ln -f', 'cp main.sh'];
    const lines = attacks.map((attack) => `${attack} ${seen}/data.txt ${seen}/x`);
    const { stdout } = exited(
      await run(ground, { argv: ['sh', '-c', tried([...lines, `echo no > ${seen}/new.txt`])] }),
    );
    assert.match(stdout, /^all tried$/m);
    assert.deepEqual((await readdir(ground.skill)).sort(), ['data.txt', 'main.sh']);
    assert.equal(await readFile(path.join(ground.skill, 'data.txt'), 'utf8'), 'data\n');
  });

  test(
    `S1 S2 T9 ${name}: no file of the host outside its folders can be read`,
    { skip: contained },
    async () => {
      const ground = await prepare('');
      const secret = path.join(ground.beside, 'secret.txt');
      await symlink(secret, path.join(ground.skill, 'link'));
      await symlink(ground.beside, path.join(ground.scratch, 'folder'));
      await symlink(ground.beside, path.join(ground.chat, 'folder'));
      const seen = sandbox().seen('skill', ground.skill);
      const up = '../'.repeat(20);
      const ways = [
        secret,
        `${up}${secret.slice(1)}`,
        `${seen}/${up}${secret.slice(1)}`,
        `${seen}/../beside/secret.txt`,
        '../beside/secret.txt',
        `${seen}/link`,
        'folder/secret.txt',
        `${sandbox().seen('chat', ground.chat)}/folder/secret.txt`,
        `/proc/self/root${secret}`,
        `/proc/1/root${secret}`,
        `/proc/1/cwd/${up}${secret.slice(1)}`,
        `/proc/self/fd/0/${up}${secret.slice(1)}`,
      ];
      const commands = ways.flatMap((way) => [
        `cat ${way}`,
        `head -c 100 < ${way}`,
        `cp ${way} stolen && cat stolen`,
        `ln ${way} hard && cat hard`,
        `ln -s ${way} soft; cat soft`,
        `. ${way}`,
      ]);
      const searches = [
        'grep -rs canary /etc /home /mnt /opt /root /run /srv /tmp /var .',
        'find / -path /usr -prune -o -path /proc -prune -o -name secret.txt -print',
        'cat folder/*',
        'ls folder/',
        'cat /proc/*/environ /proc/*/cmdline',
      ];
      const outcome = exited(await run(ground, { argv: ['sh', '-c', tried([...commands, ...searches])] }));
      assert.match(outcome.stdout, /^all tried$/m);
      assert.doesNotMatch(`${outcome.stdout}${outcome.stderr}`, /canary-|[^/]secret\.txt$/m);
      assert.equal(await readFile(secret, 'utf8'), canary);
    },
  );

  test(
    `S1 T9 ${name}: no file of the host outside its folders can be written`,
    { skip: contained },
    async () => {
      const ground = await prepare('');
      const secret = path.join(ground.beside, 'secret.txt');
      await symlink(secret, path.join(ground.scratch, 'link'));
      const ways = [secret, '../beside/secret.txt', 'link', `/proc/1/root${secret}`];
      const attacks = ways.flatMap((way) => [
        `echo over > ${way}`,
        `echo over >> ${way}`,
        `rm -f ${way}`,
        `mv ${way} x`,
        `echo over | tee ${way}`,
      ]);
      const { stdout } = exited(await run(ground, { argv: ['sh', '-c', tried(attacks)] }));
      assert.match(stdout, /^all tried$/m);
      assert.equal(await readFile(secret, 'utf8'), canary);
    },
  );

  test(
    `S1 T9 ${name}: a skill that declares no network reaches no address`,
    { skip: contained },
    async () => {
      const connections: unknown[] = [];
      const server = createServer((socket) => connections.push(socket.destroy())).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = `127.0.0.1/${(server.address() as AddressInfo).port}`;
      const url = `http://${address.replace('/', ':')}/`;
      const ways = [
        `curl -m 2 ${url}`,
        `wget -T 2 ${url}`,
        `exec 3<>/dev/tcp/${address}`,
        `: > /dev/tcp/${address}`,
      ];
      const outcome = exited(await run(await prepare(''), { argv: ['bash', '-c', tried(ways)] }));
      server.close();
      assert.match(outcome.stdout, /^all tried$/m);
      assert.equal(connections.length, 0);
    },
  );

  test(
    `U3 S2 ${name}: a script has the declared environment and nothing of the host's`,
    { skip },
    async () => {
      process.env['SKILLET_TEST_CANARY'] = canary;
      const script =
        'echo "[$TEST_API_KEY][${SKILLET_TEST_CANARY:-}]"; env; sh -c "printenv TEST_API_KEY"; cat /proc/self/environ';
      const { stdout, stderr } = await runScript(script, [], { env: { TEST_API_KEY: 'k-123' } });
      delete process.env['SKILLET_TEST_CANARY'];
      assert.match(stdout, /^\[k-123\]\[\]\n/);
      assert.match(stdout, /^TEST_API_KEY=k-123$/m);
      assert.match(stdout, /^k-123$/m);
      assert.ok(!`${stdout}${stderr}`.includes(canary));
      assert.ok(!stdout.includes(process.env['PATH'] ?? 'no path'), "PATH is the sandbox's own");
    },
  );

  test(
    `U3 S2 ${name}: what one command was given is gone for the next of the same run`,
    { skip },
    async () => {
      const ground = await prepare('echo "[${TEST_API_KEY:-}]"');
      const first = exited(await run(ground, { env: { TEST_API_KEY: 'k-123' } }));
      const second = exited(await run(ground));
      assert.deepEqual([first.stdout, second.stdout], ['[k-123]\n', '[]\n']);
    },
  );

  test(
    `R5 ${name}: long output keeps its beginning and its end, with a marker between`,
    { skip },
    async () => {
      const { stdout, truncated } = await runScript(
        'i=0; while [ $i -lt 500 ]; do echo "line $i"; i=$((i+1)); done',
        [],
        { outputCap: 300 },
      );
      assert.ok(truncated);
      assert.match(stdout, /^line 0\n[^]*characters left out[^]*line 499\n$/);
      assert.ok(stdout.length < 400);
    },
  );

  test(`R5 T9 ${name}: a script that does not end is ended when its time is up`, { skip }, async () => {
    for (const script of ['sleep 1000', "awk 'BEGIN { while (1) {} }'"]) {
      const ground = await prepare(script);
      const outcome = await run(ground, { timeoutMs: 400 });
      assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'timeout', script);
    }
  });

  test(`T11 ${name}: a script is ended when its call is cancelled`, { skip }, async () => {
    const ground = await prepare('echo begun > begun.txt; while :; do :; done');
    const controller = new AbortController();
    const begun = appears('begun.txt', ground.scratch);
    const running = run(ground, { signal: controller.signal, timeoutMs: 60_000 });
    await begun;
    controller.abort();
    const outcome = await running;
    assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'cancelled');
    const next = await run(ground, { signal: controller.signal });
    assert.equal(next.status === 'stopped' ? next.reason : next, 'cancelled');
  });

  test(`T9 ${name}: a script that eats memory ends alone, and the next one runs`, { skip }, async () => {
    const hog = `awk 'BEGIN { x = "0123456789abcdef"; while (1) { x = x x; a[n++] = x } }'`;
    const outcome = await run(await prepare(hog), { timeoutMs: 60_000 });
    const failed = outcome.status === 'stopped' || (outcome.status === 'exited' && outcome.exitCode !== 0);
    assert.ok(failed, JSON.stringify(outcome));
    assert.equal((await runScript('echo fine')).stdout, 'fine\n');
  });

  test(`T9 ${name}: a script that fills the disk ends`, { skip }, async () => {
    const ground = await prepare(
      'printf "%1000s" x > a; while cat a a > b && cat b b > a; do :; done; exit 1',
    );
    const outcome = await run(ground, { timeoutMs: 60_000 });
    const ended =
      outcome.status === 'stopped'
        ? outcome.reason === 'disk'
        : outcome.status === 'exited' && outcome.exitCode !== 0;
    assert.ok(ended, JSON.stringify(outcome));
  });

  test(`R5 T9 ${name}: endless output ends, and little of it is kept`, { skip }, async () => {
    const flood = `awk 'BEGIN { while (1) print "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" }'`;
    const outcome = await run(await prepare(flood), { timeoutMs: 400, outputCap: 1_000 });
    assert.ok(outcome.status !== 'unavailable');
    assert.ok(outcome.status === 'stopped' || outcome.exitCode !== 0, JSON.stringify(outcome));
    assert.ok(outcome.stdout.length + outcome.stderr.length < 5_000);
  });

  test(
    `R5 T4 ${name}: a program that is not there is unavailable, with what to install`,
    { skip },
    async () => {
      const outcome = await run(await prepare(''), { argv: ['no-such-program-0', 'x'] });
      assert.equal(outcome.status, 'unavailable');
      assert.match(outcome.status === 'unavailable' ? outcome.message : '', /no-such-program-0.*install/);
    },
  );

  test(`T10 ${name}: commands of several runs go on side by side`, { skip }, async () => {
    const one = await prepare('echo one');
    const other = await makeGround(roots, 'echo other');
    const outcomes = await Promise.all([one, other, one].map((ground) => run(ground)));
    assert.deepEqual(
      outcomes.map((outcome) => exited(outcome).stdout),
      ['one\n', 'other\n', 'one\n'],
    );
  });
}

/** Small, so that a script meets them soon. */
export const contractLimits: SandboxLimits = { memoryMb: 300, cpuSeconds: 20, processes: 64, diskMb: 24 };

export async function makeGround(roots: string[], script = ''): Promise<Ground> {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-sandbox-'));
  roots.push(root);
  const folder = async (name: string): Promise<string> => {
    await mkdir(path.join(root, name));
    return path.join(root, name);
  };
  const ground = {
    skill: await folder('skill'),
    scratch: await folder('scratch'),
    chat: await folder('chat'),
    beside: await folder('beside'),
  };
  await writeFile(path.join(ground.beside, 'secret.txt'), canary);
  await writeFile(path.join(ground.skill, 'main.sh'), script);
  return ground;
}

export function requestOf(
  sandbox: Sandbox,
  { skill, scratch, chat }: Ground,
  more: Partial<SandboxRequest> = {},
): SandboxRequest {
  return {
    argv: ['sh', `${sandbox.seen('skill', skill)}/main.sh`],
    skillDirectory: skill,
    scratch,
    chat,
    network: [],
    env: {},
    timeoutMs: 20_000,
    outputCap: 10_000,
    signal: new AbortController().signal,
    ...more,
  };
}

/** A script that runs each line by itself, says of each whether it failed, and says when it got to its end. */
function tried(lines: readonly string[]): string {
  return `${lines.map((line) => `( ${line} ) || echo failed`).join('\n')}\necho; echo all tried`;
}

function withoutChat({ chat: _, ...rest }: SandboxRequest): SandboxRequest {
  return rest;
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    await rm(path.join(folder, name), { recursive: true, force: true });
}

async function appears(file: string, folder: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename === file) return;
}

export type Exited = Extract<SandboxOutcome, { status: 'exited' }>;

export function exited(outcome: SandboxOutcome): Exited {
  assert.ok(outcome.status === 'exited', JSON.stringify(outcome));
  return outcome;
}
