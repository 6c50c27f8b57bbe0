import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Folders } from '../../src/folders/folders.ts';

const day = 86_400_000;

export type OpenFolders = () => Promise<Readonly<{ folders: Folders; close(): Promise<void> }>>;

/** What holds wherever folders are kept (T10, T12, Q12, Q14). */
export function foldersContract(open: OpenFolders): void {
  const foldersTest = (name: string, run: (folders: Folders) => Promise<void>): void => {
    test(name, async (t) => {
      const { folders, close } = await open();
      t.after(close);
      await run(folders);
    });
  };

  foldersTest('T10 Q14 what a command leaves in a folder is there for the next', async (folders) => {
    await write(folders, 'chats/a', 'deep/list.txt', 'milk');
    assert.equal(await read(folders, 'chats/a', 'deep/list.txt'), 'milk');
    assert.deepEqual(await folders.list('chats'), ['chats/a']);
    assert.ok((await folders.size('chats/a', 1e6)) >= 4);
  });

  foldersTest('T10 Q14 what fails has changed what it changed', async (folders) => {
    const failing = folders.use(['chats/a'], 'changes', async () => {
      await put(folders, 'chats/a', 'half.txt', 'half');
      throw new Error('broken');
    });
    await assert.rejects(failing, /broken/);
    assert.equal(await read(folders, 'chats/a', 'half.txt'), 'half');
  });

  foldersTest('Q12 Q14 a removed folder is empty, and no other is touched', async (folders) => {
    await write(folders, 'chats/a', 'a.txt', 'a');
    await write(folders, 'chats/b', 'b.txt', 'b');
    await folders.remove(['chats/a']);
    assert.deepEqual(await names(folders, 'chats/a'), []);
    assert.equal(await read(folders, 'chats/b', 'b.txt'), 'b');
  });

  foldersTest('Q12 Q14 one file is removed, unless it changed since', async (folders) => {
    await write(folders, 'chats/a', 'a.txt', 'a');
    await write(folders, 'chats/a', 'b.txt', 'b');
    await folders.removeFile('chats/a', 'a.txt', Date.now() - day);
    assert.deepEqual(await names(folders, 'chats/a'), ['a.txt', 'b.txt']);
    await folders.removeFile('chats/a', 'a.txt');
    assert.deepEqual(await names(folders, 'chats/a'), ['b.txt']);
  });

  foldersTest('Q12 Q14 nothing is lost that is kept while retention looks', async ({ shelf }) => {
    const draft = await shelf.draft('received/a');
    const busy = { yet: true };
    const looking = (async () => {
      while (busy.yet) await shelf.sweep('received', 0);
    })();
    try {
      for (let n = 0; n < 100; n++) {
        await writeFile(draft, String(n), { flag: 'wx' });
        await shelf.keep('received/a', `file${n}`, draft);
      }
    } finally {
      busy.yet = false;
      await looking;
    }
    assert.equal((await shelf.names('received/a')).length, 100);
  });

  foldersTest(
    'Q12 Q14 retention removes folders that were not used, and keeps those that may not go',
    async (folders) => {
      await write(folders, 'runs/one', 'a.txt', 'a');
      await write(folders, 'runs/two', 'a.txt', 'a');
      await folders.tidy('runs', Date.now() - day, () => true);
      assert.deepEqual(await folders.list('runs'), ['runs/one', 'runs/two']);
      await folders.tidy('runs', Date.now() + day, (name) => name === 'one');
      assert.deepEqual(await folders.list('runs'), ['runs/two']);
      assert.deepEqual(await names(folders, 'runs/one'), []);
    },
  );

  foldersTest(
    'T12 Q14 a file on the shelf is whole or not there, and is replaced whole',
    async ({ shelf }) => {
      assert.equal(await shelf.find('outgoing', 'one'), undefined);
      for (const text of ['first', 'other']) {
        const draft = await shelf.draft('outgoing');
        await writeFile(draft, text);
        await shelf.keep('outgoing', 'one', draft);
        const file = await shelf.find('outgoing', 'one');
        assert.equal(file && (await readFile(file, 'utf8')), text);
      }
      const [use] = await shelf.uses('outgoing');
      assert.deepEqual([use?.folder, use?.path], ['outgoing', 'one']);
      await shelf.remove('outgoing', ['one']);
      assert.equal(await shelf.find('outgoing', 'one'), undefined);
      assert.deepEqual(await shelf.names('outgoing'), []);
    },
  );
}

export async function put(folders: Folders, folder: string, file: string, text: string): Promise<void> {
  const at = path.join(folders.root, folder, file);
  await mkdir(path.dirname(at), { recursive: true });
  await writeFile(at, text);
}

export async function write(folders: Folders, folder: string, file: string, text: string): Promise<void> {
  await folders.use([folder], 'changes', () => put(folders, folder, file, text));
}

export async function remove(folders: Folders, folder: string, file: string): Promise<void> {
  await folders.use([folder], 'changes', () =>
    rm(path.join(folders.root, folder, file), { recursive: true }),
  );
}

export async function read(folders: Folders, folder: string, file: string): Promise<string> {
  return folders.use([folder], 'reads', () => readFile(path.join(folders.root, folder, file), 'utf8'));
}

export async function names(folders: Folders, folder: string): Promise<readonly string[]> {
  return folders.use([folder], 'reads', async () =>
    (await readdir(path.join(folders.root, folder)).catch(() => [])).toSorted(),
  );
}
