import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself } from '../support/crash/kill-points.ts';

const long = Array.from({ length: 400 }, (_, at) => `- **Item ${at}** of the long answer`).join('\n');

for (const moment of ['started', 'answered']) {
  test(`Q5 S15 where kill -9 falls when the thread of a long answer has ${moment}, the answer arrives whole and once`, async (t) => {
    const stage = await openCrashStage({ channels: ['telegram'], script: () => long });
    t.after(() => stage.close());
    const ann = stage.telegram.person({ name: 'Ann' });
    const first = stage.start({ preload: { file: 'kill-at-thread.ts', env: { SKILLET_KILL_AT: moment } } });
    await first.ready;
    ann.says('write much');
    await hasKilledItself(first, moment);
    assert.deepEqual(ann.dm.everSent(), []);
    const second = stage.start();
    await ann.dm.nextMessage(/Item 399 of the long answer$/);
    const exit = await second.stop();
    assert.deepEqual(exit, { code: 0, signal: null }, second.errors().join('\n'));
    const items = ann.dm
      .everSent()
      .flatMap(({ text }) => [...text.matchAll(/Item (\d+) /g)].map(([, item]) => Number(item)));
    assert.deepEqual(items, [...Array(400).keys()]);
    assert.equal(stage.messages.requests.length, 1, 'the model is not asked again');
  });
}
