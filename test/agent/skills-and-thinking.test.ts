import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { httpModelAt } from '../support/model-at.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { AnswerBlock, ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import type { Mismatch } from '../servers/messages/thinking-signatures.ts';
import { quietLog } from '../support/quiet-log.ts';
import { allowing, openTurnStage } from '../support/turn-stage.ts';

const think = (thinking: string): AnswerBlock => ({ type: 'thinking', thinking });
const use = (name: string, input: object): AnswerBlock => ({ type: 'tool_use', name, input });
const says = (name: string): ServerStep => ({ content: [think(name), { type: 'text', text: name }] });
const skills = { tidy: allowing('web_fetch'), tone: allowing('web_fetch', 'context: inline\n') };

async function open(
  t: TestContext,
  script: readonly ServerStep[],
  mismatch: Mismatch,
  model = 'claude-sonnet-5-5',
) {
  const server = await startMessagesServer({ script, mismatch });
  t.after(() => server.close());
  const asked = httpModelAt(
    { alias: 'default', model, endpoint: { baseUrl: server.url, apiKey: 'ours' }, maxTokens: 1_000 },
    { log: quietLog(), clock: { now: systemClock.now, sleep: async () => {} } },
  );
  const stage = await openTurnStage(t, { skills, script: [], model: asked });
  const intact = (): void => {
    assert.deepEqual(server.refused, []);
    assert.deepEqual(
      server.requests.flatMap(({ dropped }) => dropped),
      [],
    );
  };
  const thinking = (): readonly string[] =>
    [...JSON.stringify(server.requests.at(-1)?.body.messages).matchAll(/"thinking":"([^"]+)"/g)].map(
      ([, words = '']) => words,
    );
  return { server, stage, intact, thinking };
}

for (const mismatch of ['error', 'drop_block'] as const) {
  for (const [how, load] of [
    ['skills_load', use('skills_load', { skill: 'tidy' })],
    ['an inline skill', use('use_skill', { skill: 'tone', message: 'x' })],
  ] as const) {
    test(`M13 T6 ${how}, a forbidden call and the turn after it: all answered (${mismatch})`, async (t) => {
      const script: readonly ServerStep[] = [
        { content: [think('1'), load] },
        { content: [think('2'), use('send_file', { of: 'x' })] },
        { content: [think('3'), use('web_fetch', { of: 'x' })] },
        says('4'),
        says('5'),
        says('6'),
      ];
      const { server, stage, intact, thinking } = await open(t, script, mismatch);
      assert.equal(await stage.ask('Tidy up.', { id: 'a' }), '4');
      assert.deepEqual(stage.did, ['web_fetch x']);
      const results = await stage.results();
      assert.match(results[0] ?? '', /until the end of this turn you may call only: .*web_fetch/);
      assert.match(results[1] ?? '', /TOOL_NOT_ALLOWED/);
      assert.deepEqual(thinking(), ['1', '2', '3']);
      assert.equal(await stage.ask('And now?', { id: 'b' }), '5');
      assert.equal(await stage.ask('And then?', { id: 'c' }), '6');
      intact();
      // What was thought behind instructions that are one line by now is left out.
      assert.deepEqual(thinking(), ['1', '5']);
      const tools = server.requests.map(({ body }) => JSON.stringify(body.tools));
      assert.equal(new Set(tools).size, 1);
    });
  }

  test(`M13 a skill that is saved in mid-conversation stops nothing (${mismatch})`, async (t) => {
    const { stage, intact, thinking } = await open(t, [says('1'), says('2'), says('3')], mismatch);
    await stage.ask('One.', { id: 'a' });
    await stage.edit('more', allowing(undefined));
    assert.equal(await stage.ask('Two.', { id: 'b' }), '2');
    assert.equal(await stage.ask('Three.', { id: 'c' }), '3');
    intact();
    assert.deepEqual(thinking(), ['2']);
  });
}

test('T6 for a model that binds nothing the list shrinks, and its thinking stays', async (t) => {
  const script: readonly ServerStep[] = [
    { content: [think('1'), use('skills_load', { skill: 'tidy' })] },
    says('2'),
  ];
  const { server, stage, intact, thinking } = await open(t, script, 'error', 'a-local-model');
  await stage.ask('Tidy up.');
  intact();
  assert.deepEqual(thinking(), ['1']);
  const [before, after] = server.requests.map(({ body }) => (body.tools ?? []).map(({ name }) => name));
  assert.ok(before?.includes('send_file'));
  assert.ok(after?.includes('web_fetch') && !after.includes('send_file'));
});
