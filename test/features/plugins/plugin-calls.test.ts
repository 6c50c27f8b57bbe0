import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { onlyModel } from '../../../src/core/model.ts';
import { createPluginCalls } from '../../../src/features/plugins/plugin-calls.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { scriptedModel } from '../../support/scripted-model.ts';
import { toolContext } from '../../support/tool-context.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { createOffSandbox } from '../../../src/sandbox/off.ts';
import { createRegistry } from '../../../src/skills/registry.ts';
import { sandboxLimits } from '../../support/sandbox-limits.ts';
import { createPlainFolders } from '../../../src/folders/plain-folders.ts';
import { partOf } from '../../support/app-of.ts';
import { unmovedChats } from '../../support/unmoved-chats.ts';

async function setUp(t: TestContext) {
  const workspace = await mkdtemp(path.join(tmpdir(), 'skillet-calls-'));
  t.after(() => rm(workspace, { recursive: true, force: true }));
  const clock = createManualClock();
  const parsed = parseConfig(`[bot]\nname = "Botty"\nworkspace = ${JSON.stringify(workspace)}\n`, {
    env: {},
  });
  assert.ok(parsed.ok);
  const { config } = parsed;
  const model = scriptedModel(['first', 'second']);
  const models = onlyModel(model);
  const admitted = { now: true };
  const open = createPluginCalls(
    {
      library: partOf({ current: () => createRegistry([]) }),
      sandbox: createOffSandbox({ limits: sandboxLimits }),
      folders: createPlainFolders(workspace),
      users: partOf({
        mayAct: async () =>
          admitted.now ? { allowed: true } : { allowed: false, code: 'STRANGER', reason: 'not paired' },
      }),
      budgets: partOf({ ofModel: async () => undefined }),
    },
    {
      runtime: () => partOf({ config, models }),
      migrations: unmovedChats,
      store: partOf({ commit: async () => undefined }),
      clock,
      log: quietLog(),
    },
  )('one');
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
    message: 'This person no longer has access to the bot.',
  });
  assert.equal(model.requests.length, 1);
  await close();
});
