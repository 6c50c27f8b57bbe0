import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { openAuditKey } from '../../src/audit/audit-files.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import { patientKeyed } from '../../src/store/patient-keyed.ts';
import { createStoreHealth } from '../../src/operator/health/store-health.ts';
import { createThrottle } from '../../src/lib/async/mutex.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { auditStage, day, refusal } from '../support/audit-stage.ts';
import { quietLog } from '../support/quiet-log.ts';

/** The stage with the files of its audit, and a way to change one. */
async function stage(t: TestContext) {
  const { dataDir, open, ...rest } = await auditStage(t);
  const files = async (): Promise<string[]> =>
    (await readdir(path.join(dataDir, 'audit'))).sort().map((name) => path.join(dataDir, 'audit', name));
  const change = async (file: string, how: (lines: string[]) => string[]): Promise<void> => {
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const changed = how(lines);
    await writeFile(file, changed.length === 0 ? '' : `${changed.join('\n')}\n`);
  };
  return { ...rest, dataDir, again: open, files, change };
}

test('L6 lines are chained across days and restarts, 0600, with the head in the store', async (t) => {
  const { dataDir, written, again, files } = await stage(t);
  const audit = await written();
  assert.deepEqual(await audit.verify(), { lines: 6, files: 3, problems: [] });
  const restarted = again();
  await Promise.all(Array.from({ length: 20 }, (_, n) => restarted.record(refusal(`slack:U${n}`))));
  assert.deepEqual(await restarted.verify(), { lines: 26, files: 4, problems: [] });
  for (const file of [...(await files()), path.join(dataDir, 'audit.key')])
    assert.equal((await stat(file)).mode & 0o777, 0o600, file);
  const text = await readFile((await files())[0]!, 'utf8');
  assert.match(
    text,
    /^\{"seq":1,"at":"2026-01-01T00:00:00\.000Z","event":"message_refused","sender":"#[0-9a-f]{16}"/,
  );
});

const damages: readonly (readonly [string, (lines: string[]) => string[], number, RegExp])[] = [
  ['an edit', ([a = '', b = '']) => [a, b.replace('STRANGER', 'NOBODY')], 0, /line 2 was changed/],
  [
    'an edit that counts on',
    ([a = '', b = '']) => [a, b.replace('"seq":2', '"seq":3')],
    0,
    /line 2 follows line 1/,
  ],
  ['a reordering', ([a = '', b = '']) => [b, a], 1, /line 1 follows line 2, but is number 4/],
  ['a cut in the middle', ([, b = '']) => [b], 1, /line 1 follows line 2, but is number 4/],
  ['a cut at the beginning', ([, b = '']) => [b], 0, /line 1 follows line 0, but is number 2/],
  ['a truncated tail', ([a = '']) => [a], 2, /line 1 is the last line, and 1 more were written/],
  ['a day that is gone', () => [], 2, /line 2 is the last line, and 2 more were written/],
  ['a line twice', ([a = '', b = '']) => [a, a, b], 1, /line 2 follows line 3, but is number 3/],
  ['a word of nobody', (lines) => [...lines, 'hello'], 1, /line 3 is no line of the audit/],
];
for (const [what, how, file, problem] of damages) {
  test(`L6 verify finds ${what}`, async (t) => {
    const { written, files, change, again } = await stage(t);
    await written();
    await change((await files())[file]!, how);
    const { problems } = await again().verify();
    assert.ok(problems.length > 0);
    assert.match(problems.map(({ line, problem: text }) => `line ${line} ${text}`).join('\n'), problem);
  });
}

test('L6 lines that were gone at a start are told of by the next line, which can not be taken for whole', async (t) => {
  const { written, files, change, again, log } = await stage(t);
  await written();
  await change((await files())[2]!, ([a = '']) => [a]);
  const audit = again();
  await audit.record(refusal('telegram:9'));
  assert.match(JSON.stringify(log.lines), /lines of the audit are gone/);
  const { problems } = await audit.verify();
  assert.deepEqual(
    problems.map((each) => each.problem),
    ['tells that the lines 6 to 6 were gone'],
  );
});

test('L6 L16 nobody ever reads a part of a new key, and all that make one at once agree', async (t) => {
  const { dataDir } = await stage(t);
  const file = path.join(dataDir, 'audit.key');
  const watched = `
    const { readFileSync } = require('node:fs');
    for (const seen = new Set(); seen.size < 100;) {
      try {
        const text = readFileSync(process.argv[1], 'utf8');
        if (text.length !== 65) { console.log(JSON.stringify(text)); process.exit(1); }
        seen.add(text);
      } catch (error) {
        if (error.code !== 'ENOENT') throw error;
      }
    }`;
  const reader = spawn(process.execPath, ['-e', watched, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(reader, 'exit');
  while (reader.exitCode === null) {
    const keys = await Promise.all(Array.from({ length: 8 }, () => openAuditKey(dataDir)));
    assert.deepEqual(new Set(keys.map(({ chain }) => chain)).size, 1);
    assert.deepEqual((await readdir(dataDir)).toSorted(), ['audit', 'audit.key']);
    await rm(file);
  }
  assert.deepEqual(await ended, [0, null], await text(reader.stdout));
});

test('L6 verify finds that the audit is gone together with its key, before a restart and after one', async (t) => {
  const { dataDir, written, again, store, log, clock } = await stage(t);
  const audit = await written();
  await rm(path.join(dataDir, 'audit'), { recursive: true });
  await rm(path.join(dataDir, 'audit.key'));
  const gone = { file: '', line: 0, problem: 'lacks 6 lines: they were deleted together with their key' };
  assert.deepEqual(await audit.verify(), { lines: 0, files: 0, problems: [gone] });
  const restarted = again();
  await restarted.record(refusal('telegram:9'));
  assert.deepEqual(await restarted.verify(), { lines: 1, files: 1, problems: [gone] });
  // On a shared store each process has an audit of its own.
  const elsewhere = createAudit({ dataDir, place: 'other:/data', keyed: store.keyed, clock, log });
  await elsewhere.record(refusal('telegram:9'));
  await rm(path.join(dataDir, 'audit'), { recursive: true });
  await rm(path.join(dataDir, 'audit.key'));
  const place = 'this:/data';
  const fresh = createAudit({ dataDir, place, keyed: store.keyed, clock, log });
  assert.deepEqual((await fresh.verify()).problems, []);
});

test('L6 Q11 what is done while the store can not be used is recorded when it can be again', async (t) => {
  const { store, clock, log, again } = await stage(t);
  const full = Object.assign(new Error('database or disk is full'), { errcode: 13 });
  const state = { full: false };
  const check = async (): Promise<void> => {
    if (state.full) throw full;
  };
  const health = createStoreHealth({ check, onFault: () => undefined, clock, log });
  health.start(() => undefined);
  t.after(() => health.stop());
  const keyed: Store['keyed'] = (namespace) => {
    const values = store.keyed(namespace);
    const { set } = values;
    values.set = async (...entry: Parameters<typeof set>) => {
      await check();
      return set.apply(values, entry);
    };
    return values;
  };
  const audit = again(patientKeyed(keyed, health));
  await audit.record(refusal('telegram:1'));
  state.full = true;
  const recorded = Promise.all(['telegram:2', 'telegram:3'].map((sender) => audit.record(refusal(sender))));
  await clock.advance(5_000);
  state.full = false;
  await clock.advance(10_000);
  await recorded;
  assert.deepEqual(await audit.verify(), { lines: 3, files: 1, problems: [] });
  assert.doesNotMatch(JSON.stringify(log.lines), /could not record an event/);
});

test('L6 Q7 a write that was cut off by a crash is taken away, a whole line that the store does not know yet counts', async (t) => {
  const { written, files, again, change } = await stage(t);
  const audit = await written();
  const last = (await files())[2]!;
  const whole = await readFile(last, 'utf8');
  await audit.record(refusal('telegram:9'));
  const newest = (await files())[3]!;
  const line = await readFile(newest, 'utf8');
  await appendFile(newest, '{"seq":8,"at":"2026');
  assert.deepEqual((await again().verify()).problems.length, 1);
  const restarted = again();
  await restarted.record(refusal('telegram:10'));
  assert.deepEqual(await restarted.verify(), { lines: 8, files: 4, problems: [] });
  assert.ok((await readFile(newest, 'utf8')).startsWith(line));
  assert.equal(await readFile(last, 'utf8'), whole);
  await change(newest, (lines) => lines);
  assert.deepEqual((await restarted.verify()).problems, []);
});

test('L6 a clock that is set back does not bring the days out of order', async (t) => {
  const { again, clock, dataDir } = await stage(t);
  const audit = again();
  await clock.advance(2 * day);
  await audit.record(refusal('telegram:1'));
  const early = createManualClock();
  assert.ok(early.now() < clock.now());
  const store = await openStore('sqlite::memory:', { clock: early });
  t.after(() => store.close());
  const behind = createAudit({
    dataDir,
    keyed: store.keyed,
    clock: early,
    log: quietLog(),
  });
  await behind.record(refusal('telegram:2'));
  assert.deepEqual(await behind.verify(), { lines: 2, files: 1, problems: [] });
});

test('L6 Q12 ids stand in the store alone: the operator reads them, and forgetting makes the lines nobody’s', async (t) => {
  const { again, files } = await stage(t);
  const audit = again();
  await audit.record(refusal('telegram:42'));
  await audit.record(refusal('telegram:7'));
  assert.doesNotMatch(await readFile((await files())[0]!, 'utf8'), /telegram:/);
  assert.match((await audit.tail(1)).join('\n'), /"sender":"telegram:7","conversation":"telegram:7"/);
  await audit.forget(['telegram:42']);
  const [first = '', second = ''] = await audit.tail(10);
  assert.doesNotMatch(first, /telegram:42/);
  assert.match(second, /telegram:7/);
  assert.deepEqual((await audit.verify()).problems, []);
});

test('L6 what can not be written is said, and loses nothing of what comes later', async (t) => {
  const { again, files, log, clock, dataDir } = await stage(t);
  const audit = again();
  await audit.record(refusal('telegram:1'));
  const [file = ''] = await files();
  const text = await readFile(file, 'utf8');
  await rm(path.join(dataDir, 'audit'), { recursive: true });
  await writeFile(path.join(dataDir, 'audit'), 'in the way');
  await audit.record(refusal('telegram:2'));
  assert.match(JSON.stringify(log.lines), /could not record an event/);
  await rm(path.join(dataDir, 'audit'));
  await clock.advance(1);
  await mkdir(path.join(dataDir, 'audit'));
  await writeFile(file, text);
  await audit.record(refusal('telegram:3'));
  assert.deepEqual(await audit.verify(), { lines: 2, files: 1, problems: [] });
});

test('L6 whoever is refused again and again is recorded once an hour', async () => {
  const clock = createManualClock();
  const isDue = createThrottle(3_600_000, clock);
  assert.deepEqual([isDue('a'), isDue('a'), isDue('b')], [true, false, true]);
  await clock.advance(3_600_000);
  assert.equal(isDue('a'), true);
});
