import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { bridge } from '../support/capability-stage.ts';
import { callSteps } from '../support/call-steps.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt } from '../support/crash/kill-points.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';

const scribe =
  '---\nname: scribe\ndescription: Writes notes.\ncapabilities: [test.anywhere]\n---\nWrite a note.\n';
const kept = '(INSERT INTO capability_outcomes|INSERT INTO skillet\\.capability_outcomes)';

for (const store of storeNames) {
  for (const when of ['the provider has done it', 'its outcome is stored'] as const) {
    test(`C8 on the ${store} store kill -9 when ${when}: it is done once, asked for once, and told`, async (t) => {
      if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
      const opened = await openStoreFor(store);
      if (opened === undefined) return t.skip(noPostgres);
      t.after(opened.close);
      const folder = await mkdtemp(path.join(tmpdir(), 'skillet-scribe-'));
      t.after(() => rm(folder, { recursive: true, force: true }));
      const input = { capability: 'test.anywhere', operation: 'note', input: { text: 'once' } };
      const stage = await openCrashStage({
        ...(opened.server === undefined ? {} : { storeUrl: await opened.server.database() }),
        channels: ['telegram'],
        toml: `[capabilities.providers.test]\ncommand = ${JSON.stringify([process.execPath, bridge, folder])}\n`,
        script: callSteps([{ name: 'capability_invoke', input }]),
      });
      t.after(stage.close);
      const skill = path.join(stage.folder, 'workspace', 'skills', 'scribe');
      await mkdir(skill, { recursive: true });
      await writeFile(path.join(skill, 'SKILL.md'), scribe);
      const byProvider = when === 'the provider has done it';
      if (byProvider) await writeFile(path.join(folder, 'kill'), '');
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
      const done = (await readFile(path.join(folder, 'done.jsonl'), 'utf8')).trim().split('\n');
      assert.equal(done.length, 1);
      const asked = ann.dm.everSent().filter(({ texts }) => texts.some((text) => /wants to use/.test(text)));
      assert.equal(asked.length, 1);
    });
  }
}
