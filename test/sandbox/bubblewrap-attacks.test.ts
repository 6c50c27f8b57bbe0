import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { hasProgram, searchedFolders } from '../../src/sandbox/inside-sandbox.ts';
import type { SandboxRequest } from '../../src/sandbox/sandbox.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { copySystem } from '../support/copy-system.ts';
import { exited, makeGround, requestOf, type Ground } from '../support/sandbox-contract.ts';
import { isRunning } from '../support/sandbox-limits-contract.ts';
import { until } from '../support/until.ts';

const { bwrap, skip } = bubblewrapHere;
const limits = { memoryMb: 300, cpuSeconds: 20, processes: 64, diskMb: 24 };
const roots: string[] = [];
const made: { ground?: Ground } = {};
const sandbox = skip === false ? createBubblewrapSandbox({ bwrap, limits }) : undefined;

before(async () => {
  if (skip === false) made.ground = await makeGround(roots);
});
after(async () => {
  await sandbox?.close();
  await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
});

async function sh(script: string, more: Partial<SandboxRequest> = {}): Promise<string> {
  assert.ok(made.ground && sandbox);
  const outcome = await sandbox.run(requestOf(sandbox, made.ground, { argv: ['sh', '-c', script], ...more }));
  return exited(outcome).stdout;
}

test(
  'S1 T9 bubblewrap: nothing of the system can be written, its settings in /proc/sys neither',
  { skip },
  async () => {
    const pattern = '/proc/sys/kernel/core_pattern';
    const before = await readFile(pattern, 'utf8');
    const places = [
      '/x',
      '/dev/x',
      '/etc/x',
      '/etc/passwd',
      '/run/x',
      '/usr/x',
      '/bin/sh',
      '/skill/x',
      pattern,
    ];
    // What is there already is written back: a sandbox that let it would change nothing.
    const lines = [...places, '/proc/sysrq-trigger', '/proc/self/oom_score_adj'].map((place) =>
      place === pattern
        ? `(cat ${pattern} > /tmp/was; cat /tmp/was > ${pattern}) 2>/dev/null && echo ${place}`
        : `(: >> ${place}) 2>/dev/null && echo ${place}`,
    );
    assert.equal(await sh(`${lines.join('\n')}\ntrue`), '');
    assert.equal(await readFile(pattern, 'utf8'), before);
  },
);

test(
  'T9 bubblewrap: a command has an own user without privileges, own processes, no terminal, little of /dev',
  { skip },
  async () => {
    const status = await sh('cat /proc/self/status');
    assert.match(status, /^NoNewPrivs:\t1$/m);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      assert.match(status, new RegExp(`^Cap${set}:\t0+$`, 'm'));
    assert.equal(
      await sh('id -u; whoami; hostname; echo $HOME; pwd'),
      '1000\nskillet\nsandbox\n/scratch\n/scratch\n',
    );
    const processes = (await sh('echo /proc/[0-9]*')).trim().split(' ');
    assert.ok(processes.length <= 4, processes.join(' '));
    assert.equal(await sh('(: > /dev/tty) 2>/dev/null || echo none'), 'none\n');
    assert.match(await sh('echo /dev/*; kill -9 -1; echo alive'), /^\/dev\/console|\/dev\/core/);
    assert.doesNotMatch(await sh('ls /dev'), /sda|vda|mem|kmsg|kvm|fuse|loop/);
    assert.equal(await sh('(unshare -U true || unshare -r true) 2>/dev/null || echo none'), 'none\n');
  },
);

test('S2 U3 bubblewrap: what a skill declares shows in no command line of the host', { skip }, async () => {
  assert.ok(made.ground && sandbox);
  const controller = new AbortController();
  const running = sandbox.run(
    requestOf(sandbox, made.ground, {
      argv: ['sleep', '62.7351'],
      env: { TEST_API_KEY: 'canary-77c1' },
      signal: controller.signal,
    }),
  );
  await until(() => isRunning('62.7351'));
  assert.equal(await isRunning('canary-77c1'), false);
  controller.abort();
  await running;
});

test('T9 bubblewrap: localhost is found, with a network and without', { skip }, async (t) => {
  const python = 'python3 -c \'import socket; print(socket.gethostbyname("localhost"))\'';
  for (const network of [[], ['api.example.com']]) {
    const dns = "require('dns').lookup('localhost', (error, address) => console.log(error ?? address))";
    assert.match(await sh(`node -e "${dns}"`, { network }), /^(127\.0\.0\.1|::1)$/m);
    if ((await sh('command -v python3 || true')) === '') t.diagnostic('there is no python3');
    else assert.equal(await sh(python, { network }), '127.0.0.1\n');
  }
});

