import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { auditFiles } from '../../src/audit/audit-files.ts';
import { refuseLostStore } from '../../src/audit/create-audit.ts';
import { openStore } from '../../src/store/open-store.ts';
import { bootId } from '../../src/lib/processes/boot-id.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

for (const [how, empty] of [
  ['emptied', (file: string) => writeFile(file, '')],
  ['removed', (file: string) => rm(file)],
] as const)
  test(`Q11 L6 a store that was ${how} beside an audit with lines is refused at the start; without them all begins anew`, async (t) => {
    const bot = await startWholeBot(t, { toml: '[access]\ndm = "pairing"\n', script: ['Hello.'] });
    const ann = bot.telegram.person({ name: 'Ann' });
    ann.says('hi');
    const { text } = await ann.dm.nextMessage(/code/);
    await bot.bot.pairing.approve(/code is (\S+),/.exec(text)?.[1] ?? '', 'cli');
    await bot.bot.close();
    const data = path.join(bot.home, 'data');
    assert.equal((await readdir(path.join(data, 'audit'))).length, 1);
    for (const end of ['-wal', '-shm']) await rm(path.join(data, `skillet.db${end}`), { force: true });
    await empty(path.join(data, 'skillet.db'));
    await assert.rejects(bot.restart(), (error: unknown) => {
      assert.ok(error instanceof OperatorError);
      assert.match(
        error.message,
        /holds the audit of an earlier one.*skillet restore.*move that folder away/,
      );
      return true;
    });
    await assert.rejects(bot.restart(), OperatorError, 'what a refused start made is no store either');
    await rename(path.join(data, 'audit'), path.join(data, 'audit-before'));
    await bot.restart();
    ann.says('hi again');
    await ann.dm.nextMessage(/code/);
  });

const skip = bootId() === '' && 'this system does not tell its boot';
const run = promisify(execFile);

/** The data directory as a kill would have left it at this moment. In a process of its own: files that one closes lose its locks. */
async function keepAsKilled({ home }: WholeBot): Promise<() => Promise<void>> {
  const data = path.join(home, 'data');
  await run('cp', ['-a', data, `${data}-killed`]);
  return async () => {
    await rm(data, { recursive: true });
    await rename(`${data}-killed`, data);
  };
}

async function storeOf({ bot }: WholeBot): Promise<unknown> {
  return (await bot.operate('status')).process?.readiness.store;
}

async function pair({ telegram, bot }: WholeBot, name: string): Promise<void> {
  const other = telegram.person({ name });
  other.says('hi');
  const { text } = await other.dm.nextMessage(/code/);
  await bot.pairing.approve(/code is (\S+),/.exec(text)?.[1] ?? '', 'cli');
}

const owned = { toml: '[bot]\nowner = ["telegram:100"]\n[access]\ndm = "pairing"\n', script: () => 'Hello.' };
const told = /^My store is damaged: some of what was stored is lost/;

test(
  'Q11 L12 what a cut journal took away is told: to the owners once, in the log and by the status until the process ends',
  { skip },
  async (t) => {
    const before = await startWholeBot(t, owned);
    const ann = before.telegram.person({ name: 'Ann', id: 100 });
    ann.says('hi');
    await ann.dm.nextMessage(/Hello/);
    const putBack = await keepAsKilled(before);
    await before.bot.close();
    await putBack();
    const journal = path.join(before.home, 'data/skillet.db-wal');
    await truncate(journal, (await stat(journal)).size - 4_120 * 3);
    const after = await before.restart();
    await ann.dm.nextMessage(told);
    assert.match(JSON.stringify(await storeOf(after)), /"ok":false,"reason":"it is damaged: its journal/);
    assert.equal(after.log.lines.filter(({ message }) => message === 'the store is damaged').length, 1);
    const next = await after.restart();
    assert.deepEqual(await storeOf(next), { ok: true });
    ann.says('still there?');
    await ann.dm.nextMessage(/Hello/);
    assert.equal(ann.dm.everSent().filter(({ text }) => told.test(text)).length, 1);
  },
);

for (const [what, ends, people] of [
  [
    'a journal that was removed with its index is told if the audit has lines that the store does not know',
    ['-wal', '-shm'],
    20,
  ],
  [
    'a journal that was removed with its index is not told if all that it held is in the file',
    ['-wal', '-shm'],
    0,
  ],
  ['an index that was removed alone takes nothing away, and nothing is told', ['-shm'], 20],
] as const)
  test(`Q11 L6 ${what}`, { skip }, async (t) => {
    const begun = await startWholeBot(t, owned);
    const ann = begun.telegram.person({ name: 'Ann', id: 100 });
    ann.says('hi');
    await ann.dm.nextMessage(/Hello/);
    await pair(begun, 'First');
    // A clean end: what was done up to here is in the file itself.
    const before = await begun.restart();
    for (let n = 0; n < people; n++) await pair(before, `P${n}`);
    const putBack = await keepAsKilled(before);
    await before.bot.close();
    await putBack();
    for (const end of ends) await rm(path.join(before.home, `data/skillet.db${end}`));
    const after = await before.restart();
    const state = JSON.stringify(await storeOf(after));
    if (people === 0 || ends.length === 1) return assert.equal(state, '{"ok":true}');
    assert.match(state, /the last \d+ lines of its audit are not known to it/);
    await ann.dm.nextMessage(told);
  });

test('L16 Q10 a copy of the store that was made before the first line of the audit knows of the lines that come after it', async (t) => {
  const set = await startWholeBot(t, { toml: '[access]\ndm = "open"\n' });
  const copy = path.join(set.home, 'copy.db');
  await set.bot.operate('backup', copy);
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('/dice d6');
  await ann.dm.nextMessage(/./);
  await set.bot.idle();
  const dataDir = path.join(set.home, 'data');
  assert.ok((await auditFiles(dataDir)).length > 0, 'a line was written');
  const store = await openStore(`sqlite:${copy}`);
  t.after(store.close);
  await refuseLostStore(dataDir, store.keyed('audit'));
});
