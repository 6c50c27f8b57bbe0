import assert from 'node:assert/strict';
import { webSearchRows } from '../../src/tools/web/web-search.ts';
import { test } from 'node:test';
import { z } from 'zod';
import { createQuestions } from '../../src/runs/questions.ts';
import { runIdOf, runJournal } from '../../src/runs/run-journal.ts';
import { askedAgain } from '../../src/conversations/user-entry.ts';
import { createRunSkill, type RunContext } from '../../src/runs/run-skill.ts';
import type { TurnContext } from '../../src/conversations/turn.ts';
import { invocationId } from '../../src/agent/models/anthropic-request.ts';
import { createUseSkill } from '../../src/runs/use-skill.ts';
import { ModelError } from '../../src/core/errors.ts';
import type { Message } from '../../src/core/message.ts';
import type { Model } from '../../src/core/model.ts';
import { succeed } from '../../src/core/envelope.ts';
import { defineTool, readOnly, type Tool } from '../../src/core/tool.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openDoor } from '../support/call-one-tool.ts';
import { makeMessage } from '../support/make-message.ts';
import { makeSkill } from '../support/make-skill.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { scriptedModel, type ModelStep } from '../support/scripted-model.ts';
import { toolContext } from '../support/tool-context.ts';
import { makeTurn } from '../support/make-turn.ts';

function grantOf(model: Model, tools: readonly Tool[]): RunContext {
  return {
    ok: true,
    sensitive: false,
    model,
    maxIterations: 10,
    timeoutSeconds: 60,
    body: { text: 'Look it up.', filled: false },
    files: [],
    filesCut: false,
    tools,
    callTool: openDoor(tools),
    clear: async () => undefined,
  };
}

async function setUp(script: {
  main: readonly ModelStep[];
  run?: readonly ModelStep[];
  /** What was said before the bot came. */
  earlier?: () => readonly Message[];
  /** The process ends under the first call of the host or the model. */
  diesInCall?: true;
}) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const log = quietLog();
  const main = scriptedModel(script.main);
  const inRun = scriptedModel(script.run ?? []);
  const research = makeSkill('research');
  const runSkill = createRunSkill({
    zone: () => 'UTC',
    store,
    questions: createQuestions({ store, clock }),
    createContext: async () => grantOf(inRun, []),
    costOf: () => undefined,
    clock,
    log,
  });
  const useSkill = createUseSkill({
    hasStarted: async () => false,
    skills: {
      visible: () => [research],
      find: async (name) => (name === 'research' ? research : undefined),
    },
    access: {
      rules: () => ({ enabled: true, defaults: {}, skills: new Map() }),
      use: () => ({
        chatType: 'private',
        chatIds: ['telegram:42'],
        external: false,
        sender: 'telegram:42',
        by: 'model',
      }),
      onDenied: () => undefined,
    },
    requirements: () => undefined,
    work: { run: (skill, request, context) => runSkill(skill, request, context, 'telegram:42') },
  });
  const audited: unknown[] = [];
  const called: unknown[] = [];
  const door = openDoor([useSkill]);
  const grant: TurnContext = {
    model: main,
    system: [{ type: 'text', text: 'be brief' }],
    tools: [useSkill],
    shown: () => [useSkill],
    callTool: (call, signal) => {
      called.push(call.input);
      if (script.diesInCall && called.length === 1) throw new Error('the process dies here');
      return door(call, signal);
    },
    activate: () => undefined,
    answers: () => undefined,
    maxTurns: 25,
  };
  const turn = makeTurn({
    ...{ store, clock, log, earlier: script.earlier },
    audit: { record: async (event) => void audited.push(event) },
  });
  const ask = (
    message: Message,
    more: { invocation?: { skill: string; args: string }; again?: true; signal?: AbortSignal } = {},
  ) =>
    turn(
      {
        key: message.id,
        message,
        transcript: 'telegram:42',
        invocation: more.invocation,
        ...(more.again === undefined ? {} : { again: more.again }),
        signal: more.signal ?? new AbortController().signal,
      },
      grant,
    ).then((answer) => answer.text);
  const entries = async (id = 'telegram:42') =>
    (await store.transcripts.read(id)).entries.map(({ entry }) => entry);
  return { clock, store, main, inRun, ask, entries, log, audited, called };
}

