import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { httpModelAt } from '../support/model-at.ts';
import { runLoop, type LoopDeps, type LoopInput } from '../../src/agent/run-loop.ts';
import { withFallback } from '../../src/agent/models/with-fallback.ts';
import { cleanEntry } from '../../src/bot/redact-data.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Entry } from '../../src/core/entry.ts';
import type { Model } from '../../src/core/model.ts';
import { readOnly } from '../../src/core/tool.ts';
import type { AnswerBlock, ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer, type MessagesServer } from '../servers/messages/messages-server.ts';
import type { RequestBlock } from '../servers/messages/request-shape.ts';
import { quietLog } from '../support/quiet-log.ts';

const think = (thinking: string): AnswerBlock => ({ type: 'thinking', thinking });
const say = (text: string): AnswerBlock => ({ type: 'text', text });
const use = (name: string): AnswerBlock => ({ type: 'tool_use', name, input: {} });
/** Thinks, looks, thinks again and answers. */
const turn = (name: string): readonly ServerStep[] => [
  { content: [think(`${name} 1`), use('look')] },
  { content: [think(`${name} 2`), say(`${name}.`)] },
];

type Server = Omit<Parameters<typeof startMessagesServer>[0], 'script'>;

async function open(t: TestContext, script: readonly ServerStep[], more: Server = {}) {
  const server = await startMessagesServer({ script, ...more });
  t.after(() => server.close());
  return server;
}

function modelAt({ url }: MessagesServer, more: Partial<Parameters<typeof httpModelAt>[0]> = {}): Model {
  return httpModelAt(
    {
      alias: 'default',
      model: 'claude-sonnet-5-5',
      maxTokens: 1_000,
      endpoint: { baseUrl: url, apiKey: 'ours' },
      ...more,
    },
    { log: quietLog(), clock: { now: systemClock.now, sleep: async () => {} } },
  );
}

const tool = (name: string) =>
  ({ name, description: '', inputSchema: { type: 'object' }, traits: readOnly }) as const;

/** A conversation whose entries are stored and read back, as after a restart. */
function talk(model: Model) {
  const entries: Entry[] = [];
  const append = async (entry: Entry): Promise<void> =>
    void entries.push(JSON.parse(JSON.stringify(entry)) as Entry);
  const goOn = (more: Partial<LoopInput & LoopDeps> = {}) =>
    runLoop(
      {
        system: [{ type: 'text', text: 'You are a test.' }],
        entries,
        maxIterations: 9,
        ...more,
      },
      {
        model,
        tools: () => [tool('look'), tool('touch')],
        callTool: async () => ({ content: 'seen', isError: false }),
        append,
        signal: new AbortController().signal,
        clock: systemClock,
        ...more,
      },
    );
  const ask = async (text: string, more: Partial<LoopInput & LoopDeps> = {}) => {
    await append({ kind: 'user', sender: 'telegram:42', content: text, at: entries.length });
    return goOn(more);
  };
  return { entries, ask, goOn };
}

function thinkingIn(server: MessagesServer, index = -1): readonly string[] {
  return (server.requests.at(index)?.body.messages ?? []).flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((block: RequestBlock) => (block.type === 'thinking' ? [block.thinking] : [])),
  );
}

function nothingLost(...servers: readonly MessagesServer[]): void {
  for (const { refused, requests } of servers) {
    assert.deepEqual(refused, []);
    assert.deepEqual(
      requests.flatMap(({ dropped }) => dropped),
      [],
    );
  }
}

