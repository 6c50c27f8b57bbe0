import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { callSteps } from '../support/call-steps.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';

const report = '---\nname: report\ndescription: Makes reports.\n---\nMake a report and send it.\n';
const writes = '(INSERT INTO outbox|skillet\\.write_steps)\\b.*\\bfile-';
const entries = '(INSERT INTO entries|skillet\\.write_steps)\\b.*tool_result.*delivered to the conversation';

/** Where the process that sends a file dies. */
const moments: readonly Readonly<{ name: string; kill: KillAt; often?: true }>[] = [
  { name: 'the bytes are kept, the row is not stored', kill: { at: writes, when: 'before' } },
  { name: 'the row is stored, the result is not', kill: { at: entries, when: 'before' }, often: true },
  { name: 'the row is stored, nothing is sent', kill: { at: writes, when: 'committed' }, often: true },
  { name: 'the result is stored', kill: { at: entries, when: 'committed' } },
];

for (const store of storeNames) {
  test(`Q6 T12 on the ${store} store a file arrives once, wherever between its bytes and its result kill -9 falls`, async (t) => {
    if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    for (const { name, kill } of moments.filter(({ often }) => thorough || often)) {
      const stage = await openCrashStage({
        ...opened.options,
        channels: ['telegram'],
        script: callSteps([
          { name: 'write_file', input: { path: 'a.txt', content: 'the report' } },
          { name: 'send_file', input: { path: 'a.txt' } },
        ]),
      });
      try {
        const skill = path.join(stage.folder, 'workspace', 'skills', 'report');
        await mkdir(skill, { recursive: true });
        await writeFile(path.join(skill, 'SKILL.md'), report);
        const ann = stage.telegram.person({ name: 'Ann' });
        const first = stage.start({ preload: killingAt(kill) });
        await first.ready;
        ann.says('/report');
        await hasKilledItself(first, name);
        const second = stage.start();
        assert.equal((await ann.dm.nextFile()).file.bytes.toString(), 'the report', name);
        await ann.dm.nextMessage('All done.');
        const exit = await second.stop();
        assert.deepEqual(exit, { code: 0, signal: null }, second.errors().join('\n'));
        assert.equal(ann.dm.everSent().filter(({ file }) => file !== undefined).length, 1, name);
        assert.deepEqual(await readdir(path.join(stage.folder, 'workspace', 'outgoing')), [], name);
      } finally {
        await stage.close();
      }
    }
  });
}