const userTexts = (
  request: { messages: readonly { role: string; content: unknown }[] } | undefined,
): string => JSON.stringify(request?.messages.filter(({ role }) => role === 'user'));

test('U2 U4 a run sees only its message, and its result reaches the main agent in an envelope', async () => {
  const { main, inRun, ask, log } = await setUp({
    main: [
      'Hello.',
      { calls: [{ name: 'use_skill', input: { skill: 'research', message: 'news from Paris' } }] },
      'Paris is fine.',
    ],
    run: ['Nothing new in Paris.'],
  });
  await ask(makeMessage({ text: 'my secret plan is X' }));
  assert.equal(await ask(makeMessage({ id: 'telegram:42:2', text: 'what about Paris?' })), 'Paris is fine.');
  const run = JSON.stringify(inRun.requests[0]);
  assert.match(run, /news from Paris/);
  assert.doesNotMatch(run, /secret plan/);
  assert.match(
    userTexts(main.requests[2]),
    /the user has NOT seen it[^]*<output>\\nNothing new in Paris\.\\n<\/output>/,
  );
  assert.ok(
    log.lines.some(({ message, fields }) => message === 'a run ended' && fields['skill'] === 'research'),
    'U12',
  );
});

test('U4 a long result is cut with a marker, within what any tool may give, and its envelope stays whole', async () => {
  const { main, ask } = await setUp({
    main: [{ calls: [{ name: 'use_skill', input: { skill: 'research', message: 'all of it' } }] }, 'Long.'],
    run: [`${'a line of news\n'.repeat(3_000)}the end`],
  });
  await ask(makeMessage({ text: 'what is new?' }));
  const [result] = main.requests[1]?.messages.at(-1)?.content as { content: string }[];
  const text = result?.content ?? '';
  assert.ok(text.length > 28_000 && text.length <= 30_000, String(text.length));
  assert.match(text, /cut to length/);
  assert.match(text, /characters? left out[^]*<\/output>$/);
  assert.doesNotMatch(text, /the end/);
});

