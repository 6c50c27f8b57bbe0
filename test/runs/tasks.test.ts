import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskProgress } from '../../src/runs/tasks.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

test('U13 a run tells its newest line, once a second at most', async () => {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const told: string[] = [];
  store.signals.on('progress', (text) => void told.push(text));
  const progress = taskProgress('r1', new AbortController().signal, {
    store,
    clock,
    log: quietLog(),
  });
  progress('asking a skill');
  progress('step 1');
  progress('searching the web');
  assert.deepEqual(told, ['r1 asking a skill']);
  await clock.advance(1_000);
  assert.deepEqual(told, ['r1 asking a skill', 'r1 searching the web']);
  await store.close();
});
