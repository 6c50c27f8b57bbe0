import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createKeptFiles } from '../../src/runs/kept-files.ts';
import { folderSize } from '../../src/lib/files/list-inside.ts';
import { removeFolder } from '../../src/lib/files/write-inside.ts';
import { measureFolder, trimFolder } from '../../src/sandbox/limits/measure-disk.ts';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';

const linux = process.platform === 'linux' ? false : 'needs Linux';

/** A folder of an ordinary user: root may enter what is closed to its owner. */
async function asSomebody(t: TestContext, work: (folder: string) => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    const folder = mkdtempSync(path.join(tmpdir(), 'skillet-folders-'));
    t.after(() => removeFolder(folder));
    await work(folder);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

/** 200,000 bytes behind folders that nobody may list or enter. */
function hide(folder: string): void {
  mkdirSync(path.join(folder, 'a/b'), { recursive: true });
  writeFileSync(path.join(folder, 'a/b/big'), Buffer.alloc(200_000, 1));
  chmodSync(path.join(folder, 'a/b'), 0o400);
  chmodSync(path.join(folder, 'a'), 0);
}

/** Folders in folders, their path longer than the system takes. */
function dig(folder: string): void {
  const from = process.cwd();
  try {
    process.chdir(folder);
    for (let depth = 0; depth < 24; depth++) {
      mkdirSync('d'.repeat(200));
      process.chdir('d'.repeat(200));
    }
    writeFileSync('f', 'x');
  } finally {
    process.chdir(from);
  }
}

test(
  'T10 what commands hide in folders that they close to the bot counts all the same',
  { skip: linux },
  (t) =>
    asSomebody(t, async (folder) => {
      hide(folder);
      assert.ok(((await folderSize(folder, 1e9)) ?? 0) >= 200_000);
      hide(path.join(folder, 'more'));
      assert.ok((await measureFolder(folder)) >= 400_000);
      for (let n = 0; n < 200; n++) writeFileSync(path.join(folder, `${n}`), '');
      chmodSync(path.join(folder, 'more/a'), 0);
      assert.ok((await measureFolder(folder)) >= 400_000 + 200 * 512, 'also by du');
    }),
);

test(
  'T10 Q12 a folder is removed whatever commands made of it: closed folders, and paths longer than any',
  { skip: linux },
  (t) =>
    asSomebody(t, async (folder) => {
      for (const make of [hide, dig]) {
        const one = path.join(folder, 'one');
        mkdirSync(one);
        make(one);
        await removeFolder(one);
        assert.equal(existsSync(one), false, make.name);
      }
      await removeFolder(path.join(folder, 'absent'));
    }),
);

test(
  'T10 over the limit what was written last is removed, and no link is followed',
  { skip: linux },
  async (t) => {
    const root = mkdtempSync(path.join(tmpdir(), 'skillet-trim-'));
    t.after(() => removeFolder(root));
    const chat = path.join(root, 'chat');
    mkdirSync(path.join(chat, 'deep'), { recursive: true });
    mkdirSync(path.join(root, 'beside'));
    writeFileSync(path.join(root, 'beside/f'), Buffer.alloc(100_000, 1));
    writeFileSync(path.join(chat, 'first'), Buffer.alloc(100_000, 1));
    // The kernel's clock for files ticks every few milliseconds.
    untilLater(chat);
    writeFileSync(path.join(chat, 'deep/second'), Buffer.alloc(100_000, 1));
    symlinkSync(path.join(root, 'beside'), path.join(chat, 'link'));
    dig(chat);
    const before = await measureFolder(chat);
    await trimFolder(chat, 50_000);
    assert.ok((await measureFolder(chat)) <= before - 50_000);
    assert.ok(existsSync(path.join(chat, 'first')));
    assert.equal(existsSync(path.join(chat, 'deep/second')), false);
    assert.ok(existsSync(path.join(root, 'beside/f')));
  },
);

test(
  'Q12 a conversation folder that a command dated into the future is tidied away in its time',
  { skip: linux },
  async (t) => {
    const workspace = mkdtempSync(path.join(tmpdir(), 'skillet-tidy-'));
    t.after(() => rmSync(workspace, { recursive: true, force: true }));
    const chat = (name: string): string => path.join(workspace, 'chats', name);
    for (const name of ['old', 'future']) mkdirSync(chat(name), { recursive: true });
    utimesSync(chat('old'), new Date(0), new Date(0));
    utimesSync(chat('future'), new Date(2e12 * 2), new Date(2e12 * 2));
    const files = createKeptFiles(createPlainFolders(workspace));
    await files.tidy(Date.now(), 60_000, []);
    assert.deepEqual([existsSync(chat('old')), existsSync(chat('future'))], [false, true]);
    await files.tidy(Date.now() + 120_000, 60_000, []);
    assert.equal(existsSync(chat('future')), false);
  },
);

function untilLater(folder: string): void {
  const probe = path.join(folder, 'probe');
  writeFileSync(probe, '');
  const { ctimeMs } = statSync(probe);
  while (statSync(probe).ctimeMs === ctimeMs) chmodSync(probe, 0o600);
}
