import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, untilHeard } from '../support/crash/kill-points.ts';
import { answered } from '../support/crash/load.ts';
import { telegramDm } from '../support/crash/places.ts';
import { readStored } from '../support/crash/read-stored.ts';
import { seededRandom } from '../support/crash/seeded-random.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { noPostgres } from '../support/postgres.ts';

const moments = {
  'are taken along, and not stored': {
    at: 'UPDATE (skillet\\.)?inbox SET was_taken = (1|true|TRUE), join_key = NULL, taken_at = \\S+ WHERE [^]*"telegram:\\d+:\\d+"',
    when: 'committed',
  },
  'stand in the turn, and it has no answer': {
    at: '(INSERT INTO entries|skillet\\.write_steps)\\b.*joins.*\\bn2\\b',
    when: 'committed',
  },
} as const;

/** What was said since the last answer. */
function open({ messages }: MessagesRequest): readonly string[] {
  const since = JSON.stringify(messages).replace(/^.*answer (?:n\d+ ?)+/s, '');
  return [...new Set(since.match(/\bn\d+\b/g))];
}

for (const store of storeNames)
  for (const [moment, kill] of Object.entries(moments))
    test(`H11 Q5 on the ${store} store, killed when words ${moment}, nothing is lost and each is answered once`, async (t) => {
      const isQuick = store === 'embedded' || moment === 'are taken along, and not stored';
      if (!isQuick && !thorough) return t.skip('in npm run test:crash');
      const opened = await openStoreFor(store);
      if (opened === undefined) return t.skip(noPostgres);
      t.after(opened.close);
      const asked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const stage = await openCrashStage({
        ...opened.options,
        channels: ['telegram'],
        script: (body) => {
          if (JSON.stringify(body.messages).includes('tool_result')) return `answer ${open(body).join(' ')}`;
          asked.resolve();
          const look = { type: 'tool_use', id: 'toolu_look', name: 'skills_list', input: {} } as const;
          return { content: [look], wire: { hold: held.promise } };
        },
      });
      t.after(() => stage.close());
      const ann = telegramDm(stage, 'Ann', { random: seededRandom(1), twice: 0, edited: 0 });
      const first = stage.start({ preload: killingAt(kill) });
      await ann.say('list n1');
      await asked.promise;
      const accepted = await ann.say('say n2');
      await stage.telegram.until('the second message is stored', () => accepted() || undefined);
      held.resolve();
      await hasKilledItself(first, moment);

      const second = stage.start();
      const tokens = (): readonly string[] => ann.heard().flatMap(answered).toSorted();
      await untilHeard(ann, () => tokens().includes('n2'));
      await ann.say('say n3');
      await untilHeard(ann, () => tokens().includes('n3'));
      assert.deepEqual(await second.stop(), { code: 0, signal: null });
      assert.deepEqual(tokens(), ['n1', 'n2', 'n3']);
      const last = JSON.stringify(stage.messages.requests.at(-1)?.body.messages);
      assert.equal(last.split('say n2').length, 2, 'it stands in the transcript once');
      const { dead, unsent } = await readStored(stage.storeUrl);
      assert.deepEqual([dead, unsent], [[], 0]);
    });
