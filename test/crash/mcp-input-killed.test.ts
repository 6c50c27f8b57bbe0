import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveTools } from '../servers/mcp/start-http-server.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { answerForm, asker, askTool, choice, formOf, shopToml } from '../support/mcp-input.ts';
import { noPostgres } from '../support/postgres.ts';

const answered = "UPDATE (skillet\\.)?pending_requests SET state = 'answered'";
const form = formOf('Which size?', { size: choice('S', 'M', 'L') }, ['size']);

/** Where the process ends. Undefined: it is killed while the question is open. */
const points: Readonly<Record<string, KillAt | undefined>> = {
  'the question is open': undefined,
  'the question is stored, and not sent': {
    at: 'INSERT INTO (skillet\\.)?pending_requests',
    when: 'committed',
  },
  'the answer is stored, and not passed on': { at: answered, when: 'committed' },
};

for (const store of storeNames)
  for (const [name, kill] of Object.entries(points))
    test(`X9 Q5 on the ${store} store kill -9 when ${name}: the call continues, and its first round is not repeated`, async (t) => {
      if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
      const opened = await openStoreFor(store);
      if (opened === undefined) return t.skip(noPostgres);
      t.after(opened.close);
      const server = await serveTools(t, { tools: [askTool], forms: [form] }, '2026-07-28');
      const stage = await openCrashStage({
        ...opened.options,
        channels: ['telegram'],
        toml: shopToml(server.url),
        script: (body) => asker('mcp_shop_ask')(body, 0) as ServerStep,
      });
      t.after(stage.close);
      const first = stage.start(kill === undefined ? {} : { preload: killingAt(kill) });
      await first.ready;
      const ann = stage.telegram.person({ name: 'Ann', id: 42 });
      ann.says('order it');
      const ended = kill === undefined ? undefined : hasKilledItself(first, name);
      if (name === 'the question is stored, and not sent') await ended;
      let second = name === 'the question is stored, and not sent' ? stage.start() : first;
      const asked = await ann.dm.nextMessage(/Which size\?/);
      if (kill === undefined) {
        await first.kill();
        second = stage.start();
        await second.ready;
      }
      answerForm(ann, asked.text, 'M');
      if (name === 'the answer is stored, and not passed on') {
        await ended;
        second = stage.start();
      }
      assert.match((await ann.dm.nextMessage(/It says/)).text, /"size":"M"/);
      assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
      assert.equal(server.answered.length, 1, 'the answer goes to the server once');
      const calls = server.asked.filter((method) => method === 'tools/call').length;
      assert.equal(calls, 2, 'one call, and its second round');
    });
