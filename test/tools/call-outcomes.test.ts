import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { fail, succeed, type Envelope } from '../../src/core/envelope.ts';
import type { AuditedCall, ToolCall, ToolOutcome } from '../../src/core/tool-call.ts';
import {
  defineTool,
  readOnly,
  type DeliverArtifacts,
  type Tool,
  type ToolContext,
} from '../../src/core/tool.ts';
import { allToolsAllowed } from '../../src/tools/allowed-tools.ts';
import type { DecideCall, JudgedCall } from '../../src/tools/call-tool.ts';
import { openDoor } from '../support/call-one-tool.ts';
import { equalData } from '../support/equal-data.ts';
import { quietLog } from '../support/quiet-log.ts';
import { toolContext } from '../support/tool-context.ts';

const { requester } = toolContext();
type Change = NonNullable<Parameters<typeof openDoor>[1]>;

/** A tool that answers as told. */
function makeTool(
  name: string,
  run: (context: ToolContext) => Promise<Envelope> = async () => succeed('done'),
  change: Partial<Tool> = {},
): Tool {
  const made = defineTool({
    ...{ name, description: name, input: z.object({ text: z.string().optional() }), traits: readOnly },
    run: async (_, context) => run(context),
  });
  return { ...made, ...change };
}

/** The door to these tools, with what is recorded. */
function door(tools: readonly Tool[], change: Change = {}) {
  const audited: AuditedCall[] = [];
  const log = quietLog();
  const progress: string[] = [];
  const through = openDoor(tools, {
    ...{ requester, log, audit: (call) => void audited.push(call) },
    onProgress: (text) => void progress.push(text),
    onStep: () => undefined,
    ...change,
  });
  const call = (
    name: string,
    input: unknown = {},
    signal = new AbortController().signal,
  ): Promise<ToolOutcome> => through({ id: 'toolu_1', name, input } satisfies ToolCall, signal);
  return { call, audited, log, progress };
}

const denied = { allowed: false, code: 'TOOL_POLICY_DENIED', reason: 'rule 3' } as const;

test('L6 T8 the record of a call says what policy decided and who approved; one is made for each call', async () => {
  const later = fail('TOOL_CONFIRMATION_REQUIRED', 'asked in the background');
  const cases: readonly (readonly [Awaited<ReturnType<DecideCall>>, policy: string, by?: string])[] = [
    [{ allowed: true }, 'allowed'],
    [{ allowed: true, approvedBy: 'telegram:9' }, 'approved', 'telegram:9'],
    [denied, 'TOOL_POLICY_DENIED'],
    [{ ...denied, code: 'TOOL_CONFIRMATION_REQUIRED' }, 'TOOL_CONFIRMATION_REQUIRED'],
    [{ allowed: false, instead: later }, 'unanswered'],
  ];
  for (const [decision, policy, approvedBy] of cases) {
    const { call, audited } = door([makeTool('send')], { decide: async () => decision });
    const began = performance.now();
    const { isError } = await call('send', { text: 'x' });
    assert.equal(isError, !decision.allowed, policy);
    const [{ durationMs, ...record } = assert.fail(), ...more] = audited;
    assert.deepEqual(more, []);
    assert.ok(durationMs >= 0 && durationMs <= Math.ceil(performance.now() - began));
    const code = decision.allowed ? [] : ['code' in decision ? decision.code : 'TOOL_CONFIRMATION_REQUIRED'];
    equalData(record, {
      ...{ event: 'tool_call', id: 'toolu_1', tool: 'send', requester, input: '{"text":"x"}', risk: 'safe' },
      ...{ policy, approvedBy, ok: decision.allowed, codes: code },
    });
  }
});

test('T8 a refused call is answered in its own code if its assessment names one, and the log has the reason', async () => {
  const mustConfirm = { shown: { to: 'ben' }, refusedAs: 'capability_mutation_not_confirmed' } as const;
  const refusing = makeTool('book', undefined, { assess: async () => ({ risk: 'critical', mustConfirm }) });
  const fields = { tool: 'book', call: 'toolu_1', risk: 'critical' };
  const policy = door([refusing], { decide: async () => ({ ...denied, hint: 'ask first' }) });
  assert.equal(
    (await policy.call('book')).content,
    'error capability_mutation_not_confirmed: TOOL_POLICY_DENIED: ask first',
  );
  const broken = door([refusing], { decide: () => Promise.reject(new Error('policy broke')) });
  assert.match(
    (await broken.call('book')).content,
    /^error capability_mutation_not_confirmed: TOOL_POLICY_DENIED: book /,
  );
  assert.deepEqual(
    [...policy.log.lines, ...broken.log.lines].map((line) => [line.level, line.fields]),
    [
      ['info', { ...fields, code: 'TOOL_POLICY_DENIED', reason: 'rule 3' }],
      ['error', { ...fields, error: 'policy broke' }],
    ],
  );
  const plain = door([makeTool('send')], { decide: async () => denied });
  assert.match(
    (await plain.call('send')).content,
    /^error TOOL_POLICY_DENIED: .* of send$/,
    'not the reason',
  );
});

