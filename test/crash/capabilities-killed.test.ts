import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { nodeCommand } from '../support/node-command.ts';
import { bridge } from '../support/capability-stage.ts';
import { callSteps, isRun, resultsIn, type ScriptedCall } from '../support/call-steps.ts';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt } from '../support/crash/kill-points.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';

const scribe =
  '---\nname: scribe\ndescription: Writes notes.\ncapabilities: [test.anywhere]\n---\nWrite a note.\n';
const kept = '(INSERT INTO capability_outcomes|INSERT INTO skillet\\.capability_outcomes)';

/** A bot with a provider that writes what it did into `folder`, and a skill whose runs make these calls. */
async function open(
  t: TestContext,
  calls: readonly ScriptedCall[],
  more: Readonly<{ storeUrl?: string }> = {},
): Promise<CrashStage & Readonly<{ provided: string; done(): Promise<readonly string[]> }>> {
  const provided = await mkdtemp(path.join(tmpdir(), 'skillet-scribe-'));
  t.after(() => rm(provided, { recursive: true, force: true }));
  const stage = await openCrashStage({
    ...more,
    channels: ['telegram'],
    toml: `[capabilities.providers.test]\ncommand = ${JSON.stringify(nodeCommand(bridge, provided))}\n`,
    script: callSteps(calls),
  });
  t.after(stage.close);
  const skill = path.join(stage.folder, 'workspace', 'skills', 'scribe');
  await mkdir(skill, { recursive: true });
  await writeFile(path.join(skill, 'SKILL.md'), scribe);
  const done = async () => (await readFile(path.join(provided, 'done.jsonl'), 'utf8')).trim().split('\n');
  return { ...stage, provided, done };
}

for (const store of storeNames) {
  for (const when of ['the provider has done it', 'its outcome is stored'] as const) {
    test(`C8 on the ${store} store kill -9 when ${when}: it is done once, asked for once, and told`, async (t) => {
      if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
      const opened = await openStoreFor(store);
      if (opened === undefined) return t.skip(noPostgres);
      t.after(opened.close);
      const input = { capability: 'test.anywhere', operation: 'note', input: { text: 'once' } };
      const stage = await open(t, [{ name: 'capability_invoke', input }], opened.options);
      const byProvider = when === 'the provider has done it';
      if (byProvider) await writeFile(path.join(stage.provided, 'kill'), '');
      const first = stage.start(byProvider ? {} : { preload: killingAt({ at: kept, when: 'committed' }) });
      await first.ready;
      const ann = stage.telegram.person({ name: 'Ann' });
      ann.says('/scribe');
      const question = await ann.dm.nextMessage(/wants to use.*capability_invoke/s);
      ann.presses(question.id, 'Approve');
      await hasKilledItself(first, when);
      const second = stage.start();
      await ann.dm.nextMessage('All done.');
      assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
      assert.equal((await stage.done()).length, 1);
      const asked = ann.dm.everSent().filter(({ texts }) => texts.some((text) => /wants to use/.test(text)));
      assert.equal(asked.length, 1);
    });
  }
}

test('C4 C8 kill -9 while a command waits in skillet-cap: the host does not repeat it, and who repeats it does nothing twice', async (t) => {
  const command = `skillet-cap invoke test.anywhere note --input '{"text":"once"}'`;
  const bash = { name: 'bash', input: { command } };
  const stage = await open(t, [bash, bash]);
  await writeFile(path.join(stage.provided, 'kill'), '');
  const first = stage.start();
  await first.ready;
  const ann = stage.telegram.person({ name: 'Ann' });
  ann.says('/scribe');
  ann.presses((await ann.dm.nextMessage(/wants to use.*capability_invoke/s)).id, 'Approve');
  await hasKilledItself(first, 'the provider has done it');
  const second = stage.start();
  ann.presses((await ann.dm.nextMessage(/wants to use.*capability_invoke/s)).id, 'Approve');
  await ann.dm.nextMessage('All done.');
  assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
  assert.equal((await stage.done()).length, 1);
  const run = stage.messages.requests.map(({ body }) => body).findLast(isRun);
  const [cut, repeated] = resultsIn(run ?? assert.fail('no run'));
  assert.match(cut!, /interrupted/);
  // What the provider had kept under the key.
  assert.match(repeated!, /again/);
});