for (const mismatch of ['error', 'drop_block'] as const) {
  test(`M13 plain turns and tool loops keep all their thinking (${mismatch})`, async (t) => {
    const server = await open(t, [...turn('a'), ...turn('b'), ...turn('c')], { mismatch });
    const { ask } = talk(modelAt(server));
    for (const text of ['1', '2', '3']) assert.equal((await ask(text)).status, 'ok');
    nothingLost(server);
    assert.deepEqual(thinkingIn(server), ['a 1', 'a 2', 'b 1', 'b 2', 'c 1']);
  });

  test(`M13 thinking between the calls of one answer goes back with it (${mismatch})`, async (t) => {
    const both = [think('1'), use('look'), think('2'), use('touch')];
    const server = await open(t, [{ content: both }, { content: [say('Done.')] }], { mismatch });
    assert.equal((await talk(modelAt(server)).ask('Go.')).text, 'Done.');
    nothingLost(server);
    assert.deepEqual(thinkingIn(server), ['1', '2']);
  });

  test(`M13 tools or system that change from turn to turn, there and back, are never refused (${mismatch})`, async (t) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const server = await open(t, names.flatMap(turn), { mismatch });
    const { ask } = talk(modelAt(server));
    const anns: Partial<LoopInput & LoopDeps> = {};
    const bobs: Partial<LoopInput & LoopDeps> = {
      system: [{ type: 'text', text: 'You are a test with more skills.' }],
      tools: () => [tool('look')],
    };
    for (const [index, name] of names.entries())
      assert.equal((await ask(name, index % 2 === 0 ? anns : bobs)).status, 'ok');
    nothingLost(server);
    assert.deepEqual(thinkingIn(server), ['b 1', 'b 2', 'd 1', 'd 2', 'f 1']);
    assert.equal(server.requests.length, 12);
  });

  test(`M13 summing up keeps tools and thinking, and forbids calls (${mismatch})`, async (t) => {
    const [first = ''] = turn('a');
    const end: ServerStep = { content: [think('z'), say('So far.')] };
    const server = await open(t, [first, end, ...turn('b')], { mismatch });
    const { ask } = talk(modelAt(server));
    assert.equal((await ask('1', { maxIterations: 1 })).code, 'MAX_ITERATIONS');
    const { body } = server.requests[1] ?? {};
    assert.deepEqual(body?.tool_choice, { type: 'none' });
    assert.deepEqual(
      body?.tools?.map(({ name }) => name),
      ['look', 'touch'],
    );
    assert.deepEqual(thinkingIn(server, 1), ['a 1']);
    await ask('2');
    nothingLost(server);
    assert.deepEqual(thinkingIn(server), ['a 1', 'z', 'b 1']);
  });

  test(`M13 after a summary the thinking it cut off from its beginning is left out (${mismatch})`, async (t) => {
    const long = 'word '.repeat(600);
    const answer = (name: string): ServerStep => ({ content: [think(name), say(long)] });
    const server = await open(
      t,
      [answer('a'), answer('b'), { content: [say('A summary.')] }, answer('c'), answer('d')],
      { mismatch },
    );
    const { ask, entries } = talk(modelAt(server, { contextWindow: 2_000 }));
    for (const text of ['1', '2', '3']) assert.equal((await ask(text)).status, 'ok');
    assert.ok(entries.some(({ kind }) => kind === 'summary'));
    nothingLost(server);
    assert.ok(!thinkingIn(server).includes('a'));
  });

  test(`M13 a secret taken out of what was said takes the thinking behind it along (${mismatch})`, async (t) => {
    const server = await open(t, [...turn('a'), ...turn('b')], { mismatch });
    const { ask, entries } = talk(modelAt(server));
    await ask('My code is 4711.');
    const clean = (text: string): string => text.replaceAll('4711', '[secret]');
    for (const [index, entry] of entries.entries()) entries[index] = cleanEntry(entry, clean);
    assert.equal((await ask('2')).status, 'ok');
    nothingLost(server);
    assert.deepEqual(thinkingIn(server), ['b 1']);
  });

  test(`M13 a turn that a dead process left goes on with its thinking (${mismatch})`, async (t) => {
    const server = await open(t, turn('a'), { mismatch });
    const { ask, goOn } = talk(modelAt(server));
    const died = new Error('the process died');
    await assert.rejects(ask('1', { callTool: () => Promise.reject(died) }), (error) => error === died);
    assert.equal((await goOn()).text, 'a.');
    nothingLost(server);
    assert.deepEqual(thinkingIn(server), ['a 1']);
  });

  test(`M13 no thinking goes to another key or endpoint, also not by the fallback (${mismatch})`, async (t) => {
    const [one = '', two = ''] = turn('a');
    const down: readonly ServerStep[] = Array.from({ length: 4 }, () => ({ status: 529 }));
    const first = await open(t, [one, ...down, ...turn('c')], { mismatch });
    const second = await open(t, [two, ...turn('d')], { mismatch });
    let now = 0;
    const deps = {
      resting: new Map(),
      log: quietLog(),
      clock: { ...systemClock, now: () => (now += 60_000) },
    };
    const model = withFallback([modelAt(first), modelAt(second, { alias: 'other' })], deps);
    const { ask } = talk(model);
    assert.equal((await ask('1')).text, 'a.');
    assert.deepEqual(thinkingIn(second), []);
    assert.equal((await ask('2')).status, 'ok');
    assert.deepEqual(thinkingIn(first), ['a 1', 'c 1']);
    await ask('3', { model: modelAt(second, { endpoint: { baseUrl: second.url, apiKey: 'theirs' } }) });
    assert.deepEqual(thinkingIn(second), ['d 1']);
    nothingLost(first, second);
  });
}

test('M13 an answer that was stored before bindings were loses its thinking', async (t) => {
  const server = await open(t, [...turn('a'), ...turn('b')]);
  const { ask, entries } = talk(modelAt(server));
  await ask('1');
  for (const [index, entry] of entries.entries()) {
    if (entry.kind !== 'assistant') continue;
    const { binding: _, ...old } = entry;
    entries[index] = old;
  }
  assert.equal((await ask('2')).status, 'ok');
  nothingLost(server);
  assert.deepEqual(thinkingIn(server), ['b 1']);
});

test('M13 a model that binds nothing keeps its thinking while its tools shrink, for the same people', async (t) => {
  const server = await open(t, [...turn('a'), ...turn('b'), ...turn('c')]);
  const { ask } = talk(modelAt(server, { model: 'claude-sonnet-4-5', thinking: 2_048 }));
  let left = [tool('look'), tool('touch')];
  const shrinks: Partial<LoopInput & LoopDeps> = {
    audience: 'anns tools',
    tools: () => left,
    callTool: async () => {
      left = [tool('look')];
      return { content: 'loaded', isError: false };
    },
  };
  await ask('1', shrinks);
  assert.deepEqual(thinkingIn(server), ['a 1']);
  await ask('2', shrinks);
  assert.deepEqual(thinkingIn(server), ['a 1', 'a 2', 'b 1']);
  await ask('3', { audience: 'bobs tools' });
  assert.deepEqual(thinkingIn(server), ['c 1']);
  nothingLost(server);
});
