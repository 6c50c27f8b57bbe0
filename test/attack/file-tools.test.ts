import assert from 'node:assert/strict';
import { sendFileTool } from '../../src/tools/built-in/send-file.ts';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { ToolOutcome } from '../../src/core/tool-call.ts';
import type { Tool } from '../../src/core/tool.ts';
import { openInside, type Way } from '../../src/lib/files/open-inside.ts';
import { listInside } from '../../src/lib/files/list-inside.ts';
import type { FileScopes } from '../../src/tools/built-in/run-folders.ts';
import { writeInside } from '../../src/lib/files/write-inside.ts';
import { listFilesTool, readFileTool, writeFileTool } from '../../src/tools/built-in/file-tools.ts';
import { grepFilesTool } from '../../src/tools/built-in/grep-files.ts';
import { callOneTool } from '../support/call-one-tool.ts';

const secret = 'canary-77b1c0';
const quota = 1_000_000;
const linux = process.platform === 'linux' ? false : 'needs Linux';

/** Folders of a run, and one beside them with a secret that no tool may show or change. */
function makeGround(t: TestContext) {
  const root = mkdtempSync(path.join(tmpdir(), 'skillet-files-'));
  const threads: Worker[] = [];
  t.after(async () => {
    for (const thread of threads) await thread.terminate();
    rmSync(root, { recursive: true, force: true });
  });
  const at = (...names: readonly string[]): string => path.join(root, ...names);
  for (const folder of ['scratch', 'chat', 'beside', 'skill']) mkdirSync(at(folder));
  writeFileSync(at('beside', 'f'), secret);
  writeFileSync(at('skill', 'SKILL.md'), 'the skill');
  const places: FileScopes = [
    { kind: 'scratch', seen: ['/scratch'], host: at('scratch') },
    { kind: 'chat', seen: ['/chat'], host: at('chat') },
    { kind: 'skill', seen: ['/skill'], skill: { directory: at('skill') } },
  ];
  const call = async (tool: Tool, input: unknown): Promise<string> => textOf(await callOneTool(tool, input));
  return {
    at,
    keepDoing: (what: string) => keepDoing(threads, what),
    read: (file: string) => call(readFileTool(places), { path: file }),
    write: (file: string, content = 'new') => call(writeFileTool(places, quota), { path: file, content }),
    list: (folder?: string) => call(listFilesTool(places), folder === undefined ? {} : { path: folder }),
    send: (file: string) => call(sendFileTool(places), { path: file }),
    grep: (text: string, file?: string) => call(grepFilesTool(places), { text, path: file }),
  };
}

function textOf({ content }: ToolOutcome): string {
  return String(content);
}

const absent = (file: string): string =>
  `error FILE_NOT_FOUND: there is no file ${JSON.stringify(file)}; files are in /scratch, /chat, /skill`;

