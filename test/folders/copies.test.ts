import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { createCopies } from '../../src/folders/create-copies.ts';
import { FolderFull, type Folders } from '../../src/folders/folders.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { foldersContract, names, put, read, remove, write } from '../support/folders-contract.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const chat = 'chats/a';
const quota = 10_000_000;

const server = await startPostgres();
if (server === undefined) {
  test('Q14 files travel by the store', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  foldersContract(async () => openMachine(await server.database()));
  machines(server);
}

type Machine = Readonly<{
  folders: Folders;
  store: Store;
  restart(quota?: number): Promise<Folders>;
  close(): Promise<void>;
}>;

/** A process with a disk of its own. `restart`: another process on the same disk. */
async function openMachine(url: string): Promise<Machine> {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-copies-'));
  const store = await openStore(url);
  const files = store.files();
  assert.ok(files !== undefined);
  const { signals } = store;
  const open = (most = quota): Folders =>
    createCopies({ files, signals, root, quota: most, onFault: (error) => assert.fail(String(error)) });
  return {
    folders: open(),
    store,
    restart: async (most) => open(most),
    async close() {
      await store.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function two(
  t: TestContext,
  { database }: PostgresServer,
): Promise<readonly [Machine, Machine, string]> {
  const url = await database();
  const [one, other] = [await openMachine(url), await openMachine(url)];
  t.after(() => Promise.all([one.close(), other.close()]));
  return [one, other, url];
}

const at = (folders: Folders, file: string): string => path.join(folders.root, chat, file);

function machines(server: PostgresServer): void {
  test('Q14 a conversation goes from machine to machine with its files, links and modes', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    await one.use([chat], 'changes', async () => {
      await put(one, chat, 'a/b/list.txt', 'milk');
      await put(one, chat, 'run.sh', '#!/bin/sh');
      await chmod(at(one, 'run.sh'), 0o755);
      await utimes(at(one, 'run.sh'), 1_000, 1_000);
      await put(one, chat, 'empty', '');
      await mkdir(at(one, 'nothing'));
      await symlink('/etc/passwd', at(one, 'away'));
      await put(one, chat, 'large', 'x'.repeat(3_000_000));
    });
    await other.use([chat], 'changes', async () => {
      assert.equal(await readFile(at(other, 'a/b/list.txt'), 'utf8'), 'milk');
      const { mode, mtimeMs } = await lstat(at(other, 'run.sh'));
      assert.deepEqual([mode & 0o777, mtimeMs], [0o700, 1_000_000]);
      assert.equal(await readFile(at(other, 'empty'), 'utf8'), '');
      assert.ok((await lstat(at(other, 'nothing'))).isDirectory());
      assert.equal(await readlink(at(other, 'away')), '/etc/passwd');
      assert.equal((await readFile(at(other, 'large'), 'utf8')).length, 3_000_000);
      await put(other, chat, 'a/b/list.txt', 'milk, bread');
      await rm(at(other, 'nothing'), { recursive: true });
    });
    assert.equal(await read(one, chat, 'a/b/list.txt'), 'milk, bread');
    assert.deepEqual(await names(one, chat), ['a', 'away', 'empty', 'large', 'run.sh']);
  });

  test('Q14 files change into folders and links and back', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    await write(one, chat, 'a', 'file');
    assert.deepEqual(await names(other, chat), ['a']);
    await other.use([chat], 'changes', async () => {
      await rm(at(other, 'a'));
      await put(other, chat, 'a/inside', 'x');
    });
    assert.equal(await read(one, chat, 'a/inside'), 'x');
    await one.use([chat], 'changes', async () => {
      await rm(at(one, 'a'), { recursive: true });
      await symlink('nowhere', at(one, 'a'));
    });
    await other.use([chat], 'reads', async () => assert.equal(await readlink(at(other, 'a')), 'nowhere'));
    await write(other, chat, 'b', 'b');
    await other.use([chat], 'changes', async () => {
      await rm(at(other, 'a'));
      await writeFile(at(other, 'a'), 'again');
    });
    assert.equal(await read(one, chat, 'a'), 'again');
  });

  test('Q14 work beside work: each file has its last writer, and others stay', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    await write(one, chat, 'both.txt', 'old');
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const long = one.use([chat], 'changes', async () => {
      await put(one, chat, 'both.txt', 'one');
      await put(one, chat, 'one.txt', 'one');
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    await write(other, chat, 'other.txt', 'other');
    await write(other, chat, 'both.txt', 'other');
    // Beside the long work in the same process: its changes are left alone, others arrive.
    assert.deepEqual(await names(one, chat), ['both.txt', 'one.txt', 'other.txt']);
    assert.equal(await read(one, chat, 'both.txt'), 'one');
    end.resolve();
    await long;
    for (const folders of [one, other]) {
      assert.deepEqual(await names(folders, chat), ['both.txt', 'one.txt', 'other.txt']);
      assert.equal(await read(folders, chat, 'both.txt'), 'one');
      assert.equal(await read(folders, chat, 'other.txt'), 'other');
    }
  });

  test('Q14 what another machine stored while work went on is there afterwards, on both', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    await write(one, chat, 'old.txt', 'old');
    await one.use([chat], 'changes', async () => {
      await put(one, chat, 'one.txt', 'one');
      await write(other, chat, 'other.txt', 'other');
      await remove(other, chat, 'old.txt');
    });
    for (const folders of [one, other])
      assert.deepEqual(await names(folders, chat), ['one.txt', 'other.txt']);
  });

  test('Q14 a folder that was forgotten during work holds what that work wrote, and nothing of before', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    await write(one, chat, 'secret.txt', 'secret');
    await one.use([chat], 'changes', async () => {
      await one.remove([chat]);
      await put(one, chat, 'new.txt', 'new');
    });
    for (const folders of [one, other]) assert.deepEqual(await names(folders, chat), ['new.txt']);
  });

  test('Q14 a folder over a limit that was lowered may shrink, and not grow', async (t) => {
    const [{ folders: one, restart }] = await two(t, server);
    for (const name of ['a', 'b', 'c']) await write(one, chat, name, 'x'.repeat(1_000));
    const lower = await restart(1_500);
    await remove(lower, chat, 'a');
    assert.deepEqual(await names(lower, chat), ['b', 'c']);
    await assert.rejects(write(lower, chat, 'b', 'x'.repeat(1_001)), FolderFull);
    assert.equal((await read(lower, chat, 'b')).length, 1_000);
  });

  test('Q14 what a process left unstored when it died is discarded by the next one', async (t) => {
    const [{ folders: one, restart }, { folders: other }] = await two(t, server);
    await write(one, chat, 'kept.txt', 'kept');
    await write(one, chat, 'gone.txt', 'gone');
    // It dies in the middle of a command.
    await put(one, chat, 'kept.txt', 'half');
    await put(one, chat, 'half/new.txt', 'half');
    await rm(at(one, 'gone.txt'));
    const again = await restart();
    assert.deepEqual(await names(again, chat), ['gone.txt', 'kept.txt']);
    assert.equal(await read(again, chat, 'kept.txt'), 'kept');
    await write(again, chat, 'more.txt', 'more');
    assert.deepEqual(await names(other, chat), ['gone.txt', 'kept.txt', 'more.txt']);
  });

  test('Q14 same size, same time: what changed is found by its bytes', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    await one.use([chat], 'changes', async () => {
      await put(one, chat, 'a.txt', 'aaaa');
      await utimes(at(one, 'a.txt'), 1_000, 1_000);
    });
    await one.use([chat], 'changes', async () => {
      await put(one, chat, 'a.txt', 'bbbb');
      await utimes(at(one, 'a.txt'), 1_000, 1_000);
    });
    assert.equal(await read(other, chat, 'a.txt'), 'bbbb');
  });

  test('Q14 Q12 a forgotten folder does not come back from any copy', async (t) => {
    const [{ folders: one, restart }, { folders: other }] = await two(t, server);
    await write(one, chat, 'secret.txt', 'secret');
    assert.equal(await read(other, chat, 'secret.txt'), 'secret');
    await other.remove([chat]);
    assert.deepEqual(existsSync(at(other, 'secret.txt')), false);
    await until(() => !existsSync(at(one, '.')));
    // A copy that the signal missed.
    await put(one, chat, 'secret.txt', 'secret');
    for (const folders of [one, await restart(), other]) {
      assert.deepEqual(await names(folders, chat), []);
      await write(folders, chat, 'new.txt', 'new');
      assert.deepEqual(await names(folders, chat), ['new.txt']);
      await remove(folders, chat, 'new.txt');
    }
  });

  test('Q14 a shelf copy that the store no longer has is not found', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    const draft = await one.shelf.draft('received/a');
    await writeFile(draft, 'photo');
    await one.shelf.keep('received/a', 'f00d', draft);
    const there = await other.shelf.find('received/a', 'f00d');
    assert.equal(there && (await readFile(there, 'utf8')), 'photo');
    await one.shelf.remove('received/a', ['f00d']);
    const here = path.join(one.root, 'received/a/f00d');
    await until(() => there === undefined || !existsSync(there));
    await writeFile(here, 'photo');
    assert.equal(await one.shelf.find('received/a', 'f00d'), undefined);
    assert.equal(existsSync(here), false);
  });

  test('Q14 a folder that is too large or has a file with a huge hole is refused, and is as before', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    await write(one, chat, 'a.txt', 'a');
    const tooLarge = one.use([chat], 'changes', async () => {
      await put(one, chat, 'hole', '');
      await truncate(at(one, 'hole'), quota + 1);
    });
    await assert.rejects(tooLarge, FolderFull);
    assert.deepEqual(await names(one, chat), ['a.txt']);
    assert.deepEqual(await names(other, chat), ['a.txt']);
  });

  test('Q14 T13 hostile folders: links lead nowhere, closed folders are read, pipes stay behind', async (t) => {
    const [{ folders: one }, { folders: other }] = await two(t, server);
    const outside = await mkdtemp(path.join(tmpdir(), 'skillet-outside-'));
    t.after(() => rm(outside, { recursive: true, force: true }));
    await writeFile(path.join(outside, 'victim'), 'untouched');
    await write(one, chat, 'folder/victim', 'inside');
    await other.use([chat], 'changes', async () => {
      await put(other, chat, 'closed/x', 'x');
      await chmod(at(other, 'closed/x'), 0);
      await chmod(at(other, 'closed'), 0);
      await link(path.join(outside, 'victim'), at(other, 'hard')).catch(() => undefined);
    });
    assert.equal(await read(one, chat, 'closed/x'), 'x');
    // Left behind by a command that died: a link in the place of a folder.
    await rm(at(one, 'folder'), { recursive: true });
    await symlink(outside, at(one, 'folder'));
    await write(other, chat, 'folder/victim', 'new');
    assert.equal(await read(one, chat, 'folder/victim'), 'new');
    assert.equal(await readFile(path.join(outside, 'victim'), 'utf8'), 'untouched');
  });
}
