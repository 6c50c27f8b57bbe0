import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createTarWriter, listTar, type FoundMember } from '../../src/lib/files/tar.ts';

function folder(t: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-tar-'));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

async function write(file: string, members: readonly (readonly [string, Buffer])[]): Promise<void> {
  const handle = await open(file, 'wx');
  const tar = createTarWriter(handle);
  for (const [name, bytes] of members)
    await tar.add({ name, size: bytes.length, mode: 0o640, mtimeMs: 1_700_000_000_000 }, [bytes]);
  await tar.end();
  await handle.close();
}

async function list(file: string): Promise<readonly FoundMember[]> {
  const handle = await open(file, 'r');
  return listTar(handle).finally(() => handle.close());
}

const long = `${'folder/'.repeat(40)}${'n'.repeat(200)}.txt`;
const contents: readonly (readonly [string, Buffer])[] = [
  ['a.txt', Buffer.from('one')],
  ['leer', Buffer.alloc(0)],
  [long, Buffer.alloc(512, 1)],
  ['Grüße an 你 🙂/zeile\numbruch', Buffer.alloc(513, 2)],
  ['last', Buffer.alloc(100_000, 3)],
];

test('L16 an archive is read back as it was written, also by the tar of the system', async (t) => {
  const dir = folder(t);
  const file = path.join(dir, 'x.tar');
  await write(file, contents);
  const found = await list(file);
  const bytes = readFileSync(file);
  assert.deepEqual(
    found.map(({ name, at, size }) => [name, bytes.subarray(at, at + size)]),
    contents,
  );
  assert.ok(found.every(({ mode, mtimeMs }) => mode === 0o640 && mtimeMs === 1_700_000_000_000));
  execFileSync('tar', ['-xf', file, '-C', dir]);
  for (const [name, content] of contents) assert.deepEqual(readFileSync(path.join(dir, name)), content, name);
});

test('L16 an archive of the tar of the system is read, too', async (t) => {
  const dir = folder(t);
  mkdirSync(path.join(dir, 'in/deep'), { recursive: true });
  writeFileSync(path.join(dir, 'in/deep/file'), 'text');
  const file = path.join(dir, 'x.tar');
  execFileSync('tar', ['--format=ustar', '-cf', file, '-C', dir, 'in/deep/file']);
  const [found] = await list(file);
  assert.deepEqual([found?.name, found?.size], ['in/deep/file', 4]);
});

test('L16 sizes from 8 GiB are written and read', async (t) => {
  const file = path.join(folder(t), 'x.tar');
  const size = 9 * 2 ** 30 + 5;
  const handle = await open(file, 'wx');
  const tar = createTarWriter(handle);
  await tar.add({ name: 'huge', size, mode: 0o600, mtimeMs: 0 }, []);
  const { size: written } = await handle.stat();
  await handle.close();
  // The rest is a hole.
  truncateSync(file, written + size + 1_024);
  assert.deepEqual(
    (await list(file)).map((one) => one.size),
    [size],
  );
});

test('L16 a cut or damaged archive is refused wherever it is cut', async (t) => {
  const dir = folder(t);
  const file = path.join(dir, 'x.tar');
  await write(file, contents);
  const bytes = readFileSync(file);
  const end = bytes.length - 1024;
  for (let at = 0; at <= end; at += 256) {
    writeFileSync(path.join(dir, 'cut'), bytes.subarray(0, at));
    await assert.rejects(list(path.join(dir, 'cut')), /cut off/, String(at));
  }
  for (const at of [0, 100, 124, 148, 156, 257]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    writeFileSync(path.join(dir, 'changed'), changed);
    await assert.rejects(list(path.join(dir, 'changed')), /damaged at byte 0/, String(at));
  }
  writeFileSync(path.join(dir, 'other'), 'no archive at all. '.repeat(100));
  await assert.rejects(list(path.join(dir, 'other')), /damaged at byte 0/);
});

test('L16 links, folders and names that lead out of a folder are refused', async (t) => {
  const dir = folder(t);
  writeFileSync(path.join(dir, 'file'), 'x');
  symlinkSync('/etc/passwd', path.join(dir, 'link'));
  mkdirSync(path.join(dir, 'empty'));
  const made = (name: string, ...args: readonly string[]): string => {
    const file = path.join(dir, name);
    execFileSync('tar', ['-P', '-cf', file, '-C', dir, ...args]);
    return file;
  };
  for (const file of [
    made('1', 'link'),
    made('2', 'empty'),
    made('3', '--transform=s,file,../file,', 'file'),
    made('4', path.join(dir, 'file')),
    made('5', '--transform=s,file,a//b,', 'file'),
    made('6', '--transform=s,file,a/./b,', 'file'),
    made('7', '--format=pax', `--transform=s,file,${'x/'.repeat(100)}../y,`, 'file'),
  ])
    await assert.rejects(list(file), /is no plain file|is no relative path of names/, file);
  await write(path.join(dir, '8'), [
    ['same', Buffer.alloc(1)],
    ['same', Buffer.alloc(2)],
  ]);
  await assert.rejects(list(path.join(dir, '8')), /is in it twice/);
  await assert.rejects(write(path.join(dir, '9'), [['../out', Buffer.alloc(0)]]), /for no archive/);
});

test('L16 a size has its place in the header up to 8 GiB, and beyond in a header before it', async (t) => {
  const file = path.join(folder(t), 'x.tar');
  const sizes = [8 ** 11 - 1, 8 ** 11];
  for (const size of sizes) {
    const handle = await open(file, 'w');
    // Without its bytes: the headers tell.
    await createTarWriter(handle).add({ name: 'large', size, mode: 0o600, mtimeMs: 0 }, []);
    await handle.close();
    const bytes = readFileSync(file).toString('latin1');
    const isPlain = size === sizes[0];
    assert.equal(bytes.slice(124, 135), isPlain ? '77777777777' : '00000000023', 'the first header');
    assert.equal(bytes.includes(`19 size=${size}\n`), !isPlain);
    await assert.rejects(list(file), /cut off/);
  }
});

test('S15 L16 an extended header has 64 KiB at most, and a size that is no number is damage', async (t) => {
  const file = path.join(folder(t), 'x.tar');
  await write(file, [[long, Buffer.from('one')]]);
  const good = readFileSync(file);
  const changed = (octal: string): Buffer => {
    const bytes = Buffer.from(good);
    bytes.write(octal, 124, 'latin1');
    bytes.fill(' ', 148, 156);
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return Buffer.concat([bytes, Buffer.alloc(70_000)]);
  };
  for (const [octal, problem] of [
    ['00000200001', /is too long/],
    ['00000200000', /extended header is damaged/],
    ['not a size.', /cut off/],
    ['-0000000001', /./],
  ] as const) {
    writeFileSync(file, changed(octal));
    await assert.rejects(list(file), problem, octal);
  }
});