test(
  'T13 R4 links, pipes, sockets, devices, second names and what lies outside get the answer of what is not there',
  { skip: linux },
  async (t) => {
    const { at, read, write, send, list } = makeGround(t);
    const scratch = (...names: readonly string[]): string => at('scratch', ...names);
    mkdirSync(scratch('a'));
    symlinkSync(at('beside', 'f'), scratch('link'));
    symlinkSync('../beside/f', scratch('relative'));
    symlinkSync(at('beside'), scratch('sub'));
    symlinkSync(at('beside'), scratch('a', 'middle'));
    symlinkSync(at('beside', 'absent'), scratch('dangling'));
    symlinkSync('loop', scratch('loop'));
    symlinkSync('a', scratch('own'));
    symlinkSync('/proc/self/environ', scratch('environ'));
    symlinkSync('/dev/zero', scratch('zero'));
    linkSync(at('beside', 'f'), scratch('second'));
    execFileSync('mkfifo', [scratch('pipe'), at('chat', 'pipe')]);
    const server = createServer().listen(scratch('socket'));
    t.after(() => server.close());
    await once(server, 'listening');
    const madeDevice = makeDevice(scratch('device'));
    const names = [
      'link',
      'relative',
      'sub/f',
      'a/middle/f',
      'dangling',
      'loop',
      'own/x',
      'environ',
      'zero',
      'pipe',
      'socket',
    ];
    const outside = [
      ...[
        '/etc/passwd',
        '/proc/self/environ',
        '/proc/self/root/etc/passwd',
        '/dev/fd/0',
        '/dev/stdin',
        '/dev/zero',
      ],
      ...[
        '/scratchy/f',
        '//scratch/f',
        '/Scratch/f',
        '/SCRATCH/f',
        '/',
        '/scratch',
        at('beside', 'f'),
        at('scratch', 'a'),
      ],
      ...[
        'nothing',
        'a',
        '~/.ssh/id_rsa',
        '$HOME/f',
        '%2e%2e/beside/f',
        '．．/beside/f',
        '..\u2215beside/f',
        '\u202ef',
        `${'n'.repeat(300)}`,
      ],
      ...['/skill/absent', 'file:///etc/passwd', '/chat/pipe', 'a/pipe\n'],
    ];
    for (const file of [
      ...names,
      ...names.map((name) => `/scratch/${name}`),
      'second',
      ...(madeDevice ? ['device'] : []),
      ...outside,
    ]) {
      const shown = absent(file.replace(/\s+/g, ' ').trim());
      const expected = file.startsWith('/skill/')
        ? /^error FILE_NOT_FOUND: the skill has no file "absent"$/
        : new RegExp(`^${escaped(shown)}$`);
      assert.match(await read(file), file.length > 200 ? /^error FILE_NOT_FOUND: / : expected, file);
      assert.match(await send(file), file.length > 200 ? /^error FILE_NOT_FOUND: / : expected, file);
    }
    for (const file of names.filter((name) => name !== 'own/x'))
      assert.equal(await write(file), absent(file));
    for (const file of ['/etc/skillet-was-here', '/dev/null', '/proc/self/comm', at('beside', 'f')])
      assert.equal(await write(file), absent(file));
    assert.match(await write('n'.repeat(300)), /^error FILE_NOT_FOUND: /);
    assert.match(await list('sub'), /^error FILE_NOT_FOUND: /);
    assert.match(await list('/etc'), /^error FILE_NOT_FOUND: /);
    assert.equal(await list(), '/scratch:\na/\nsecond (13 bytes)\n/chat:\nempty');
    assert.equal(await write('second'), '3 bytes were written.', 'a name is replaced, not what it led to');
    assert.deepEqual([readdirSync(at('beside')), readFileSync(at('beside', 'f'), 'utf8')], [['f'], secret]);
  },
);

test('T13 R4 a malformed path is INVALID_PATH for every tool, and the skill is read-only, with what to do instead', async (t) => {
  const { at, read, write, send, list } = makeGround(t);
  for (const file of [
    '',
    ' ',
    '..',
    '../beside/f',
    'a/../../beside/f',
    '/scratch/../beside/f',
    '/chat/..',
    'a\0',
    '/etc/passwd\0.txt',
    'a\\..\\b',
    'x'.repeat(1025),
  ]) {
    for (const tool of [read, write, send, list])
      assert.match(
        await tool(file),
        /^error INVALID_PATH: (give the path of a file|the path holds a NUL|write "\/" between|the path must not hold "\.\.")/,
        JSON.stringify(file),
      );
  }
  for (const file of ['/skill/SKILL.md', '/skill/new', '/skill', '/skill/./SKILL.md'])
    assert.equal(await write(file), 'error INVALID_PATH: /skill is read-only: write to /scratch, /chat');
  for (const file of ['/scratch', '/scratch/', 'x/', '.', '/chat/.'])
    assert.match(await write(file), /^error INVALID_PATH: the path must name a file/, file);
  assert.deepEqual(readdirSync(at('skill')), ['SKILL.md']);
  assert.equal(readFileSync(at('skill', 'SKILL.md'), 'utf8'), 'the skill');
  assert.equal(await read('/skill/SKILL.md'), 'the skill');
});

