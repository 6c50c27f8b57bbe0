import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTasks } from '../../src/runs/tasks.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';

test('U13 a run tells its newest line, once a second at most', async () => {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const told: string[] = [];
  store.signals.on('progress', (text) => void told.push(text));
  const tasks = createTasks({ store, clock, onSignalFault: (error) => assert.ifError(error) });
  const progress = tasks.progress(
    {
      kind: 'run',
      id: 'r1',
      skill: 'research',
      tool: 'use_skill',
      input: {},
      by: 'person',
      parent: 'telegram:42',
      toolUseId: 'call',
    },
    new AbortController().signal,
  );
  progress('asking a skill');
  progress('step 1');
  progress('searching the web');
  assert.deepEqual(told, ['r1 asking a skill']);
  await clock.advance(1_000);
  assert.deepEqual(told, ['r1 asking a skill', 'r1 searching the web']);
  await store.close();
});
