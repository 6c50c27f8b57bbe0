import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createPluginCalls } from '../../src/app/plugin-calls.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { toolContext } from '../support/tool-context.ts';

test('X5 a call of a plugin is over after 15 minutes, and nothing is counted any more once it has ended', async (t) => {
  const workspace = await mkdtemp(path.join(tmpdir(), 'skillet-calls-'));
  t.after(() => rm(workspace, { recursive: true, force: true }));
  const clock = createManualClock();
  const config = { bot: { name: 'Botty', workspace }, sandbox: { diskMb: 1 } };
  const open = createPluginCalls({
    live: () => ({ config }) as never,
    library: { current: () => new Map() as never },
    sandbox: { seen: (_: string, folder: string) => folder } as never,
    moved: { original: async (conversation) => conversation },
    budgets: { ofModel: async () => undefined },
    store: { commit: async () => undefined },
    clock,
    log: quietLog(),
  })('one');
  const long = await open('a_tool', toolContext());
  const short = await open('a_tool', toolContext());
  await clock.advance(15 * 60_000 - 1);
  await short.close();
  assert.equal(long.over.aborted, false);
  await clock.advance(1);
  assert.deepEqual([long.over.aborted, short.over.aborted], [true, false]);
  await long.close();
});
