import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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
  'scratch/globs.sh': 'wc /chat/sub/d*.csv; cat /chat/de*/notes',
  'scratch/up.sh': 'cat /chat/sub/../x',
  'skill/scripts/sum.sh': 'cat /chat/sub/data.csv\n',
  'chat/sub/in/deep': '1',
  'chat/ter/x1': '1',
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
  // Each text of an input counts, wherever it stands.
  ['chat/report.sh', { n: 1, none: null, of: [undefined, { deep: ['report'] }] }],
  ['chat/report.sh', { caption: 'x', command: 'cd /; sh ch?t/r*' }],
  ['chat/report.sh', 'report.sh'],
  ['chat/sub/in/deep', { command: 'ls /chat//./sub/' }],
  ['chat/sub/in/deep', { command: 'ls /scratch; ls /chat/sub' }],
  // A pattern in a file means all of the folder that it stands in, and so does a way up.
  ['chat/sub/in/deep', { path: '/scratch/globs.sh' }],
  ['chat/report.sh', { path: '/scratch/globs.sh' }],
  ['chat/other.txt', { path: '/scratch/up.sh' }],
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

/** Calls that name no file, though parts of their words look like it. */
const strangers: readonly unknown[] = [
  { command: 'date -u' },
  { command: 'echo \'a b\' "c"; date' },
  { command: 'ls /sub /chat/none' },
  { command: 'ls /chatter /chat/su /chat/dat' },
  { command: 'ls ./scratch.d/y' },
  { caption: 'reports', n: 7, none: null },
  'date',
  '',
  7,
  null,
  undefined,
];

test('S16 words that only look like the name of a file or a folder bind nothing', async (t) => {
  const { hash } = await setUp(t, files);
  for (const input of strangers) assert.equal(await hash(input), undefined, JSON.stringify(input));
});

test('S16 a pattern in a file binds the folder that it stands in, and not the ones around it', async (t) => {
  const { hash, write } = await setUp(t, { ...files, 'scratch/globs.sh': 'wc /chat/sub/d*.csv' });
  const before = await hash({ path: '/scratch/globs.sh' });
  write('chat/report.sh', 'changed');
  write('chat/ter/x1', 'changed');
  assert.equal(await hash({ path: '/scratch/globs.sh' }), before);
});

test('S16 without a folder on this machine nothing is bound, and no file stays open', async (t) => {
  const gone = { kind: 'chat', seen: ['/chat'], host: '/no/such/folder' } as const;
  assert.equal(await hashNamedFiles([gone], 'ls /chat'), undefined);
  const { hash } = await setUp(t, files);
  const open = (): number => readdirSync('/dev/fd').length;
  const before = open();
  for (let times = 0; times < 5; times++) await hash({ command: 'cat /chat/*' });
  assert.ok(open() <= before, `${open()} of ${before}`);
});

test('S16 a file counts by what is in it, a link by where it leads, and a very long one by size and time', async (t) => {
  const { root, hash, write } = await setUp(t, files);
  const at = (name: string): string => path.join(root, name);
  const then = new Date(1_700_000_000_000);
  const hashed = async (name: string) => {
    utimesSync(at(name), then, then);
    return hash({ command: `sh /${name}` });
  };
  write('scratch/a', 'one');
  linkSync(at('scratch/a'), at('scratch/b'));
  const one = await hashed('scratch/b');
  write('scratch/a', 'two');
  assert.notEqual(await hashed('scratch/b'), one, 'as long and as old, by another name');

  symlinkSync('/first', at('scratch/link'));
  const first = await hash('link');
  rmSync(at('scratch/link'));
  symlinkSync('/other', at('scratch/link'));
  assert.notEqual(await hash('link'), first);
  rmSync(at('scratch/link'));
  symlinkSync('report.sh', at('scratch/link'));
  const through = await hash('link');
  write('chat/report.sh', 'changed');
  assert.notEqual(await hash('link'), through, 'what the link names is bound, too');

  write('scratch/long', '');
  truncateSync(at('scratch/long'), 64_000_001);
  const long = await hashed('scratch/long');
  assert.equal(await hashed('scratch/long'), long);
  utimesSync(at('scratch/long'), then, new Date(1_700_000_001_000));
  assert.notEqual(await hash({ command: 'sh /scratch/long' }), long, 'a time');
});

test('S16 names are looked for in the first 400 kB of a file', async (t) => {
  const before = new Map<string, string | undefined>();
  const { hash, write } = await setUp(t, {
    ...files,
    'scratch/near': `${'x'.repeat(399_900)} report.sh`,
    'scratch/far': `${'x'.repeat(400_000)} report.sh`,
  });
  for (const name of ['near', 'far']) before.set(name, await hash(name));
  write('chat/report.sh', 'changed');
  assert.notEqual(await hash('near'), before.get('near'));
  assert.equal(await hash('far'), before.get('far'));
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

test('S16 of a folder with more files than are looked at, all are bound by size and time, if it is named', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 2_100 }, (_, n) => [`chat/many/${n}.txt`, `${n}`]));
  const { hash, write } = await setUp(t, many);
  const input = { command: 'sh /chat/many/7.txt' };
  const before = await hash(input);
  assert.notEqual(before, undefined);
  // All but 100 are looked at.
  for (const name of Object.keys(many).slice(100, 201)) write(name, 'longer than before');
  assert.notEqual(await hash(input), before);
  assert.equal(await hash({ command: 'date -u' }), undefined);
});
