import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { createCopies } from '../../src/folders/create-copies.ts';
import type { Folders } from '../../src/folders/folders.ts';
import { openStore } from '../../src/store/open-store.ts';
import { seededRandom, seedFromEnv } from '../support/crash/seeded-random.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';

const chat = 'chats/a';
const steps = Number(process.env['SKILLET_FOLDER_STEPS'] ?? 60);
const seed = seedFromEnv();

const server = await startPostgres();
after(() => server?.close());

/** What a folder holds: content by path. */
type Files = Map<string, string>;

test(`Q14 two machines in turn, commands and deaths at random: each sees what was stored, and nothing else (SKILLET_SEED=${seed})`, async (t) => {
  if (server === undefined) return t.skip(noPostgres);
  const url = await server.database();
  const random = seededRandom(seed).next;
  const pick = (most: number): number => Math.floor(random() * most);
  const [one, other] = [await openMachine(url), await openMachine(url)];
  const machines = [one, other];
  t.after(() => Promise.all(machines.map(({ close }) => close())));
  let model: Files = new Map();

  for (let step = 0; step < steps; step++) {
    const machine = pick(2) === 0 ? one : other;
    const here = path.join(machine.folders().root, chat);
    const after: Files = new Map(model);
    const change = async (): Promise<void> => {
      for (let n = pick(4); n >= 0; n--) await changeOne(here, after, pick);
    };
    if (pick(4) === 0) {
      // It dies in a command.
      await machine.folders().use([chat], 'reads', async () => undefined);
      await change();
      machine.restart();
    } else {
      await machine.folders().use([chat], 'changes', change);
      model = after;
    }
    const seen = await machine.folders().use([chat], 'reads', () => filesIn(here));
    assert.deepEqual(sorted(seen), sorted(model), `step ${step}`);
  }
  for (const { folders } of machines) {
    const seen = await folders().use([chat], 'reads', () => filesIn(path.join(folders().root, chat)));
    assert.deepEqual(sorted(seen), sorted(model));
  }
});

/** Few names, so that files and folders take each other's place. */
async function changeOne(here: string, files: Files, pick: (most: number) => number): Promise<void> {
  const name = Array.from({ length: 1 + pick(3) }, () => 'ab'[pick(2)]).join('/');
  if (pick(3) === 0) {
    await rm(path.join(here, name), { recursive: true, force: true }).catch(() => undefined);
    for (const file of files.keys()) if (file === name || file.startsWith(`${name}/`)) files.delete(file);
    return;
  }
  for (const file of [...files.keys()]) {
    const isInTheWay = name.startsWith(`${file}/`) || file.startsWith(`${name}/`);
    if (!isInTheWay) continue;
    await rm(path.join(here, file), { force: true });
    files.delete(file);
  }
  const text = 'x'.repeat(pick(5));
  await rm(path.join(here, name), { recursive: true, force: true });
  await mkdir(path.dirname(path.join(here, name)), { recursive: true });
  await writeFile(path.join(here, name), text);
  files.set(name, text);
}

async function openMachine(url: string) {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-histories-'));
  const store = await openStore(url);
  const files = store.files();
  assert.ok(files !== undefined);
  const { signals } = store;
  const open = (): Folders =>
    createCopies({ files, signals, root, quota: 1e9, onFault: (error) => assert.fail(String(error)) });
  let now = open();
  return {
    folders: () => now,
    restart: () => void (now = open()),
    async close() {
      await store.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function filesIn(folder: string): Promise<Files> {
  const found: Files = new Map();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const full = path.join(entry.parentPath, entry.name);
    found.set(path.relative(folder, full), await readFile(full, 'utf8'));
  }
  return found;
}

function sorted(files: Files): readonly (readonly [string, string])[] {
  return [...files].sort(([a], [b]) => (a < b ? -1 : 1));
}
