import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Sandbox, SandboxOutcome, SandboxRequest } from '../../src/sandbox/sandbox.ts';
import { createVirtualSandbox } from '../../src/sandbox/virtual/virtual.ts';
import { testSandboxContract } from '../support/sandbox-contract.ts';
import { until } from '../support/until.ts';

testSandboxContract('virtual', { contains: true, open: (limits) => createVirtualSandbox(limits) });

const source = path.join(import.meta.dirname, '..', '..', 'src');

test('T9 virtual: memory over the limit ends the cell alone and says so', async (t) => {
  const { run } = await ground(t, createVirtualSandbox({ memoryMb: 200 }));
  const hog = `seq 1 900000 | sort -r | tr '\\n' ' ' | fold -w 1 | sort`;
  const outcome = await run(['sh', '-c', hog], { timeoutMs: 60_000 });
  assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'memory');
  assert.equal(stdoutOf(await run(['echo', 'fine'])), 'fine\n');
});

test('T9 virtual: what one command writes to the disk is limited', async (t) => {
  const { run } = await ground(t, createVirtualSandbox({ diskMb: 0.1 }));
  const floods = [
    'while :; do printf "%10000s" x >> big; done',
    'i=0; while :; do : > "f$i"; i=$((i+1)); done',
    'i=0; while :; do mkdir "d$i" || exit 1; i=$((i+1)); done',
    'mkdir a; printf "%1000s" x > a/f; while :; do cp -r a b || exit 1; cp -r b a || exit 1; done',
  ];
  for (const flood of floods) {
    const outcome = await run(['sh', '-c', flood], { timeoutMs: 60_000 });
    assert.ok(outcome.status === 'exited' && outcome.exitCode !== 0, flood);
    assert.match(outcome.stderr, /no space left|into itself/, flood);
    await run(['sh', '-c', 'rm -rf *']);
  }
  const piece = ['sh', '-c', 'printf "%60000s" x >> more'] as const;
  assert.equal(stdoutOf(await run(piece)), '');
  const second = await run(piece);
  assert.ok(second.status === 'exited' && second.exitCode !== 0, 'what is there already counts');
});

test('R5 T9 virtual: files, folders and arguments are as in other shells; python and node are unavailable, with what to install', async (t) => {
  const { run, scratch } = await ground(t, createVirtualSandbox());
  const copying =
    'mkdir -p a/s; echo x > a/b; echo y > a/s/t; cp -r a c; mv a d; cp c/b one; echo z >> one; chmod +x one; find . -type f | sort; cat one; rm -r c d; ls';
  assert.equal(
    stdoutOf(await run(['sh', '-c', copying])),
    './c/b\n./c/s/t\n./d/b\n./d/s/t\n./one\nx\nz\none\n',
  );

  const script =
    'cd "$(dirname "$0")" && pwd; . "$(dirname "$0")/lib.sh"; for each in "$@"; do echo "[$each]"; done';
  await mkdir(path.join(scratch, 'part'));
  await writeFile(path.join(scratch, 'part', 'main.sh'), script);
  await writeFile(path.join(scratch, 'part', 'lib.sh'), 'echo lib');
  for (const options of [[], ['-eu'], ['-euo', 'pipefail']]) {
    const outcome = await run(['bash', ...options, '/scratch/part/main.sh', 'a b', 'c']);
    assert.equal(stdoutOf(outcome), '/scratch/part\nlib\n[a b]\n[c]\n');
  }

  for (const program of ['python3', 'node', 'uv', 'ruby']) {
    const outcome = await run([program, '/skill/scripts/x']);
    assert.ok(outcome.status === 'unavailable', program);
    assert.match(outcome.message, new RegExp(`^${program} is not there .*bubblewrap.*apt-get install`));
  }
});

