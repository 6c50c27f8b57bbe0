import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCapCommand } from '../../../src/tools/built-in/cap-command.ts';
import type { ToolOutcome } from '../../../src/core/tool-call.ts';
import { equalData } from '../../support/equal-data.ts';

/** What the words become, and what the answer of the tool becomes. */
async function run(
  words: readonly string[],
  stdin = '',
  answer: ToolOutcome = { content: '{}', isError: false },
) {
  const calls: unknown[] = [];
  let marked = false;
  const command = createCapCommand(
    async ({ id, name, input }) => {
      assert.equal(id, 'toolu_7.1');
      calls.push([name, input]);
      return answer;
    },
    { toolUseId: 'toolu_7', addTaint: () => (marked = true) },
  );
  return { ...(await command(words, stdin, new AbortController().signal)), calls, marked };
}

test('C4 the words of skillet-cap are calls of the capability tools', async () => {
  const invoke = { capability: 'notes.book', operation: 'add', input: { text: 'x' } };
  for (const [words, stdin, call] of [
    [['list'], '', ['capability_list', {}]],
    [['invoke', 'notes.book', 'add'], '{"text":"x"}', ['capability_invoke', invoke]],
    [
      ['invoke', 'notes.book', 'add', '--account', 'home', '--input', '{"text":"x"}'],
      'ignored',
      ['capability_invoke', { ...invoke, account: 'home' }],
    ],
    [['invoke', 'notes.book', 'add'], '', ['capability_invoke', { ...invoke, input: {} }]],
    [['auth', 'list'], '', ['capability_auth', { action: 'list' }]],
    [
      ['auth', 'begin', 'notes.book', '--account', 'work'],
      '',
      ['capability_auth', { action: 'begin', capability: 'notes.book', account_hint: 'work' }],
    ],
    [['auth', 'poll', '--flow', 'F1'], '', ['capability_auth', { action: 'poll', flow: 'F1' }]],
  ] as const) {
    const { calls, exitCode } = await run(words, stdin);
    equalData([calls, exitCode], [[call], 0]);
  }
});

test('C4 wrong usage calls nothing and is exit code 2', async () => {
  for (const [words, stdin] of [
    [[], ''],
    [['forget'], ''],
    [['list', 'more'], ''],
    [['invoke', 'notes.book'], ''],
    [['invoke', 'notes.book', 'add'], '[1]'],
    [['invoke', 'notes.book', 'add', '--token', 'x'], ''],
    [['auth'], ''],
  ] as const) {
    const { calls, exitCode, stderr, stdout } = await run(words, stdin);
    assert.deepEqual(
      [calls, exitCode, /Usage: skillet-cap/.test(stderr + stdout)],
      [[], 2, true],
      words.join(' '),
    );
  }
});

test('C4 an answer is one line of JSON, a refusal is exit code 1 with its code', async () => {
  const done = await run(['list'], '', { content: '{\n "output": {\n  "id": 1\n }\n}', isError: false });
  assert.deepEqual([done.stdout, done.exitCode], ['{"output":{"id":1}}\n', 0]);
  const refused = await run(['list'], '', {
    content: 'error capability_auth_required: the person has linked none',
    isError: true,
  });
  assert.equal(refused.exitCode, 1);
  assert.deepEqual(JSON.parse(refused.stdout), {
    error: { code: 'capability_auth_required', message: 'the person has linked none' },
  });
  const cut = await run(['list'], '', { content: '{"output":{"text":"aaa\n[cut]', isError: false });
  assert.match(cut.stdout, /TOOL_OUTPUT_TOO_LARGE/);
  assert.equal(cut.exitCode, 1);
});

test('S7 what a command gets of a capability marks the call that the command runs in', async () => {
  const plain = await run(['list'], '', { content: '{}', isError: false });
  const sensitive = await run(['list'], '', { content: '{}', isError: false, taint: true });
  assert.deepEqual([plain.marked, sensitive.marked], [false, true]);
});
