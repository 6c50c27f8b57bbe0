import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { bootId } from '../../src/lib/processes/boot-id.ts';
import { lookAtStore } from '../../src/store/look-at-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { lostJournal } from '../../src/store/sqlite/lost-journal.ts';
import { restoreFile } from '../../src/store/sqlite/restore-file.ts';

const skip = bootId() === '' && 'this system does not tell its boot';

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'skillet-journal-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A store as SIGKILL leaves it, in a folder of its own. */
async function killed(t: TestContext, lines: number): Promise<string> {
  const file = path.join(folder(t), 's.db');
  await write(file, lines);
  return file;
}

/** In a process that is killed when it has said so many lines. */
async function write(file: string, lines: number): Promise<void> {
  const script = path.join(import.meta.dirname, '../crash/store-writer.ts');
  const args = [script, `sqlite:${file}`, `${lines}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let said = 0;
  for await (const _ of createInterface(child.stdout)) if (++said === lines) child.kill('SIGKILL');
  await exited;
}

/** The same store elsewhere, which a test may break. */
function copyOf(t: TestContext, file: string): string {
  const home = folder(t);
  cpSync(path.dirname(file), home, { recursive: true });
  return path.join(home, 's.db');
}

function withoutJournal(t: TestContext, file: string): string {
  const copy = copyOf(t, file);
  rmSync(`${copy}-wal`);
  return copy;
}

/** What the doctor and a start say of it, and how many messages are left. Opened twice: what was told is over. */
async function opened(file: string): Promise<{ lost: string | undefined; messages: number }> {
  const look = await lookAtStore(`sqlite:${file}`, { namespace: 'people', mine: false, withinMs: 0 });
  const lost: (string | undefined)[] = [];
  const store = await openStore(`sqlite:${file}`, { onKilled: (why) => lost.push(why) });
  const messages = (await store.inbox.list('waiting')).length;
  await store.close();
  assert.equal(lost.length, 1, 'a start knows that the process before was killed');
  assert.equal(look.state, lost[0] === undefined ? 'ready' : 'damaged', 'the doctor says the same');
  const again = await openStore(`sqlite:${file}`, { onKilled: () => assert.fail('nobody was killed') });
  await again.close();
  return { lost: lost[0], messages };
}

const pageSize = 4_096;
const frameSize = pageSize + 24;

test(
  'Q11 a journal that was cut at any place is told, by the doctor and at the start, and a whole one never',
  { skip },
  async (t) => {
    const file = await killed(t, 30);
    const whole = await opened(copyOf(t, file));
    assert.deepEqual(whole.lost, undefined);
    const says = (frame: number) =>
      new RegExp(`ends early: of \\d+ pages that were written, ${frame} are left`);
    const shorter = copyOf(t, file);
    const cutAt = (frame: number, within = 0): string | undefined => {
      truncateSync(`${shorter}-wal`, 32 + frame * frameSize + within);
      return lostJournal(shorter)?.why;
    };
    // Behind the last commit a kill may leave more than was ever told to anybody.
    const inFile = (readFileSync(`${shorter}-wal`).length - 32) / frameSize;
    const frames = Math.min(
      inFile,
      Number(/of (\d+) pages/.exec(lostJournal(withoutJournal(t, file))?.why ?? '')?.[1]),
    );
    assert.ok(frames > 20);
    assert.equal(cutAt(frames), undefined);
    for (let frame = frames - 1; frame >= 0; frame--)
      for (const within of [frameSize / 2, 12, 0]) assert.match(cutAt(frame, within) ?? '', says(frame));
    for (const frame of [0, 1, frames / 2, frames - 1].map(Math.floor)) {
      const cut = copyOf(t, file);
      truncateSync(`${cut}-wal`, 32 + frame * frameSize);
      const { lost, messages } = await opened(cut);
      assert.match(lost ?? '', says(frame));
      // Of each two messages one is answered, so one more may wait in what is older.
      assert.ok(messages <= whole.messages + 1);
    }
  },
);

for (const [what, damage, left] of [
  ['with garbage in a frame', (file: string) => spoil(`${file}-wal`, 32 + 9 * frameSize + 100), 9],
  [
    'with garbage in the header of a frame',
    (file: string) => spoil(`${file}-wal`, 32 + 7 * frameSize + 2),
    7,
  ],
  ['with garbage in its header', (file: string) => spoil(`${file}-wal`, 17), 0],
  ['with garbage in its first bytes', (file: string) => spoil(`${file}-wal`, 9), 0],
  ['that is empty', (file: string) => truncateSync(`${file}-wal`, 0), 0],
  ['that was removed', (file: string) => rmSync(`${file}-wal`), 0],
] as const)
  test(`Q11 a journal ${what} is told`, { skip }, async (t) => {
    const file = await killed(t, 30);
    damage(file);
    const { lost } = await opened(file);
    assert.match(lost ?? '', new RegExp(`ends early: of \\d+ pages that were written, ${left} are left`));
  });

function spoil(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes.fill(0x5a, at, at + 4);
  writeFileSync(file, bytes);
}

test('Q11 a store whose journal is whole is never called damaged', { skip }, async (t) => {
  const file = await killed(t, 30);
  const { messages } = await opened(copyOf(t, file));
  const noIndex = copyOf(t, file);
  rmSync(`${noIndex}-shm`);
  assert.deepEqual(await opened(noIndex), { lost: undefined, messages });
  const spoilt = copyOf(t, file);
  spoil(`${spoilt}-shm`, 16);
  assert.deepEqual(await opened(spoilt), { lost: undefined, messages });
  const moved = copyOf(t, file);
  // In a process that dies with it: a clean end would remove the journal.
  const script = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('PRAGMA wal_checkpoint');
    process.kill(process.pid, 'SIGKILL');`;
  spawnSync(process.execPath, ['-e', script, moved]);
  assert.deepEqual(await opened(copyOf(t, moved)), { lost: undefined, messages });
  const longer = copyOf(t, file);
  writeFileSync(`${longer}-wal`, Buffer.alloc(frameSize / 2, 1), { flag: 'a' });
  assert.deepEqual(await opened(longer), { lost: undefined, messages });
});