test('T11 a tool that fails is logged with the call; one that was stopped is not, and neither is a policy', async () => {
  const failing = door([makeTool('broken', () => Promise.reject(new Error('disk 3 is gone')))]);
  await failing.call('broken');
  assert.deepEqual(
    failing.log.lines.map(({ level, fields }) => [level, fields]),
    [['warn', { tool: 'broken', call: 'toolu_1', error: 'disk 3 is gone' }]],
  );
  const stop = new AbortController();
  const judging = door([makeTool('send')], {
    decide() {
      stop.abort();
      return Promise.reject(new Error('it was waiting'));
    },
  });
  const { isError, content } = await judging.call('send', {}, stop.signal);
  assert.match(content, /^error CANCELLED/);
  assert.deepEqual([isError, judging.log.lines], [false, []]);
});

test('T8 a call is judged with what its assessment says, and run with what was agreed to and what is set', async () => {
  const judged: JudgedCall[] = [];
  const seen: ToolContext[] = [];
  const termed: unknown[] = [];
  const mustConfirm = {
    ...{ shown: { to: 'ben' }, byApprover: true, because: 'it is sent' },
    refusedAs: 'capability_mutation_not_confirmed',
  } as const;
  const tool = makeTool('book', undefined, {
    async assess(input, of) {
      termed.push([input, of]);
      return { risk: 'critical', mustConfirm, taint: 'notes', outward: true };
    },
    run: async (_, context) => (seen.push(context), succeed('done')),
  });
  const run = { id: 'run_1', skill: 'notes', restricted: [] };
  const { call } = door([tool], {
    ...{ run, turn: 'item!run_1', settings: async () => ({ city: 'Graz' }) },
    decide: async (each) => (judged.push(each), { allowed: true }),
  });
  const { signal } = new AbortController();
  assert.equal((await call('book', { text: 'x' }, signal)).taint, 'notes');
  assert.deepEqual(termed, [[{ text: 'x' }, { requester, toolUseId: 'toolu_1', signal }]]);
  assert.deepEqual(judged, [
    {
      ...{
        id: 'toolu_1',
        tool,
        input: { text: 'x' },
        risk: 'critical',
        shown: { to: 'ben' },
        byApprover: true,
        account: undefined,
      },
      ...{ because: 'it is sent', outward: true, taint: 'notes', requester },
    },
  ]);
  const [context] = seen;
  assert.deepEqual(
    [context?.requester, context?.toolUseId, context?.turn, context?.run, context?.signal],
    [requester, 'toolu_1', 'item!run_1', run, signal],
  );
  assert.deepEqual([context?.agreed, context?.settings], [{ to: 'ben' }, { city: 'Graz' }]);
});

test('T11 a call that is stopped while it is assessed is neither judged nor run', async () => {
  const stop = new AbortController();
  const tool = makeTool('send', () => assert.fail('it runs'), {
    assess: async () => (stop.abort(), { refused: fail('FILE_NOT_FOUND', 'no such file') }),
  });
  const { call } = door([tool], { decide: () => assert.fail('it is judged') });
  assert.match((await call('send', {}, stop.signal)).content, /^error CANCELLED/);
});

test('T5 a tool that is allowed and not there is refused; one that changes is called as it is now', async () => {
  const { call, audited } = door([makeTool('read_file')], {
    allowed: allToolsAllowed(['ghost', 'read_file']),
  });
  assert.match((await call('ghost')).content, /^error TOOL_NOT_ALLOWED: /);
  assert.deepEqual([audited[0]?.event, audited[0]?.risk], ['tool_call_blocked', undefined]);
  const now = makeTool('note', async () => succeed('new'));
  const offered = makeTool('note', async () => succeed('old'));
  assert.equal((await door([{ ...offered, now: () => now }]).call('note')).content, 'new');
  assert.equal((await door([offered]).call('note')).content, 'old');
  const within: Tool['within'] = async (work) => succeed(`in ${String((await work()).data)}`);
  assert.equal((await door([{ ...offered, within }]).call('note')).content, 'in old');
});

test('M3 an input of exactly 200 kB is taken, a byte more is not', async () => {
  const { call } = door([makeTool('note')]);
  const around = JSON.stringify({ text: '' }).length;
  assert.equal((await call('note', { text: 'x'.repeat(200_000 - around) })).isError, false);
  assert.equal((await call('note', { text: 'x'.repeat(200_001 - around) })).isError, true);
});