test('T9 bubblewrap: a fork bomb ends, and the next command runs', { skip }, async () => {
  assert.ok(made.ground && sandbox);
  // A thousand at most, where nothing stops it.
  const bomb = [
    'sh',
    '-c',
    'b() { [ $1 -gt 9 ] && sleep 60; b $(($1+1)) & b $(($1+1)) & wait; }; b 1',
  ] as const;
  const outcome = await sandbox.run(requestOf(sandbox, made.ground, { argv: bomb }));
  assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'processes');
  assert.equal(await sh('echo fine'), 'fine\n');
});

test(
  'T9 bubblewrap: files that are mapped, without a name and closed, fill the disk',
  { skip },
  async (t) => {
    assert.ok(made.ground && sandbox);
    if (process.getuid?.() !== 0) return t.skip('only root may look at mapped files');
    if ((await sh('command -v python3 || true')) === '') return t.skip('needs python3');
    const script = `
import ctypes, os, time
# Python's own mmap keeps the file open.
mmap = ctypes.CDLL(None).mmap
mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for i in range(4):
    fd = os.open("f", os.O_RDWR | os.O_CREAT)
    os.unlink("f")
    os.write(fd, bytes(8000000))
    mmap(None, 8000000, 1, 1, fd, 0)
    os.close(fd)
time.sleep(300)`;
    const argv = ['python3', '-c', script] as const;
    const outcome = await sandbox.run(requestOf(sandbox, made.ground, { argv, timeoutMs: 8_000 }));
    assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'disk');
  },
);

test(
  'T9 bubblewrap: what waits in sockets counts as memory, and few ask for more room',
  { skip },
  async () => {
    assert.ok(made.ground);
    const within = createBubblewrapSandbox({ bwrap, limits: { ...limits, memoryMb: 150 } });
    const script = `const dgram = require('node:dgram');
    const sockets = Array.from({ length: COUNT }, () => dgram.createSocket('udp4').bind(0, '127.0.0.1'));
    sockets[0].on('listening', () => {
      const before = sockets[0].getSendBufferSize();
      sockets[0].setSendBufferSize(before / 2);
      console.log(sockets[0].getSendBufferSize() === before);
      setTimeout(() => process.exit(), COUNT === 60 ? 0 : 300_000);
    });`;
    const run = (count: number) => {
      assert.ok(made.ground);
      const argv = ['node', '-e', script.replaceAll('COUNT', String(count))] as const;
      return within.run(requestOf(within, made.ground, { argv }));
    };
    assert.equal(exited(await run(60)).stdout, 'true\n');
    const many = await run(900);
    await within.close();
    assert.equal(many.status === 'stopped' ? many.reason : many, 'memory');
  },
);

const kernelMemory = {
  'page tables': `
step = 1 << 36
for i in range(6):
    p = libc.mmap(None, step, 1, 0x4022, -1, 0)
    libc.madvise(p, step, 15)
    for o in range(0, step, 1 << 21): ctypes.c_char.from_address(p + o).value`,
  pipes: `
import fcntl
for k in range(40):
    if os.fork() == 0:
        held = []
        for i in range(480):
            r, w = os.pipe()
            try: fcntl.fcntl(w, 1031, 1 << 20)
            except OSError: pass
            os.set_blocking(w, False)
            try:
                while True: os.write(w, b'x' * 65536)
            except BlockingIOError: held.append((r, w))
        time.sleep(300)`,
  timers: `
t = ctypes.c_void_p()
while libc.timer_create(1, None, ctypes.byref(t)) == 0: pass`,
  'names in memory': `
for i in range(200000): os.close(os.open('/tmp/%d' % i, os.O_CREAT))
for i in range(200000): os.close(os.open('/dev/shm/%d' % i, os.O_CREAT))`,
  'memory areas': `
for k in range(16):
    if os.fork() == 0:
        p = libc.mmap(None, 4096 * 65000, 0, 0x4022, -1, 0)
        for i in range(32000): libc.mprotect(p + i * 8192, 4096, 1)
        time.sleep(300)`,
};

for (const [what, script] of Object.entries(kernelMemory)) {
  test(
    `T9 bubblewrap: the kernel's own memory counts as the command's: ${what}`,
    { skip: skip || (hasProgram('/', searchedFolders, 'python3') ? false : 'there is no python3') },
    async (t) => {
      assert.ok(made.ground);
      const within = createBubblewrapSandbox({
        bwrap,
        limits: { ...limits, cpuSeconds: 200, memoryMb: 128 },
      });
      t.after(() => within.close());
      const libc = `import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]`;
      const argv = ['python3', '-c', `${libc}\n${script}\ntime.sleep(300)`] as const;
      const outcome = await within.run(requestOf(within, made.ground, { argv, timeoutMs: 250_000 }));
      assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'memory');
    },
  );
}