test('T9 virtual: a cell ends with close, when it was idle for long, and when the bot is killed', async (t) => {
  const idle = await ground(t, createVirtualSandbox({ idleMs: 1 }));
  await idle.run(['true']);
  await gone(idle.scratch);

  const closed = await ground(t, createVirtualSandbox());
  await closed.run(['true']);
  assert.equal((await cellsOf(closed.scratch)).length, 1);
  await closed.sandbox.close();
  assert.equal((await cellsOf(closed.scratch)).length, 0);

  const orphaned = await ground(t, createVirtualSandbox());
  const program = `
    import { createVirtualSandbox } from ${JSON.stringify(pathToFileURL(path.join(source, 'sandbox', 'virtual', 'virtual.ts')).href)};
    const sandbox = createVirtualSandbox();
    const request = { scratch: ${JSON.stringify(orphaned.scratch)}, network: [], env: {}, timeoutMs: 600_000, outputCap: 100, signal: new AbortController().signal };
    await sandbox.run({ ...request, argv: ['echo', 'warm'] });
    console.log('running');
    await sandbox.run({ ...request, argv: ['awk', 'BEGIN { while (1) {} }'] });`;
  const bot = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(bot.stdout, 'data');
  assert.equal((await cellsOf(orphaned.scratch)).length, 1);
  bot.kill('SIGKILL');
  await gone(orphaned.scratch);
});

test('R5 virtual: a run that is aborted while it waits for a cell does not hold up the next one', async (t) => {
  const { run } = await ground(t, createVirtualSandbox({ cells: 1 }));
  const first = new AbortController();
  const running = run(['sleep', '600'], { timeoutMs: 600_000, signal: first.signal });
  await heeded(first.signal);
  const second = new AbortController();
  const aborted = run(['echo', 'second'], { signal: second.signal });
  await heeded(second.signal);
  const third = new AbortController();
  const waiting = run(['echo', 'third'], { signal: third.signal });
  await heeded(third.signal);
  second.abort();
  const outcome = await aborted;
  assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'cancelled');
  first.abort();
  await running;
  assert.equal(stdoutOf(await waiting), 'third\n');
});

test('R5 virtual: without just-bash scripts are unavailable and the message says what to install', async (t) => {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-bare-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(path.join(root, 'package.json'), '{"type":"module"}');
  for (const folder of ['core', 'lib', 'sandbox']) {
    await cp(path.join(source, folder), path.join(root, 'src', folder), { recursive: true });
  }
  const bare = (await import(pathToFileURL(path.join(root, 'src/sandbox/virtual/virtual.ts')).href)) as {
    createVirtualSandbox: typeof createVirtualSandbox;
  };
  const { run } = await ground(t, bare.createVirtualSandbox());
  const outcome = await run(['echo', 'x']);
  assert.ok(outcome.status === 'unavailable');
  assert.match(outcome.message, /npm install just-bash/);
});

async function ground(
  t: TestContext,
  sandbox: Sandbox,
): Promise<
  Readonly<{
    sandbox: Sandbox;
    scratch: string;
    run(argv: SandboxRequest['argv'], more?: Partial<SandboxRequest>): Promise<SandboxOutcome>;
  }>
> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'skillet-virtual-'));
  await mkdir(scratch, { recursive: true });
  t.after(async () => {
    await sandbox.close();
    await rm(scratch, { recursive: true, force: true });
  });
  const signal = new AbortController().signal;
  return {
    sandbox,
    scratch,
    run: (argv, more) =>
      sandbox.run({
        argv,
        scratch,
        network: [],
        env: {},
        timeoutMs: 20_000,
        outputCap: 10_000,
        signal,
        ...more,
      }),
  };
}

/** Waits until something listens to the signal: the run waits for a cell, or has one. */
async function heeded(signal: AbortSignal): Promise<void> {
  await until(async () => getEventListeners(signal, 'abort').length > 0);
}

function stdoutOf(outcome: SandboxOutcome): string {
  assert.ok(outcome.status === 'exited' && outcome.exitCode === 0, JSON.stringify(outcome));
  return outcome.stdout;
}

/** Process ids of the cells that were started for a scratch folder. */
async function cellsOf(scratch: string): Promise<readonly string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return ids.filter((_, index) => {
    const line = lines[index] ?? '';
    return line.includes('shell-worker-process') && line.includes(scratch);
  });
}

async function gone(scratch: string): Promise<void> {
  await until(async () => (await cellsOf(scratch)).length === 0);
}