test('T13 M11 a name can pass for no other line of a listing', async (t) => {
  const { write, list, read } = makeGround(t);
  for (const name of ['a\n', 'b\u202egnp.exe', '"c"', '.hidden/x', 'é', 'e\u0301'])
    assert.equal(await write(`${name}.txt`), '3 bytes were written.', name);
  assert.deepEqual(
    (await list('/scratch')).split('\n').toSorted(),
    [
      '"\\"c\\".txt" (3 bytes)',
      '"a\\n.txt" (3 bytes)',
      '"b\\u202egnp.exe.txt" (3 bytes)',
      '.hidden/',
      'e\u0301.txt (3 bytes)',
      'é.txt (3 bytes)',
    ].toSorted(),
  );
  assert.equal(await read('a\n.txt'), 'new');
});

test('T13 a file is read within its limit: sparse, huge, and growing under the bot', async (t) => {
  const { at, read, write, keepDoing } = makeGround(t);
  writeFileSync(at('scratch', 'sparse'), '');
  truncateSync(at('scratch', 'sparse'), 2 ** 40);
  assert.equal(await read('sparse'), `error FILE_TOO_LARGE: ${2 ** 40} bytes; at most 200000 can be read`);
  assert.match(await write('big', 'x'.repeat(150_000)), /were written/);
  const growing = at('scratch', 'growing');
  writeFileSync(growing, '');
  const writer = keepDoing(`fs.appendFileSync(${JSON.stringify(growing)}, 'x'.repeat(5000))`);
  await writer.turns(1);
  const seen = new Set<string>();
  while (!seen.has('large')) {
    const text = await read('growing');
    if (text.startsWith('error')) assert.match(text, /^error FILE_TOO_LARGE: \d+ bytes; at most 200000/);
    else assert.match(text, /^x*$|^(?:warning CONTENT_TRUNCATED[^\n]*\n)?x+$/);
    seen.add(text.startsWith('error') ? 'large' : 'read');
  }
});

for (const way of ['descriptor', 'path'] as const satisfies readonly Way[]) {
  test(
    `T13 by ${way}: what is swapped for links and a pipe all the time leads nowhere and holds up nobody`,
    { skip: way === 'descriptor' && linux },
    async (t) => {
      const { at, keepDoing } = makeGround(t);
      const root = at('scratch');
      mkdirSync(at('scratch', 'd'));
      writeFileSync(at('scratch', 'd', 'f'), 'inside');
      writeFileSync(at('scratch', 'g'), 'inside');
      symlinkSync(at('beside'), at('scratch', 'l'));
      symlinkSync(at('beside', 'f'), at('scratch', 'm'));
      execFileSync('mkfifo', [at('scratch', 'p')]);
      const moves = ['g t', 'm g', 'g m', 'p g', 'g p', 't g'];
      // By path a folder that is swapped in the middle of it can not be excluded.
      if (way === 'descriptor') moves.unshift('d t', 'l d', 'd l', 't d');
      const swapper = keepDoing(
        `for (const [from, to] of ${JSON.stringify(moves.map((move) => move.split(' ').map((name) => path.join(root, name))))}) {
          for (;;) {
            try { fs.renameSync(from, to); break; }
            // The bot made a folder of that name meanwhile.
            catch { try { fs.rmSync(to, { recursive: true, force: true }); } catch { continue; } }
          }
        }`,
      );
      await swapper.turns(1);
      const seen = { inside: 0, refused: 0 };
      for (let n = 0; n < 400 || seen.inside === 0 || seen.refused === 0; n++) {
        for (const names of [['d', 'f'], ['g'], ['l', 'f']]) {
          const descriptor = openInside({ root, names }, { alone: true, way });
          if (descriptor === undefined) {
            seen.refused += 1;
            continue;
          }
          assert.equal(readFileSync(descriptor, 'utf8'), 'inside');
          closeSync(descriptor);
          seen.inside += 1;
        }
        if (way === 'path') continue;
        if (n % 4 === 0) writeInside({ root, names: ['d', 'w'] }, Buffer.from('x'), way);
        if (n % 20 === 0)
          for (const { path: file } of listInside(root, ['d'], way)?.entries ?? [])
            assert.match(file, /^(f|w|\..*part)$/);
      }
      assert.deepEqual([readdirSync(at('beside')), readFileSync(at('beside', 'f'), 'utf8')], [['f'], secret]);
    },
  );
}