test('T9 bubblewrap: the kernel is asked for nothing that knows no namespace', { skip }, async (t) => {
  if ((await sh('command -v perl || true')) === '' || process.arch !== 'x64')
    return t.skip('needs perl on an x64 system');
  const script = [
    'socket(S, $_, 1, 0) ? print qq($_ ok\\n) : print qq($_ refused\\n) for 1, 2, 40;',
    'print syscall($_, 0, -3, 0) < 0 ? qq($_ refused\\n) : qq($_ ok\\n) for 250, 272, 321, 425, 29, 64, 68, 240, 447, 101, 310, 438, 103;',
  ].join(' ');
  const said = await sh(`perl -e '${script}'`);
  assert.match(said, /^1 ok\n2 ok\n40 refused\n(\d+ refused\n){13}$/);
});

test(
  'S2 T9 bubblewrap: the first process and the kernel tell nothing of how they were started',
  { skip },
  async () => {
    assert.ok(made.ground);
    const said = await sh(
      'cat /proc/*/cmdline | tr "\\0" " "; cat /proc/cmdline; echo; ls -l /proc/1/fd 2>&1',
    );
    assert.match(said, /bwrap/);
    assert.ok(!said.includes(path.dirname(made.ground.scratch)), said);
    const boot = (await readFile('/proc/cmdline', 'utf8')).trim();
    assert.ok(boot === '' || !said.includes(boot), said);
  },
);

test(
  'S1 T9 bubblewrap: folders of the bot are covered where they lie within the system that commands see',
  { skip },
  async () => {
    assert.ok(made.ground);
    const rootfs = path.join(path.dirname(made.ground.skill), 'system');
    await copySystem(rootfs, ['sh', 'cat', 'ls']);
    const data = path.join(rootfs, 'usr', 'data');
    await mkdir(data);
    await writeFile(path.join(data, 'secret.txt'), 'canary-91');
    await writeFile(path.join(rootfs, 'usr', 'config.toml'), 'canary-92');
    const hidden = [data, path.join(rootfs, 'usr', 'config.toml')];
    const script = 'ls /usr/data; cat /usr/data/secret.txt /usr/config.toml /usr/open.txt';
    await writeFile(path.join(rootfs, 'usr', 'open.txt'), 'open\n');
    for (const covered of [hidden, []]) {
      const own = createBubblewrapSandbox({ bwrap, limits, rootfs: () => rootfs, hidden: covered });
      const outcome = exited(await own.run(requestOf(own, made.ground, { argv: ['sh', '-c', script] })));
      await own.close();
      assert.match(outcome.stdout, /open\n$/);
      assert.equal(outcome.stdout.includes('canary-'), covered.length === 0, outcome.stdout);
    }
  },
);

test(
  'R6 bubblewrap: in a system of its own, what is missing is told as a package to declare',
  { skip },
  async () => {
    assert.ok(made.ground);
    const rootfs = path.join(path.dirname(made.ground.skill), 'other');
    await copySystem(rootfs, ['sh']);
    const own = createBubblewrapSandbox({ bwrap, limits, rootfs: () => rootfs });
    const outcome = await own.run(requestOf(own, made.ground, { argv: ['pdftotext', 'x'] }));
    await own.close();
    assert.equal(outcome.status, 'unavailable');
    assert.match(
      outcome.status === 'unavailable' ? outcome.message : '',
      /poppler-utils.*skillet sandbox build/,
    );
  },
);

test(
  'T9 bubblewrap: a command gets no descriptor of the bot, and ends when the bot is killed',
  { skip },
  async () => {
    assert.ok(made.ground);
    const { scratch, beside } = made.ground;
    const program = `
    import { createBubblewrapSandbox } from ${JSON.stringify(pathToFileURL(path.resolve('src/sandbox/bubblewrap/bubblewrap.ts')).href)};
    const sandbox = createBubblewrapSandbox({ bwrap: ${JSON.stringify(bwrap)}, limits: ${JSON.stringify(limits)} });
    const request = { scratch: ${JSON.stringify(scratch)}, network: [], env: {}, timeoutMs: 600_000, outputCap: 10_000, signal: new AbortController().signal };
    const open = await sandbox.run({ ...request, argv: ['sh', '-c', 'for fd in /proc/self/fd/*; do readlink $fd; done; cat <&7'] });
    console.log(JSON.stringify(open));
    await sandbox.run({ ...request, argv: ['sleep', '63.' + '1193'] });`;
    const inherited = openSync(path.join(beside, 'secret.txt'), 'r');
    const bot = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', 'ignore', 'ignore', inherited],
      cwd: path.join(import.meta.dirname, '..', '..'),
    });
    closeSync(inherited);
    const [line] = (await once(bot.stdout ?? bot, 'data')) as [Buffer];
    const { stdout } = JSON.parse(line.toString()) as { stdout: string };
    for (const target of stdout.trim().split('\n')) {
      assert.match(target, /^$|^\/dev\/null$|\/skillet-pipe-\w+\/pipe \(deleted\)$/);
    }
    await until(() => isRunning('63.1193'));
    bot.kill('SIGKILL');
    await until(async () => !(await isRunning('63.1193')));
  },
);
