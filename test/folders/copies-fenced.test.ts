import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { createCopies } from '../../src/folders/create-copies.ts';
import type { Folders } from '../../src/folders/folders.ts';
import { openFolders } from '../../src/folders/open-folders.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { names, put, read, write } from '../support/folders-contract.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const chat = 'chats/a';
const message = makeMessage();

const server = await startPostgres();
if (server === undefined) {
  test('Q14 Q9 who lost the queue stores no files', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  fences(server);
}

async function temporary(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-fenced-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function machine(t: TestContext, url: string): Promise<Readonly<{ folders: Folders; store: Store }>> {
  const store = await openStore(url);
  t.after(() => store.close());
  const files = store.files();
  assert.ok(files !== undefined);
  const { signals } = store;
  const root = await temporary(t);
  const onFault = (error: unknown): void => assert.fail(String(error));
  return { store, folders: createCopies({ files, signals, root, quota: 1e9, onFault }) };
}

/** Works once in the queue of a conversation. */
async function inQueue(t: TestContext, store: Store, work: () => Promise<void>): Promise<void> {
  await store.inbox.accept(message, { now: Date.now() });
  const worked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let begun = false;
  const serving = store.inbox.startWorker({
    channels: ['telegram'],
    concurrency: 1,
    async run() {
      if (begun) return over.promise;
      begun = true;
      await work().then(worked.resolve, worked.reject);
    },
  });
  t.after(async () => {
    over.resolve();
    await serving.stop();
  });
  await worked.promise;
}

function fences({ database, run }: PostgresServer): void {
  test('Q14 Q9 who lost the queue stores no files, and has none of its own afterwards', async (t) => {
    const url = await database();
    const stale = await machine(t, url);
    const heir = await machine(t, url);
    await write(stale.folders, chat, 'list.txt', 'before');
    await inQueue(t, stale.store, async () => {
      const late = stale.folders.use([chat], 'changes', async () => {
        await put(stale.folders, chat, 'list.txt', 'late');
        await put(stale.folders, chat, 'late.txt', 'late');
        // It stands still; another process takes the queue and works.
        await run(url, 'UPDATE skillet_jobs.job_common SET retry_count = retry_count + 1');
        await write(heir.folders, chat, 'list.txt', 'after');
      });
      await assert.rejects(late, /was lost to another process: nothing was written/);
      const draft = await stale.folders.shelf.draft('outgoing');
      await writeFile(draft, 'late');
      await assert.rejects(stale.folders.shelf.keep('outgoing', 'late', draft), /was lost/);
    });
    for (const { folders } of [heir, stale]) {
      assert.deepEqual(await names(folders, chat), ['list.txt']);
      assert.equal(await read(folders, chat, 'list.txt'), 'after');
      assert.equal(await folders.shelf.find('outgoing', 'late'), undefined);
    }
  });

  test('Q14 what a store of its own left in the workspace moves into the shared one, once, and does not come back', async (t) => {
    const root = await temporary(t);
    const url = await database();
    const { store } = await machine(t, url);
    const workspace = path.join(root, 'workspace');
    const place = async (file: string, text: string): Promise<void> => {
      await mkdir(path.dirname(path.join(workspace, file)), { recursive: true });
      await writeFile(path.join(workspace, file), text);
    };
    const start = async (dataDir: string): Promise<Folders> => {
      const toml = `[bot]\nworkspace = ${JSON.stringify(workspace)}\ndata_dir = ${JSON.stringify(path.join(root, dataDir))}`;
      const parsed = parseConfig(toml, { env: {} });
      assert.ok(parsed.ok);
      return openFolders(parsed.config, store, quietLog());
    };
    await place('chats/a/list.txt', 'milk');
    await place('received/a/f00d', 'photo');
    await place('received/a/123.part', 'half');
    await place('outgoing/one', 'report');
    await place('skills/mine/SKILL.md', 'by hand');
    const [first, second] = await Promise.all([start('one'), start('two')]);
    assert.equal(await read(first, chat, 'list.txt'), 'milk');
    assert.deepEqual(await first.shelf.names('received/a'), ['f00d']);
    assert.ok(await second.shelf.find('outgoing', 'one'));
    assert.deepEqual(
      ['chats/a', 'received/a', 'outgoing'].filter((name) => existsSync(path.join(workspace, name))),
      [],
    );
    assert.ok(existsSync(path.join(workspace, 'skills/mine/SKILL.md')));
    await write(second, chat, 'list.txt', 'bread');
    // A process died between the two steps: what is known stays.
    await place('chats/a/list.txt', 'milk');
    assert.equal(await read(await start('three'), chat, 'list.txt'), 'bread');
  });
}
