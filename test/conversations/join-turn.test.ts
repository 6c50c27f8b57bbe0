import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { createQuestions } from '../../src/runs/questions.ts';
import { joinTurn, type JoinDeps } from '../../src/conversations/join-turn.ts';
import { succeed } from '../../src/core/envelope.ts';
import type { Message } from '../../src/core/message.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { defineTool, readOnly } from '../../src/core/tool.ts';
import { openStore } from '../../src/store/open-store.ts';
import { partOf } from '../support/app-of.ts';
import { openDoor } from '../support/call-one-tool.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { scriptedModel, type ModelStep } from '../support/scripted-model.ts';
import { makeTurn } from '../support/make-turn.ts';

const first = makeMessage({ text: 'look for a train to Bern' });
const more = (n: number, text: string, change: Partial<Message> = {}): Message =>
  makeMessage({ id: `telegram:42:more${n}`, text, sentAt: first.sentAt + n * 10_000, ...change });
const look = { calls: [{ name: 'look' }] };

/** A turn with a tool, during whose first call these messages arrive. */
async function stage(arrive: readonly Message[], script: Parameters<typeof scriptedModel>[0]) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const log = quietLog();
  const model = scriptedModel(script);
  const removed = new Set<string>();
  const arriving = [...arrive];
  const tool = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    traits: readOnly,
    risk: 'safe',
    async run() {
      for (const message of arriving.splice(0)) await store.inbox.accept(message, { now: clock.now() });
      return succeed('found');
    },
  });
  const questions = createQuestions({ store, clock });
  const turn = makeTurn({ store, clock, log, questions });
  const seen: string[] = [];
  const deps: JoinDeps = {
    store,
    channels: new Map(),
    users: partOf({
      decide: async ({ sender }) =>
        removed.has(sender.id) ? { allowed: false, code: 'NOT_ALLOWED', reason: '' } : { allowed: true },
    }),
    judge: async (message) =>
      message.command === undefined
        ? { kind: 'turn', invocation: undefined, shown: {} }
        : { kind: 'command', name: 'new' },
    questions,
    clock,
  };
  await store.inbox.accept(first, { now: clock.now() });
  const answer = async (commit = store.commit, isCall = false): Promise<string> => {
    const item = await store.inbox.take('telegram:42', clock.now());
    assert.ok(item !== undefined);
    const own = makeTurn({ store: { ...store, commit }, clock, log, questions });
    const { text } = await (commit === store.commit ? turn : own)(
      {
        key: item.key,
        message: item.message,
        transcript: 'telegram:42',
        invocation: undefined,
        joining: joinTurn(
          { item, transcript: 'telegram:42', isCall, onJoin: () => seen.push(item.key) },
          deps,
        ),
        signal: new AbortController().signal,
      },
      {
        model,
        system: [],
        tools: [tool],
        shown: () => [tool],
        callTool: openDoor([tool]),
        activate: () => undefined,
        answers: () => undefined,
        maxTurns: 5,
      },
    );
    await store.commit({ done: item.key });
    return text;
  };
  const waiting = async () => (await store.inbox.list('waiting')).map(({ message }) => message?.text);
  const entries = async () => (await store.transcripts.read('telegram:42')).entries.map(({ entry }) => entry);
  return { clock, store, model, answer, waiting, entries, removed, seen };
}

/** How often the person's own words are in a request. */
function count(request: ModelRequest | undefined, words: string): number {
  return JSON.stringify(request?.messages).split(words).length - 1;
}

test('H11 M13 what the requester writes during a turn joins it after the results of a round, in order', async () => {
  const { model, answer, waiting, entries, seen } = await stage(
    [more(1, 'first class'), more(2, 'see https://sbb.example/now')],
    [look, 'At nine.'],
  );
  assert.equal(await answer(), 'At nine.');
  assert.deepEqual(await waiting(), [], 'each is finished with the turn');
  const last = model.requests[1]?.messages.at(-1);
  assert.equal(last?.role, 'user');
  const blocks = last.content as readonly { type: string; text?: string }[];
  assert.deepEqual(
    blocks.map(({ type }) => type),
    ['tool_result', 'text', 'text'],
  );
  assert.match(blocks[1]?.text ?? '', /^first class\n<host>\nThe person wrote this while you were working/);
  assert.match(blocks[2]?.text ?? '', /^see https/);
  const joined = (await entries()).filter((entry) => entry.kind === 'user' && entry.joins === first.id);
  assert.equal(joined.length, 2);
  assert.deepEqual(joined[1]?.kind === 'user' && joined[1].urls, ['https://sbb.example/now'], 'S7');
  assert.deepEqual(seen, [first.id, first.id], 'the person is shown it');
});

test('H11 a final answer is not held up: what comes with it is a turn of its own', async () => {
  const { store, clock, model, answer, waiting } = await stage([], async () => {
    if (model.requests.length === 1) await store.inbox.accept(more(1, 'and back'), { now: clock.now() });
    return 'At nine.';
  });
  await answer();
  assert.deepEqual(await waiting(), ['and back']);
  await answer();
  assert.equal(count(model.requests[1], 'and back'), 1);
});

test('H11 an edit of the question counts, also when the answer to the old one is there already', async () => {
  const edit = more(1, 'to Basel', { id: `${first.id}!edit:1`, edits: first.id });
  for (const script of [
    [look, 'To Basel at ten.'],
    [look, 'To Bern at nine.', 'To Basel at ten.'],
  ]) {
    const isLate = script.length > 2;
    const { store, clock, model, answer, waiting } = await stage(
      isLate ? [more(2, 'and back')] : [edit],
      async (_, n) => {
        if (isLate && n === 1) {
          await store.inbox.accept(more(3, 'why?'), { now: clock.now() });
          await store.inbox.accept(edit, { now: clock.now() });
        }
        return script[n] ?? assert.fail();
      },
    );
    assert.equal(await answer(), 'To Basel at ten.', 'the person gets one answer, the right one');
    assert.deepEqual(await waiting(), []);
    const last = JSON.stringify(model.requests.at(-1)?.messages.at(-1));
    assert.match(last, /to Basel\\n<host>\\nThe person changed an earlier message/);
    assert.equal(/Your last answer was not sent/.test(last), isLate);
  }
});

