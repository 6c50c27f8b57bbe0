import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { hashNamedFiles } from '../../src/tools/bound-files.ts';
import type { FileScopes } from '../../src/tools/built-in/run-folders.ts';

async function setUp(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-bound-'));
  t.after(() => rm(root, { recursive: true }));
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  };
  for (const folder of ['scratch', 'chat', 'skill']) mkdirSync(path.join(root, folder));
  for (const [name, text] of Object.entries(files)) write(name, text);
  const places: FileScopes = [
    { kind: 'scratch', seen: ['/scratch'], host: path.join(root, 'scratch') },
    { kind: 'chat', seen: [path.join(root, 'chat'), '/chat'], host: path.join(root, 'chat') },
    { kind: 'skill', seen: ['/skill'], skill: { directory: path.join(root, 'skill') } },
  ];
  return { root, write, hash: (input: unknown) => hashNamedFiles(places, input) };
}

const files = {
  'chat/report.sh': 'echo fine',
  'chat/sub/data.csv': 'a;b',
  'chat/other.txt': 'nobody reads it',
  'scratch/run.py': 'import helper\n',
  'scratch/helper.py': 'print(1)\n',
  'skill/scripts/sum.sh': 'cat /chat/sub/data.csv\n',
};

/** How a command can lead to a file: the hash of each follows that file. */
const readers: readonly (readonly [reads: keyof typeof files, input: unknown])[] = [
  ['chat/report.sh', { command: 'sh /chat/report.sh' }],
  ['chat/report.sh', { command: 'sh "/chat"/report.sh' }],
  ['chat/report.sh', { command: 'cd /chat && sh ./report.sh' }],
  ['chat/report.sh', { command: 'cd /chat && make' }],
  ['chat/report.sh', { command: 'sh /chat/*.sh' }],
  ['chat/report.sh', { command: 'sh /chat/rep\\ort.sh' }],
  ['chat/report.sh', { command: "sh /chat/rep''ort.sh" }],
  ['chat/report.sh', { command: 'd=/chat; sh $d/rep"ort".sh' }],
  ['chat/report.sh', { command: 'cd /; sh ch?t/r*' }],
  ['chat/report.sh', { command: 'sh /chat/./sub/../report.sh' }],
  ['chat/report.sh', { command: 'find /chat -type f' }],
  ['chat/report.sh', { command: 'python3 -m report' }],
  ['chat/report.sh', { path: 'scripts/x.sh', args: ['/chat/report.sh'] }],
  ['chat/report.sh', { path: ['report.sh', 'other.txt'], caption: 'x' }],
  ['chat/sub/data.csv', { command: 'ls /chat/sub' }],
  ['chat/sub/data.csv', { command: 'cp -r /chat/sub/ .' }],
  ['chat/sub/data.csv', { path: 'scripts/sum.sh', args: [] }],
  ['chat/sub/data.csv', { command: 'sh /skill/scripts/sum.sh' }],
  ['scratch/run.py', { command: 'python3 run.py' }],
  ['scratch/helper.py', { command: 'python3 /scratch/run.py' }],
];

test('S16 a call is bound to each file that it names, by path, name, folder or pattern, and to those that these name', async (t) => {
  for (const [file, input] of readers) {
    const { hash, write } = await setUp(t, files);
    const before = await hash(input);
    assert.equal(await hash(input), before, 'nothing changed');
    write(file, 'echo evil');
    assert.notEqual(await hash(input), before, `${file} by ${JSON.stringify(input)}`);
  }
});

test('S16 a call is not bound to files that it does not name', async (t) => {
  const { hash, write } = await setUp(t, files);
  const named = [{ command: 'sh /chat/report.sh' }, { path: 'scripts/sum.sh', args: ['1d6'] }];
  const before = await Promise.all(named.map(hash));
  assert.equal(await hash({ command: 'date -u' }), undefined);
  write('chat/other.txt', 'changed');
  write('chat/new.txt', 'came');
  assert.deepEqual(await Promise.all(named.map(hash)), before);
});

test('S16 a file that comes, goes or turns into a link changes what a call is bound to', async (t) => {
  const { root, hash, write } = await setUp(t, files);
  const input = { command: 'python3 /scratch/run.py' };
  const seen = [await hash(input)];
  const changes = [
    () => write('scratch/run.py', 'import pandas\n'),
    () => write('chat/pandas.py', 'print(2)'),
    () => rmSync(path.join(root, 'chat/pandas.py')),
    () => symlinkSync('/chat/report.sh', path.join(root, 'chat/pandas.py')),
    () => write('chat/report.sh', 'the link leads here'),
  ];
  for (const change of changes) {
    change();
    seen.push(await hash(input));
  }
  for (const [index, now] of seen.entries()) assert.notEqual(now, seen[index - 1], `change ${index}`);
});

test('S16 of a folder with more files than are looked at, all are bound by size and time', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 2_100 }, (_, n) => [`chat/many/${n}.txt`, `${n}`]));
  const { hash, write } = await setUp(t, many);
  const input = { command: 'sh /chat/many/7.txt' };
  const before = await hash(input);
  assert.notEqual(before, undefined);
  for (const name of Object.keys(many)) write(name, 'longer than before');
  assert.notEqual(await hash(input), before);
});
