import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import packageFile from '../../package.json' with { type: 'json' };
import { giveMemoryBack, memoryHere } from '../../src/operator/health/give-memory-back.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startRunningBot } from '../support/running-bot.ts';
import { until } from '../support/until.ts';

const root = path.join(import.meta.dirname, '../..');
const mb = 1024 * 1024;

test('B4 a quiet bot gives memory back once, and again when it has grown', async () => {
  const clock = createManualClock();
  const stopping = new AbortController();
  const now = { held: 140 * mb, busy: 0.6, tidied: 0 };
  const memory = {
    resident: () => now.held,
    busy: () => now.busy,
    tidy() {
      now.tidied++;
      now.held = 120 * mb;
    },
  };
  const ended = giveMemoryBack(memory, { clock, signal: stopping.signal });
  await clock.advance(10_000);
  assert.equal(now.tidied, 0, 'the start is still at work');
  now.busy = 0.01;
  await clock.advance(2_000);
  assert.equal(now.tidied, 1);
  now.held += 7 * mb;
  await clock.advance(60_000);
  assert.equal(now.tidied, 1, 'a turn now and then is not worth it');
  now.held += 2 * mb;
  await clock.advance(2_000);
  assert.equal(now.tidied, 2);
  now.held = 200 * mb;
  stopping.abort();
  await ended;
  assert.equal(now.tidied, 2);
});

test('B4 with the flags of `npm start` the process shrinks by what is garbage', async () => {
  const flags = packageFile.scripts.start.split(' ').filter((word) => word.startsWith('--'));
  const program = `
    import { memoryHere } from ${JSON.stringify(path.join(root, 'src/operator/health/give-memory-back.ts'))};
    const memory = memoryHere();
    let held = Array.from({ length: 500_000 }, (_, n) => ({ n }));
    const full = memory.resident();
    held = undefined;
    memory.tidy();
    console.log(full - memory.resident());`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...flags,
    '--input-type=module',
    '--eval',
    program,
  ]);
  assert.ok(Number(stdout) > 10 * mb, `given back: ${stdout}`);
  assert.equal(memoryHere(), undefined, 'without the flag nothing is tidied');
});

test('B4 `skillet start` starts Node as `npm start` does', () => {
  const [first] = readFileSync(path.join(root, 'bin/skillet.js'), 'utf8').split('\n');
  assert.equal(`${first?.replace('#!/usr/bin/env -S ', '')} bin/skillet.js start`, packageFile.scripts.start);
});

test('B4 a bot that was started and is quiet tidies up', async (t) => {
  const home = await openCliHome(t);
  const tidied = path.join(home.folder, 'tidied.json');
  const preload = `
    import { writeFileSync } from 'node:fs';
    globalThis.gc = (how) => writeFileSync(${JSON.stringify(tidied)}, JSON.stringify(how));`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const bot = await startRunningBot(t, home, '', flags);
  await until(() => existsSync(tidied) && readFileSync(tidied, 'utf8') !== '');
  assert.deepEqual(JSON.parse(readFileSync(tidied, 'utf8')), { type: 'major', flavor: 'last-resort' });
  assert.equal(await bot.end(), 0);
});