test(
  'Q11 after a restart of the machine, a restored backup or a clean stop nobody is told of a journal',
  { skip },
  async (t) => {
    const file = await killed(t, 30);
    const other = copyOf(t, file);
    writeFileSync(`${other}.pid`, '17\n00000000-0000-0000-0000-000000000000\n');
    truncateSync(`${other}-wal`, 32 + 9 * frameSize);
    const silent = { onKilled: () => assert.fail('it was told') };
    await (await openStore(`sqlite:${other}`, silent)).close();
    const backup = path.join(folder(t), 'backup.db');
    const whole = await openStore(`sqlite:${copyOf(t, file)}`);
    await whole.backup(backup);
    await whole.close();
    truncateSync(`${file}-wal`, 32);
    restoreFile(backup, file);
    await (await openStore(`sqlite:${file}`, silent)).close();
  },
);

for (const [what, lose, says] of [
  ['was emptied', (file: string) => truncateSync(file, 0), /s\.db is empty, and its journal was not/],
  ['was removed', (file: string) => rmSync(file), /s\.db is empty, and its journal was not/],
  ['was cut', (file: string) => truncateSync(file, 8 * pageSize), /s\.db is shorter than its journal says/],
  [
    'gave way to an older copy',
    (file: string) => copyFileSync(`${file}.older`, file),
    /s\.db is shorter than its journal says.*an older copy/,
  ],
] as const)
  test(
    `Q11 a store whose file ${what} beside a journal is refused again and again, and nothing of it is touched`,
    { skip },
    async (t) => {
      const file = await killed(t, 3);
      await (await openStore(`sqlite:${file}`)).close();
      copyFileSync(file, `${file}.older`);
      for (const lines of [600, 12]) {
        await write(file, lines);
        // A clean end moves all of the journal into the file.
        if (lines > 12) await (await openStore(`sqlite:${file}`)).close();
      }
      lose(file);
      const journal = readFileSync(`${file}-wal`);
      for (const _ of [1, 2])
        await assert.rejects(openStore(`sqlite:${file}`), (error: unknown) => {
          assert.ok(error instanceof OperatorError);
          assert.match(error.message, says);
          assert.match(error.message, /skillet restore FILE --store-only/);
          return true;
        });
      const look = await lookAtStore(`sqlite:${file}`, { namespace: 'people', mine: false, withinMs: 0 });
      assert.equal(look.state, 'damaged');
      assert.deepEqual(readFileSync(`${file}-wal`), journal);
    },
  );

test(
  'Q11 what an operator does while no bot runs says on standard error what is lost',
  { skip },
  async (t) => {
    const file = await killed(t, 30);
    truncateSync(`${file}-wal`, 32 + 9 * frameSize);
    const lines: string[] = [];
    const log = {
      ...console,
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (_: object, text?: string) => void lines.push(text ?? ''),
    };
    await (await openStore(`sqlite:${file}`, { log })).close();
    assert.match(lines.join('\n'), /the store is damaged: its journal .* ends early/);
  },
);
