import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, watch, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { Sandbox, SandboxOutcome, SandboxRequest } from '../../src/sandbox/sandbox.ts';

/** Two folders of a run, and a file beside them that no sandbox may show. */
type Ground = Readonly<{ skill: string; scratch: string; secret: string }>;

const canary = 'canary-5d1f0b';

/**
 * What every sandbox does, whatever it is made of: run from the test file of each. Scripts keep to what a plain
 * `sh` has. `open` is called once.
 */
export function testSandboxContract(name: string, open: () => Sandbox): void {
  const sandbox = open();
  const roots: string[] = [];
  after(async () => {
    await sandbox.close();
    await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
  });

  const prepare = async (script: string): Promise<Ground> => {
    const root = await mkdtemp(path.join(tmpdir(), 'skillet-sandbox-'));
    roots.push(root);
    const ground = {
      skill: path.join(root, 'skill'),
      scratch: path.join(root, 'scratch'),
      secret: path.join(root, 'secret.txt'),
    };
    await mkdir(ground.skill);
    await mkdir(ground.scratch);
    await writeFile(ground.secret, canary);
    await writeFile(path.join(ground.skill, 'main.sh'), script);
    return ground;
  };
  const request = (ground: Ground, more: Partial<SandboxRequest> = {}): SandboxRequest => ({
    argv: ['sh', `${sandbox.seen('skill', ground.skill)}/main.sh`],
    skillDirectory: ground.skill,
    scratch: ground.scratch,
    network: [],
    env: {},
    timeoutMs: 20_000,
    outputCap: 10_000,
    signal: new AbortController().signal,
    ...more,
  });
  const runScript = async (
    script: string,
    args: readonly string[] = [],
    more: Partial<SandboxRequest> = {},
  ): Promise<Exited> => {
    const ground = await prepare(script);
    const { argv } = request(ground);
    return exited(await sandbox.run(request(ground, { argv: [...argv, ...args], ...more })));
  };

  test(`R5 ${name}: arguments reach the script as they are, none is read by a shell`, async () => {
    const args = ['a b', '$(echo no)', "it's", '*', '', '-n', '`id`', 'ünï'];
    const { stdout } = await runScript('for each in "$@"; do printf "[%s]" "$each"; done', args);
    assert.equal(stdout, args.map((each) => `[${each}]`).join(''));
  });

  test(`R5 ${name}: both streams and the exit code come back apart`, async () => {
    const { exitCode, stdout, stderr } = await runScript('echo out; echo err >&2; exit 7');
    assert.deepEqual({ exitCode, stdout, stderr }, { exitCode: 7, stdout: 'out\n', stderr: 'err\n' });
  });

  test(`R5 T10 ${name}: the scratch folder is the working directory and keeps what is written`, async () => {
    const ground = await prepare('cat before.txt; mkdir -p sub; echo new > sub/after.txt');
    await writeFile(path.join(ground.scratch, 'before.txt'), 'old\n');
    assert.equal(exited(await sandbox.run(request(ground))).stdout, 'old\n');
    assert.equal(await readFile(path.join(ground.scratch, 'sub', 'after.txt'), 'utf8'), 'new\n');
  });

  test(`T10 ${name}: one run does not see the scratch folder of another`, async () => {
    const [one, other] = [await prepare('echo mine > mine.txt; ls'), await prepare('ls')];
    assert.equal(exited(await sandbox.run(request(one))).stdout, 'mine.txt\n');
    assert.equal(exited(await sandbox.run(request(other))).stdout, '');
  });

  test(`T10 ${name}: the folder of the conversation is there where a run has one, and keeps what is written`, async () => {
    const ground = await prepare('cat "$1/before.txt"; echo new > "$1/after.txt"; cp "$1/after.txt" .');
    const chat = path.join(path.dirname(ground.scratch), 'chat');
    await mkdir(chat);
    await writeFile(path.join(chat, 'before.txt'), 'old\n');
    const { argv } = request(ground);
    const seen = sandbox.seen('chat', chat);
    const { stdout } = exited(await sandbox.run(request(ground, { argv: [...argv, seen], chat })));
    assert.equal(stdout, 'old\n');
    assert.equal(await readFile(path.join(chat, 'after.txt'), 'utf8'), 'new\n');
    const without = exited(await sandbox.run(request(ground, { argv: ['ls', `${seen}/before.txt`] })));
    assert.notEqual(without.exitCode, 0, 'a run without one sees none');
  });

  test(`R5 ${name}: the skill can be read and not written`, async () => {
    const ground = await prepare('cat "$1/data.txt"; echo no > "$1/new.txt"');
    await writeFile(path.join(ground.skill, 'data.txt'), 'data\n');
    const seen = sandbox.seen('skill', ground.skill);
    const { argv } = request(ground);
    const reading = exited(await sandbox.run(request(ground, { argv: ['cat', `${seen}/data.txt`] })));
    assert.equal(reading.stdout, 'data\n');
    const writing = exited(await sandbox.run(request(ground, { argv: [...argv, seen] })));
    assert.notEqual(writing.exitCode, 0);
    for (const attack of ['rm -f', 'mv', 'chmod 777', 'touch']) {
      await sandbox.run(request(ground, { argv: ['sh', '-c', `${attack} ${seen}/data.txt x`] }));
    }
    assert.deepEqual((await readdir(ground.skill)).sort(), ['data.txt', 'main.sh']);
    assert.equal(await readFile(path.join(ground.skill, 'data.txt'), 'utf8'), 'data\n');
  });

  test(`T9 ${name}: no file of the host outside the two folders can be read`, async () => {
    const ground = await prepare('');
    await symlink(ground.secret, path.join(ground.skill, 'link'));
    await symlink(path.dirname(ground.secret), path.join(ground.scratch, 'folder'));
    const seen = sandbox.seen('skill', ground.skill);
    const up = '../'.repeat(20);
    const ways = [
      ground.secret,
      `${up}${ground.secret.slice(1)}`,
      `${seen}/${up}${ground.secret.slice(1)}`,
      `${seen}/../secret.txt`,
      '../secret.txt',
      `${seen}/link`,
      'folder/secret.txt',
      `/proc/self/root${ground.secret}`,
      `/proc/1/root${ground.secret}`,
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
      'grep -r canary / 2>/dev/null',
      `find / -name secret.txt`,
      'cat folder/*',
      `ls folder/`,
    ];
    for (const command of [...commands, ...searches]) {
      const { stdout, stderr } = exited(await sandbox.run(request(ground, { argv: ['sh', '-c', command] })));
      assert.ok(!`${stdout}${stderr}`.includes(canary), `${command} showed the file`);
      assert.ok(!stdout.includes('secret.txt'), `${command} showed the folder`);
    }
    assert.equal(await readFile(ground.secret, 'utf8'), canary);
  });

  test(`T9 ${name}: no file of the host outside the two folders can be written`, async () => {
    const ground = await prepare('');
    await symlink(ground.secret, path.join(ground.scratch, 'link'));
    for (const way of [ground.secret, '../secret.txt', 'link']) {
      for (const command of [
        `echo over > ${way}`,
        `echo over >> ${way}`,
        `rm -f ${way}`,
        `mv ${way} x`,
        `tee ${way}`,
      ]) {
        await sandbox.run(request(ground, { argv: ['sh', '-c', command] }));
      }
    }
    assert.equal(await readFile(ground.secret, 'utf8'), canary);
  });

  test(`T9 ${name}: a skill that declares no network reaches no address`, async () => {
    const connections: unknown[] = [];
    const server = createServer((socket) => connections.push(socket.destroy())).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `127.0.0.1/${(server.address() as AddressInfo).port}`;
    const url = `http://${address.replace('/', ':')}/`;
    const ways = [
      `curl ${url}`,
      `wget ${url}`,
      `exec 3<>/dev/tcp/${address}`,
      `echo x > /dev/tcp/${address}`,
    ];
    const ground = await prepare('');
    for (const way of ways) await sandbox.run(request(ground, { argv: ['bash', '-c', way] }));
    server.close();
    assert.equal(connections.length, 0);
  });

  test(`U3 ${name}: a script has the declared environment and nothing of the host's`, async () => {
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
  });

  test(`U3 ${name}: what one command was given is gone for the next of the same run`, async () => {
    const ground = await prepare('echo "[${TEST_API_KEY:-}]"');
    const first = exited(await sandbox.run(request(ground, { env: { TEST_API_KEY: 'k-123' } })));
    const second = exited(await sandbox.run(request(ground)));
    assert.deepEqual([first.stdout, second.stdout], ['[k-123]\n', '[]\n']);
  });

  test(`R5 ${name}: long output keeps its beginning and its end, with a marker between`, async () => {
    const { stdout, truncated } = await runScript(
      'i=0; while [ $i -lt 500 ]; do echo "line $i"; i=$((i+1)); done',
      [],
      { outputCap: 300 },
    );
    assert.ok(truncated);
    assert.match(stdout, /^line 0\n[^]*characters left out[^]*line 499\n$/);
    assert.ok(stdout.length < 400);
  });

  test(`R5 ${name}: a script that does not end is ended when its time is up`, async () => {
    for (const script of ['while :; do :; done', 'sleep 1000', "awk 'BEGIN { while (1) {} }'"]) {
      const ground = await prepare(script);
      const began = performance.now();
      const outcome = await sandbox.run(request(ground, { timeoutMs: 1_000 }));
      assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'timeout', script);
      assert.ok(performance.now() - began < 15_000, script);
    }
  });

  test(`T11 ${name}: a script is ended when its call is cancelled`, async () => {
    const ground = await prepare('echo begun > begun.txt; while :; do :; done');
    const controller = new AbortController();
    const begun = appears('begun.txt', ground.scratch);
    const running = sandbox.run(request(ground, { signal: controller.signal, timeoutMs: 60_000 }));
    await begun;
    controller.abort();
    const outcome = await running;
    assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'cancelled');
    const next = await sandbox.run(request(ground, { signal: controller.signal }));
    assert.equal(next.status === 'stopped' ? next.reason : next, 'cancelled');
  });

  test(`T9 ${name}: a script that eats memory ends alone, and the next one runs`, async () => {
    const hog = `awk 'BEGIN { x = "0123456789abcdef"; while (1) { x = x x; a[n++] = x } }'`;
    const outcome = await sandbox.run(request(await prepare(hog), { timeoutMs: 60_000 }));
    const failed = outcome.status === 'stopped' || (outcome.status === 'exited' && outcome.exitCode !== 0);
    assert.ok(failed, JSON.stringify(outcome));
    assert.equal((await runScript('echo fine')).stdout, 'fine\n');
  });

  test(`R5 ${name}: endless output ends, and little of it is kept`, async () => {
    const flood = `awk 'BEGIN { while (1) print "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" }'`;
    const outcome = await sandbox.run(request(await prepare(flood), { timeoutMs: 1_500, outputCap: 1_000 }));
    assert.ok(outcome.status !== 'unavailable');
    assert.ok(outcome.status === 'stopped' || outcome.exitCode !== 0, JSON.stringify(outcome));
    assert.ok(outcome.stdout.length + outcome.stderr.length < 5_000);
  });

  test(`R5 ${name}: a program that is not there is said to be unavailable, with what to install`, async () => {
    const ground = await prepare('');
    const outcome = await sandbox.run(request(ground, { argv: ['no-such-program-0', 'x'] }));
    assert.equal(outcome.status, 'unavailable');
    assert.match(outcome.status === 'unavailable' ? outcome.message : '', /no-such-program-0.*install/);
  });

  test(`T10 ${name}: commands of several runs go on side by side`, async () => {
    const grounds = await Promise.all(['one', 'two', 'three'].map((word) => prepare(`echo ${word}`)));
    const outcomes = await Promise.all(grounds.map((ground) => sandbox.run(request(ground))));
    assert.deepEqual(
      outcomes.map((outcome) => exited(outcome).stdout),
      ['one\n', 'two\n', 'three\n'],
    );
  });
}

async function appears(file: string, folder: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename === file) return;
}

type Exited = Extract<SandboxOutcome, { status: 'exited' }>;

function exited(outcome: SandboxOutcome): Exited {
  assert.ok(outcome.status === 'exited', JSON.stringify(outcome));
  return outcome;
}