test('U14 Q6 U7 an outcome tells what it settles, what a person is asked, and how many steps it took together', async () => {
  const { call, audited } = door([
    makeTool('plain'),
    makeTool('queued', async ({ settle }) => (settle('item_7'), succeed('done'))),
    makeTool('question', async ({ awaitAnswer }) => (awaitAnswer('ask_1'), succeed('asked'))),
    makeTool('helper', async ({ spend }) => (spend(3), spend(4), succeed('done'))),
  ]);
  equalData(await call('plain'), { content: 'done', isError: false });
  equalData(await call('queued'), { content: 'done', isError: false, finishesItem: 'item_7' });
  const question = { content: 'asked', isError: false, question: 'ask_1' };
  equalData(await call('question'), question);
  equalData(await call('helper'), { content: 'done', isError: false, steps: 7 });
  assert.deepEqual(
    audited.map(({ tool }) => tool),
    ['plain', 'question', 'helper'],
    'a queued call is recorded where it runs',
  );
});

test('T11 an outcome is an error unless it is fine or was cancelled, and only that', async () => {
  const cancelled = { code: 'CANCELLED', message: 'stopped' } as const;
  const failed = { code: 'FILE_NOT_FOUND', message: 'no such file' } as const;
  const cases: readonly (readonly [Pick<Envelope, 'ok' | 'errors'>, isError: boolean])[] = [
    [{ ok: true, errors: [] }, false],
    [{ ok: false, errors: [] }, true],
    [{ ok: false, errors: [cancelled] }, false],
    [{ ok: false, errors: [failed] }, true],
    [{ ok: false, errors: [cancelled, failed] }, true],
    [{ ok: false, errors: [cancelled, cancelled] }, false],
  ];
  for (const [envelope, isError] of cases) {
    const { call } = door([makeTool('odd', async () => ({ ...envelope, warnings: [] }))]);
    assert.equal((await call('odd')).isError, isError, JSON.stringify(envelope));
  }
});

test('T12 files of a call are handed over once, in their order, and those that arrived are told', async () => {
  const handed: unknown[] = [];
  const deliverArtifacts: DeliverArtifacts = async (files, of) => {
    handed.push([files.map(({ name }) => name), of]);
    return files.map(({ name }) =>
      name === 'bad'
        ? { ok: false, code: 'FILE_NOT_FOUND', problem: 'too large' }
        : { ok: true, name, mime: 'text/plain', size: 3 },
    );
  };
  const file = (name: string) => ({ name, data: 'abc' });
  const told: unknown[] = [];
  const sends = makeTool('sends', async ({ artifact, artifacts }) => {
    told.push(
      await artifact(file('a')),
      await artifacts([file('b'), file('bad')]),
      await artifact(file('c')),
    );
    return succeed('sent');
  });
  const { call } = door([sends], { deliverArtifacts, turn: 'item_1' });
  const arrived = (name: string) => ({ name, mime: 'text/plain', size: 3 });
  const outcome = await call('sends');
  assert.deepEqual(outcome.artifacts, ['a', 'b', 'c'].map(arrived));
  assert.match(outcome.content, /^sent\n\[delivered to the conversation: a \(.*, b \(.*, c \(.*\)\]$/);
  const bad = { ok: false, code: 'FILE_NOT_FOUND', problem: 'too large' };
  const fine = (name: string) => ({ ok: true, ...arrived(name) });
  assert.deepEqual(told, [fine('a'), [fine('b'), bad], fine('c')]);
  const of = { requester, turn: 'item_1', call: 'toolu_1' };
  assert.deepEqual(handed, [
    [['a'], { ...of, index: 0 }],
    [['b', 'bad'], { ...of, index: 1 }],
    [['c'], { ...of, index: 3 }],
  ]);
  const silent = door([makeTool('sends', async ({ artifact }) => succeed(await artifact(file('a'))))], {
    deliverArtifacts: async () => [],
  });
  assert.match((await silent.call('sends')).content, /^error TOOL_FAILED: /);
  const none = door(
    [makeTool('sends', async ({ artifact }) => (await artifact(file('bad')), succeed('no')))],
    {
      deliverArtifacts,
    },
  );
  assert.equal((await none.call('sends')).artifacts, undefined);
});

test('U13 T12 who waits reads one redacted line of at most 200 characters', async () => {
  const { call, progress } = door(
    [makeTool('long', async ({ progress: tell }) => (tell(`secret\n${'x'.repeat(300)}`), succeed('done')))],
    { redact: (text) => text.replaceAll('secret', '[redacted]') },
  );
  await call('long');
  assert.equal(progress.length, 2);
  assert.match(progress[1] ?? '', /^\[redacted\] x+…?$/);
  assert.ok((progress[1] ?? '').length <= 200);
});
