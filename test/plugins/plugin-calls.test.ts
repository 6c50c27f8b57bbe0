import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createPluginCalls } from '../../src/plugins/plugin-calls.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { toolContext } from '../support/tool-context.ts';

async function setUp(t: TestContext) {
  const workspace = await mkdtemp(path.join(tmpdir(), 'skillet-calls-'));
  t.after(() => rm(workspace, { recursive: true, force: true }));
  const clock = createManualClock();
  const config = { bot: { name: 'Botty', workspace }, sandbox: { diskMb: 1 }, agent: { model: 'default' } };
  const model = scriptedModel(['first', 'second']);
  const models = { check: () => undefined, get: () => model, offline: false };
  const admitted = { now: true };
  const open = createPluginCalls({
    runtime: () => ({ config, models }) as never,
    library: { current: () => new Map() as never },
    sandbox: { seen: (_: string, folder: string) => folder } as never,
    migrations: { original: async (conversation) => conversation },
    users: {
      mayAct: async () =>
        admitted.now ? { allowed: true } : { allowed: false, code: 'STRANGER', reason: 'not paired' },
    },
    budgets: { ofModel: async () => undefined },
    store: { commit: async () => undefined },
    clock,
    log: quietLog(),
  })('one');
  return { open, clock, model, admitted };
}

test('X5 a call of a plugin is over after 15 minutes, and nothing is counted any more once it has ended', async (t) => {
  const { open, clock } = await setUp(t);
  const long = await open('a_tool', toolContext());
  const short = await open('a_tool', toolContext());
  await clock.advance(15 * 60_000 - 1);
  await short.close();
  assert.equal(long.over.aborted, false);
  await clock.advance(1);
  assert.deepEqual([long.over.aborted, short.over.aborted], [true, false]);
  await long.close();
});

test('S11 X4 a plugin that works for a person who was removed can ask no model', async (t) => {
  const { open, model, admitted } = await setUp(t);
  const { context, close } = await open('a_tool', toolContext());
  assert.equal(await context.model().complete('one'), 'first');
  admitted.now = false;
  await assert.rejects(context.model().complete('two'), {
    message: 'This person may no longer use the bot.',
  });
  assert.equal(model.requests.length, 1);
  await close();
});