test('Q12 what belongs to a conversation begins with its id, and a run says for whom it was', async () => {
  const { ask, entries } = await setUp({
    main: [{ calls: [{ name: 'use_skill', input: { skill: 'research', message: 'x' }, id: 'c1' }] }, 'Done.'],
    run: ['Found.'],
  });
  await ask(makeMessage({ text: 'look' }));
  const id = runJournal('telegram:42', runIdOf('telegram:42', 'c1'));
  assert.match(id, /^telegram:42#run:[0-9a-f]{16}$/);
  const [first] = await entries(id);
  assert.ok(first?.kind === 'user');
  assert.equal(first.sender, 'telegram:42');
});

test('M9 a run that grows too long goes on from a summary, its task in view', async () => {
  const { inRun, ask, log } = await setUp({
    main: [{ calls: [{ name: 'use_skill', input: { skill: 'research', message: 'THE TASK' } }] }, 'Done.'],
    run: [{ text: 'filler '.repeat(20_000), calls: [{ name: 'none' }] }, 'Summary: began.', 'Found.'],
  });
  await ask(makeMessage({ text: 'look' }));
  assert.equal(inRun.requests.length, 3);
  assert.match(userTexts(inRun.requests[2]), /Summary: began\..*THE TASK/);
  const line = log.lines.find(({ message }) => message === 'a transcript was compacted');
  assert.match(String(line?.fields['transcript']), /^telegram:42#run:/);
});

test('I6 a skill called by name runs without asking a model first, and the conversation knows of it', async () => {
  const { main, inRun, ask, entries } = await setUp({ main: ['Here you are.'], run: ['found it'] });
  const message = makeMessage({
    text: '/research  Paris  now',
    command: { name: 'research', args: 'Paris  now' },
  });
  assert.equal(
    await ask(message, { invocation: { skill: 'research', args: 'Paris  now' } }),
    'Here you are.',
  );
  assert.match(userTexts(inRun.requests[0]), /Paris {2}now/);
  assert.equal(main.requests.length, 1);
  assert.match(userTexts(main.requests[0]), /found it/);
  assert.deepEqual(
    (await entries()).map(({ kind }) => kind),
    ['user', 'user', 'assistant'],
  );
  assert.match(invocationId(message.id), /^[a-zA-Z0-9_-]{1,64}$/);
});

test('I1 H10 Q5 a run that is gone on with is told what it was told at first, whatever the thread says now', async () => {
  const thread = ['The ferry leaves at ten.'];
  const { ask, called, entries } = await setUp({
    main: ['Here you are.'],
    run: ['found it'],
    diesInCall: true,
    earlier: () => thread.map((text, n) => makeMessage({ id: `telegram:42:e${n}`, chatType: 'group', text })),
  });
  const message = makeMessage({ chatType: 'group', text: '/research this' });
  const invocation = { skill: 'research', args: 'this' };
  await assert.rejects(ask(message, { invocation }), /dies here/);
  thread.splice(0, 1, 'The ferry was sold.', 'Obey me.');
  assert.equal(await ask(message, { invocation }), 'Here you are.');
  assert.equal(called.length, 2);
  assert.match(JSON.stringify(called[0]), /leaves at ten/);
  assert.deepEqual(called[1], called[0], 'the input that was approved');
  assert.doesNotMatch(JSON.stringify(await entries()), /was sold/);
});

test('H10 S7 what the bot said in a thread before may be as private as what was said there', async () => {
  const own = { id: 'slack:U0BOT', name: 'bot', kind: 'bot', own: true } as const;
  const { ask, store, entries } = await setUp({
    main: ['Fine.'],
    earlier: () => [
      makeMessage({ id: 'telegram:42:0', chatType: 'group', sender: own, text: 'Your diary.' }),
    ],
  });
  const mark = { kind: 'taint', taint: 'diary', at: 1 } as const;
  await store.commit({ entries: [{ transcript: 'telegram:42#room', entry: mark }] });
  await ask(makeMessage({ chatType: 'group', text: 'what did you say?' }));
  const [asked] = await entries();
  assert.equal(asked?.kind === 'user' && asked.taint, 'diary');
});

test('Q5 a turn that was cut off goes on from its transcript: nothing finished is done twice', async () => {
  const script = {
    main: [
      { calls: [{ name: 'use_skill', input: { skill: 'research', message: 'x' } }] },
      new Error('the process dies here'),
      'Done.',
    ],
    run: ['result'],
  };
  const { main, inRun, ask, entries } = await setUp(script);
  await assert.rejects(ask(makeMessage()), /dies here/);
  assert.equal(await ask(makeMessage()), 'Done.');
  assert.equal(inRun.requests.length, 1);
  assert.equal(main.requests.length, 3);
  const users = (await entries()).filter((entry) => entry.kind === 'user');
  assert.equal(users.length, 1);
  assert.equal(await ask(makeMessage()), 'Done.');
  assert.equal(main.requests.length, 3, 'an answered turn asked the model again');
});

test('Q5 an interrupted run goes on from its own journal: a finished tool call of it is not repeated', async () => {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const notes: string[] = [];
  const note = defineTool({
    name: 'note',
    description: 'Writes a note.',
    input: z.object({ text: z.string() }),
    traits: { ...readOnly, sideEffects: true, idempotent: false },
    run: async ({ text }) => {
      notes.push(text);
      return succeed('written');
    },
  });
  const model = scriptedModel([
    { calls: [{ name: 'note', input: { text: 'once' } }] },
    new Error('the process dies here'),
    'All noted.',
  ]);
  const runSkill = createRunSkill({
    zone: () => 'UTC',
    store,
    questions: createQuestions({ store, clock }),
    createContext: async () => grantOf(model, [note]),
    costOf: () => undefined,
    clock,
    log: quietLog(),
  });
  const context = toolContext({ toolUseId: 'call_1' });
  const run = () =>
    runSkill(makeSkill('noter'), { skill: 'noter', message: 'note it' }, context, 'telegram:42');
  await assert.rejects(run(), /dies here/);
  const result = await run();
  assert.deepEqual([result.status, result.text, result.iterations], ['ok', 'All noted.', 2]);
  assert.deepEqual(notes, ['once']);
});

test('U10 Q5 a run counts once in the statistics, with its steps and whether it failed, however often it is taken again', async () => {
  // In UTC it is the day before.
  const clock = createManualClock(Date.UTC(2026, 9, 31, 23, 30));
  const store = await openStore('sqlite::memory:', { clock });
  const broken = new ModelError('401', { sentence: 'The key is wrong.', passing: false });
  const model = scriptedModel([new Error('the process dies here'), broken, broken, 'Done.', 'Done.']);
  const absent: RunContext = { ok: false, result: { code: 'SKILL_UNAVAILABLE', text: 'bash is missing' } };
  const grants = { ready: true };
  const runSkill = createRunSkill({
    zone: () => 'Europe/Zurich',
    store,
    questions: createQuestions({ store, clock }),
    createContext: async () => (grants.ready ? grantOf(model, []) : absent),
    costOf: () => undefined,
    clock,
    log: quietLog(),
  });
  const run = (toolUseId: string, signal = new AbortController().signal) => {
    const request = { skill: 'noter', message: 'note it' };
    return runSkill(makeSkill('noter'), request, { ...toolContext({ toolUseId }), signal }, 'telegram:42');
  };
  const counted = async () =>
    (await store.stats('')).flatMap(({ day, model: alias, runs, steps, failures }) =>
      runs > 0 ? [[day, alias, runs, steps, failures]] : [],
    );
  const day = '2026-11-01';
  await assert.rejects(run('call_1'), /dies here/);
  assert.deepEqual(await counted(), [[day, 'default', 1, 0, 0]]);
  await run('call_1');
  assert.deepEqual(await counted(), [[day, 'default', 1, 0, 1]], 'a fault of the model');
  // As if the process had died before the result was stored: the run is asked for again.
  await run('call_1');
  assert.deepEqual(await counted(), [[day, 'default', 1, 0, 1]]);
  assert.equal((await run('call_1')).status, 'ok');
  await run('call_1');
  assert.deepEqual(await counted(), [[day, 'default', 1, 1, 0]], 'it has not failed after all');
  const stopped = AbortSignal.abort(new DOMException('stopped by a person', 'AbortError'));
  assert.equal((await run('call_2', stopped)).code, 'CANCELLED');
  assert.deepEqual(await counted(), [[day, 'default', 2, 1, 0]], 'what a person stops has not failed');
  grants.ready = false;
  await run('call_3');
  assert.deepEqual(await counted(), [
    [day, '', 1, 0, 1],
    [day, 'default', 2, 1, 0],
  ]);
});

test('U13 the line of a run says what it does and at which step, in the language of who asked', async () => {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const search = defineTool({
    name: 'web_search',
    row: webSearchRows.web_search,
    description: 'Searches.',
    input: z.object({ query: z.string() }),
    traits: readOnly,
    run: async () => succeed('found'),
  });
  const model = scriptedModel([{ calls: [{ name: 'web_search', input: { query: 'my salary' } }] }, 'Found.']);
  const lines: string[] = [];
  const { requester } = toolContext();
  const context = toolContext({
    requester: { ...requester, language: 'de' },
    progress: (line) => void lines.push(line),
  });
  const runSkill = createRunSkill({
    zone: () => 'UTC',
    store,
    questions: createQuestions({ store, clock }),
    createContext: async ({ context: { progress, requester: by } }) => ({
      ...grantOf(model, [search]),
      callTool: openDoor([search], { requester: by, onProgress: progress }),
    }),
    costOf: () => undefined,
    clock,
    log: quietLog(),
  });
  await runSkill(makeSkill('research'), { skill: 'research', message: 'go' }, context, 'telegram:42');
  assert.deepEqual(lines, [
    'research: Schritt 1',
    'research: suche im Web · Schritt 1',
    'research: Schritt 2',
  ]);
});

test('U6 an empty answer becomes a plain sentence, a passing model fault is thrown for another try', async () => {
  for (const text of ['', '\u200b\u2060']) {
    const empty = await setUp({ main: [{ text }] });
    assert.match(await empty.ask(makeMessage()), /Could you rephrase/);
  }
  const away = await setUp({
    main: [new ModelError('529 overloaded', { sentence: 'The model is busy.', passing: true })],
  });
  await assert.rejects(away.ask(makeMessage()), { name: 'ModelError', sentence: 'The model is busy.' });
  const wrong = await setUp({
    main: [new ModelError('401', { sentence: 'The model key is wrong.', passing: false })],
  });
  assert.equal(await wrong.ask(makeMessage()), 'The model key is wrong.');
});

test('M3 H14 a refusal, and that an answer was cut off, are told in the language of the person', async () => {
  const sender = { ...makeMessage().sender, language: 'fr' };
  const refused = await setUp({ main: [{ text: '', stopReason: 'refusal' }] });
  assert.equal(
    await refused.ask(makeMessage({ sender })),
    'Le modèle de langage a refusé de répondre à cela. Reformulez, ou demandez autre chose.',
  );
  const long = await setUp({
    main: [
      { text: 'un ', stopReason: 'max_tokens' },
      { text: 'deux', stopReason: 'max_tokens' },
    ],
  });
  assert.match(await long.ask(makeMessage({ sender })), /deux\n\n\(La réponse s’arrête ici : /);
});

test('Q4 a stopped turn says so, keeps what was said, and the next turn knows', async () => {
  const abort = new AbortController();
  const { main, ask } = await setUp({
    main: [{ text: 'Half an ans', hold: new Promise(() => undefined) }, 'Next.'],
  });
  const asked = ask(makeMessage(), { signal: abort.signal });
  while (main.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  abort.abort(new DOMException('stopped by a person', 'AbortError'));
  assert.equal(await asked, 'Half an ans\n\nStopped.');
  await ask(makeMessage({ id: 'telegram:42:2', text: 'and now?' }));
  assert.match(userTexts(main.requests[1]), /stopped the work/);
});

test('Q7 a turn cut off by shutdown is not answered: it goes on at the next start', async () => {
  const abort = new AbortController();
  const { main, ask } = await setUp({
    main: [{ text: 'Half', hold: new Promise(() => undefined) }, 'Whole.'],
  });
  const asked = ask(makeMessage(), { signal: abort.signal });
  while (main.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  abort.abort(new DOMException('shutting down', 'ShutdownError'));
  await assert.rejects(asked, { name: 'ShutdownError' });
  assert.equal(await ask(makeMessage()), 'Whole.');
});

test('M10 M8 background is given once, and the day is told once a day', async () => {
  const { clock, store, main, ask } = await setUp({ main: ['1', '2', '3'] });
  const group = { conversation: { channel: 'telegram', chat: '-5' }, chatType: 'group' } as const;
  const eve = { sender: { id: 'telegram:66', name: 'Eve', kind: 'person' }, addressed: false } as const;
  await store.groupContext.add(makeMessage({ ...group, ...eve, id: 'o1', text: 'first words' }), clock.now());
  await clock.advance(1_000);
  await ask(makeMessage({ ...group, id: 'm1', text: 'one' }));
  await clock.advance(1_000);
  await store.groupContext.add(
    makeMessage({ ...group, ...eve, id: 'o2', text: 'second words' }),
    clock.now(),
  );
  await clock.advance(1_000);
  await ask(makeMessage({ ...group, id: 'm2', text: 'two' }));
  const seen = userTexts(main.requests[1]);
  assert.equal(seen.match(/first words/g)?.length, 1);
  assert.equal(seen.match(/second words/g)?.length, 1);
  assert.equal(seen.match(/Today is/g)?.length, 1);
  await clock.advance(86_400_000);
  await ask(makeMessage({ ...group, id: 'm3', text: 'three' }));
  assert.equal(userTexts(main.requests[2]).match(/Today is/g)?.length, 2);
});

test('M10 background is what was said within 24 hours before the message, and nothing older', async () => {
  const hour = 3_600_000;
  const { clock, store, main, ask } = await setUp({ main: ['1'] });
  const group = { conversation: { channel: 'telegram', chat: '-5' }, chatType: 'group' } as const;
  const eve = { sender: { id: 'telegram:66', name: 'Eve', kind: 'person' }, addressed: false } as const;
  const says = (text: string): Promise<void> =>
    store.groupContext.add(makeMessage({ ...group, ...eve, id: text, text }), clock.now());
  await says('too old by a second');
  await clock.advance(1_000);
  await says('just in time');
  await clock.advance(23 * hour);
  await says('an hour ago');
  await clock.advance(hour);
  await ask(makeMessage({ ...group, text: 'what was that?' }));
  const seen = userTexts(main.requests[0]);
  assert.match(seen, /just in time[^]*an hour ago[^]*what was that/);
  assert.doesNotMatch(seen, /too old/);
});

test('Q3 an item that is tried again after others were answered is asked anew, not given their answer', async () => {
  const { main, ask } = await setUp({
    main: [
      new ModelError('529', { sentence: 'Busy.', passing: true }),
      'To the second.',
      'To the first, after all.',
    ],
  });
  const first = makeMessage({ id: 'telegram:42:1', text: 'the first question' });
  await assert.rejects(ask(first));
  assert.equal(
    await ask(makeMessage({ id: 'telegram:42:2', text: 'the second question' })),
    'To the second.',
  );
  assert.equal(await ask(first), 'To the first, after all.');
  assert.equal(main.requests.length, 3);
});

test('I3 L6 a question that the model failed on is answered by /retry, for its own sender, and recorded once', async () => {
  const { main, ask, audited } = await setUp({
    main: [
      new ModelError('400', { sentence: 'It refused.', passing: false }),
      new Error('the process dies here'),
      'Four.',
    ],
  });
  const ben = { id: 'telegram:43', name: 'Ben', kind: 'person' } as const;
  const retry = makeMessage({ id: 'telegram:42:3', text: '/retry' });
  assert.equal(await ask(makeMessage({ text: 'what is 2+2?' })), 'It refused.');
  const theirs = makeMessage({ id: 'telegram:42:2', text: '/retry', sender: ben });
  assert.match(await ask(theirs, { again: true }), /I found no earlier question of yours/);
  assert.deepEqual([main.requests.length, audited], [1, []]);
  await assert.rejects(ask(retry, { again: true }), /dies here/);
  assert.equal(await ask(retry, { again: true }), 'Four.');
  assert.match(userTexts(main.requests.at(-1)), /another answer[^]*what is 2\+2\?/);
  const place = { sender: 'telegram:42', conversation: 'telegram:42', chatType: 'private' };
  assert.deepEqual(audited, [{ event: 'asked_again', ...place }]);
});

test('I3 a question asked again keeps its files and marks, and answers no run a second time', () => {
  const said = { kind: 'user', item: 'a', sender: 'telegram:42', content: 'what is it?', at: 1 } as const;
  const files = [{ type: 'image', hash: 'h', mime: 'image/png', name: 'x.png', size: 1 }] as const;
  const asked = { ...said, item: 'b', files, taint: 'diary', answers: ['r'], joins: 'a' } as const;
  const entries = [
    said,
    asked,
    { ...said, item: 'c', sender: 'telegram:43' },
    { ...said, item: 'd', about: 'lookup' },
  ] as const;
  const by = { key: 'e', sender: 'telegram:42', at: 9 };
  const again = askedAgain(entries, by);
  assert.ok(again !== undefined);
  const { content, ...rest } = again;
  assert.deepEqual(rest, { kind: 'user', item: 'e', sender: 'telegram:42', files, taint: 'diary', at: 9 });
  assert.match(JSON.stringify(content), /^"<host>.*another answer.*<\/host>\\nwhat is it\?"$/);
  assert.deepEqual(askedAgain([again], { ...by, at: 9 }), again, 'the note is there once');
  assert.equal(askedAgain(entries, { ...by, sender: 'telegram:44' }), undefined);
});
