import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createQuestions } from '../../src/runs/questions.ts';
import { runJournal } from '../../src/runs/run-journal.ts';
import { noTokens } from '../../src/core/model.ts';
import type { Requester } from '../../src/core/tool.ts';
import { openStore } from '../../src/store/open-store.ts';
import { callOneTool } from '../support/call-one-tool.ts';
import { createManualClock } from '../support/manual-clock.ts';

const run = '0123456789abcdef';
const transcript = runJournal('telegram:42', run);
const halfAnHour = 30 * 60_000;
const ann: Requester = {
  conversation: { channel: 'telegram', chat: '42' },
  chatType: 'private',
  external: false,
  sender: 'telegram:42',
  kind: 'person',
};

/** A run that has asked which day, as its journal and the store have it. */
async function stage(t: TestContext) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(() => store.close());
  const questions = createQuestions({ store, clock });
  const call = { type: 'tool_use', id: 'toolu_1', name: 'ask_person', input: {} } as const;
  const content = [{ ...call, caller: { type: 'direct' } }] as const;
  const said = { content, stopReason: 'tool_use', tokens: noTokens, model: 'm', at: clock.now() } as const;
  await store.commit({ entries: [{ transcript, entry: { kind: 'assistant', ...said } }] });
  const tool = questions.tool({ run, skill: 'book', transcript });
  const ask = () => callOneTool(tool, { question: 'Which day?' });
  const open = (sender = ann.sender) =>
    questions.open({ conversation: ann.conversation, sender, transcript: 'telegram:42' });
  const take = (answer: string, more: { call?: string; skill?: string; requester?: Requester } = {}) =>
    questions.take({ transcript, skill: 'book', requester: ann, call: 'c1', ...more }, answer);
  assert.equal((await ask()).question, 'Which day?');
  return { clock, ask, open, take };
}

test('U14 a question stands for half an hour, whoever asks for it and however often the call is made', async (t) => {
  const { clock, ask, open, take } = await stage(t);
  assert.equal((await ask()).question, 'Which day?');
  assert.deepEqual(await open(), [{ run, skill: 'book', question: 'Which day?' }]);
  assert.deepEqual(await open('telegram:7'), []);
  await clock.advance(halfAnHour - 1);
  assert.equal((await open()).length, 1);
  await clock.advance(1);
  assert.deepEqual(await open(), []);
  assert.equal(await take('Monday'), false);
  const late = await ask();
  assert.equal(late.question, undefined);
  assert.match(late.content, /TIMEOUT.*did not answer/);
});

test('U14 Q5 an answer counts once: the call that brought it goes on with it again after a crash, no other does', async (t) => {
  const { ask, take } = await stage(t);
  assert.equal(await take('Monday'), true);
  assert.equal(await take('Monday'), true, 'the same call, made again');
  assert.equal(await take('Monday', { call: 'c2' }), false);
  const answered = await ask();
  assert.equal(answered.question, undefined);
  assert.match(answered.content, /They answered: Monday/);
});

test('U14 an answer of another person, in another chat or for another skill is none', async (t) => {
  const { open, take } = await stage(t);
  assert.equal(await take('Monday', { requester: { ...ann, sender: 'telegram:7' } }), false);
  const elsewhere = { ...ann, conversation: { channel: 'telegram', chat: '43' } };
  assert.equal(await take('Monday', { requester: elsewhere }), false);
  assert.equal(await take('Monday', { skill: 'mail' }), false);
  assert.equal((await open()).length, 1);
});