const python = hasPython() ? linux : 'needs python3';
test(
  'T13 a file that a command holds a lease on does not keep the bot waiting',
  { skip: python },
  async (t) => {
    const { at, read } = makeGround(t);
    const file = at('chat', 'leased');
    writeFileSync(file, 'x');
    const program = `import fcntl, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
f = open(sys.argv[1], 'r+')
fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()`;
    const holder = spawn('python3', ['-c', program, file], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    const began = performance.now();
    assert.equal(await read('/chat/leased'), absent('/chat/leased'));
    // The system would let the holder keep it for 45 seconds.
    assert.ok(performance.now() - began < 20_000);
  },
);

/** Does something over and over in a thread of its own until the test ends. */
function keepDoing(threads: Worker[], what: string): Readonly<{ turns(count: number): Promise<void> }> {
  const counted = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const fs = require('node:fs'); const { workerData } = require('node:worker_threads');
    for (;;) { ${what}; Atomics.add(workerData, 0, 1); Atomics.notify(workerData, 0); }`,
    { eval: true, workerData: counted },
  );
  threads.push(worker);
  return {
    async turns(count) {
      for (let seen = Atomics.load(counted, 0); seen < count; seen = Atomics.load(counted, 0))
        await Atomics.waitAsync(counted, 0, seen).value;
    },
  };
}

/** False where nobody may make one here. */
function makeDevice(file: string): boolean {
  return spawnSync('mknod', [file, 'c', '1', '5'], { stdio: 'ignore' }).status === 0;
}

function hasPython(): boolean {
  return spawnSync('python3', ['--version'], { stdio: 'ignore' }).status === 0;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

test(
  'T13 R4 a search opens no link, pipe, device or second name, named or on its way',
  { skip: linux },
  async (t) => {
    const { at, grep } = makeGround(t);
    const scratch = (name: string): string => at('scratch', name);
    symlinkSync(at('beside', 'f'), scratch('link'));
    symlinkSync(at('beside'), scratch('sub'));
    symlinkSync('/dev/zero', scratch('zero'));
    linkSync(at('beside', 'f'), scratch('second'));
    execFileSync('mkfifo', [scratch('pipe')]);
    writeFileSync(scratch('own.txt'), 'mine\n');
    assert.equal(await grep(secret), 'No line of a text file there holds it.');
    assert.match(await grep('MINE'), /own\.txt:1: mine$/);
    for (const name of ['link', 'sub', 'sub/f', 'zero', 'second', 'pipe', '../beside/f', '/etc/passwd'])
      for (const found of [await grep(secret, name), await grep('root', name)])
        assert.doesNotMatch(found, /canary|root:/, name);
  },
);

test('T13 S9 a search of endless short lines gives the first hundred, and says that there is more', async (t) => {
  const { at, grep } = makeGround(t);
  for (let n = 0; n < 50; n++) writeFileSync(at('chat', `${n}.txt`), 'a\n'.repeat(99_000));
  const found = await grep('a');
  assert.equal(found.match(/: a$/gm)?.length, 100);
  assert.match(found, /name a smaller folder/);
});