const quick = { sentAt: first.sentAt + 1_000 };

test('H11 fragments that wait, or come with the answer to the first, are one turn with one answer', async () => {
  for (const isLate of [false, true]) {
    const arriving = [
      more(1, 'quick one', quick),
      more(2, 'what is 2+2?', { sentAt: first.sentAt + 2_000 }),
      more(3, 'later'),
    ];
    const arrive = async (): Promise<void> => {
      for (const message of arriving.splice(0)) await store.inbox.accept(message, { now: clock.now() });
    };
    const { store, clock, model, answer, waiting } = await stage([], async (_, n) => {
      await arrive();
      return isLate && n === 0 ? 'Hello!' : '4';
    });
    if (!isLate) await arrive();
    await clock.advance(10);
    assert.equal(await answer(), '4');
    assert.deepEqual(await waiting(), isLate ? [] : ['later'], 'what came while it worked joins');
    assert.equal(model.requests.length, isLate ? 2 : 1);
    assert.equal(count(model.requests.at(-1), 'what is 2+2?'), 1);
  }
});

test('H11 quick words of somebody else, or after a call of a skill, are messages of their own', async () => {
  const eve = { sender: { id: 'telegram:66', name: 'Eve', kind: 'person' } } as const;
  const { store, clock, answer, waiting } = await stage([], ['Hello!', 'Hello!']);
  await store.inbox.accept(more(1, 'me, too', { ...quick, ...eve }), { now: clock.now() });
  await clock.advance(10);
  assert.equal(await answer(), 'Hello!');
  assert.deepEqual(await waiting(), ['me, too']);
  const called = await stage([], ['Hello!']);
  await called.store.inbox.accept(more(1, 'and then', quick), { now: called.clock.now() });
  await called.clock.advance(10);
  await called.answer(called.store.commit, true);
  assert.deepEqual(await called.waiting(), ['and then']);
});

const apart: Readonly<Record<string, Partial<Message>>> = {
  'somebody else’s words': { sender: { id: 'telegram:66', name: 'Eve', kind: 'person' } },
  'a command': { command: { name: 'new', args: '' } },
  'what one person alone sees': { ephemeral: true },
  'a file': { attachments: [{ kind: 'photo', name: 'p.jpg' }] },
};
for (const [what, change] of Object.entries(apart))
  test(`H11 ${what} does not join, nor does what the person wrote after it`, async () => {
    const later = change.sender === undefined ? [more(2, 'after it')] : [];
    const { model, answer, waiting } = await stage([more(1, 'apart', change), ...later], [look, 'At nine.']);
    await answer();
    assert.deepEqual(await waiting(), ['apart', ...later.map(({ text }) => text)]);
    assert.equal(count(model.requests[1], 'apart') + count(model.requests[1], 'after it'), 0);
  });

test('H11 A9 who was removed meanwhile adds nothing to their turn', async () => {
  const { answer, waiting, removed } = await stage([more(1, 'more')], (_, index) => {
    removed.add('telegram:42');
    return index === 0 ? look : 'At nine.';
  });
  await answer();
  assert.deepEqual(await waiting(), ['more']);
});

test('H11 U14 while a run waits for the person’s answer, their words join nothing: they may be that answer', async () => {
  for (const [requester, joins] of [
    ['telegram:42', false],
    ['telegram:7', true],
  ] as const) {
    const { clock, store, answer, waiting } = await stage([more(1, 'the first class')], [look, 'At nine.']);
    await store.pendingRequests.add({
      id: 'q',
      kind: 'question',
      conversation: first.conversation,
      requester,
      transcript: 'telegram:42#run:r',
      toolUseId: 't',
      payload: { run: 'r', skill: 'trains', question: 'Which class?' },
      askedAt: clock.now(),
      expiresAt: clock.now() + 60_000,
    });
    await answer();
    assert.deepEqual(await waiting(), joins ? [] : ['the first class'], requester);
  }
});

test('H11 what was written before the turn began is no part of it', async () => {
  const { store, clock, answer, waiting } = await stage([], [look, 'At nine.']);
  await store.inbox.accept(more(1, 'before'), { now: clock.now() });
  await clock.advance(10);
  await answer();
  assert.deepEqual(await waiting(), ['before']);
});

test('H11 Q5 a process that ends before the words were stored, or after it, loses and repeats nothing', async () => {
  const ended = new Error('the process ended');
  const steps: ModelStep[] = [look, ended, 'At nine.'];
  const { store, model, answer, waiting, entries } = await stage([more(1, 'first class')], steps);
  const cut: typeof store.commit = (step) =>
    step.done === undefined ? store.commit(step) : Promise.reject(ended);
  await assert.rejects(answer(cut), ended);
  assert.deepEqual(await waiting(), [first.text, 'first class'], 'taken, and not stored: it still waits');
  await assert.rejects(answer(), ended);
  assert.deepEqual(await waiting(), [first.text], 'stored and finished in one step');
  assert.equal(await answer(), 'At nine.');
  assert.equal(count(model.requests[2], 'first class'), 1);
  assert.equal(count(model.requests[2], first.text), 1);
  assert.equal((await entries()).filter(({ kind }) => kind === 'tool_result').length, 1, 'nothing is redone');
  assert.deepEqual(await waiting(), []);
});
