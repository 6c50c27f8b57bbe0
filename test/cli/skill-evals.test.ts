import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { parseSkillEvals } from '../../src/skills/skill-evals.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { openCliHome } from '../support/run-cli.ts';
import { call, isRun, lastOf } from '../support/skill-writing-model.ts';

const key = 'test-key-0123456789';
const skill = `---
name: tides
description: Says when the tide is high. Use for tides and harbours.
allowed-tools: bash
---
High tide is at 14:20.
`;

/** Judges as a model would: a statement holds if its last word is in the answer, the files or the calls. */
function judged(body: MessagesRequest) {
  const { content } = body.messages[0] ?? {};
  const text =
    typeof content === 'string' ? content : (content ?? []).map((one) => 'text' in one && one.text).join('');
  const { statements, ...shown } = JSON.parse(text) as {
    statements: readonly { number: number; text: string }[];
  };
  return call('j', 'verdicts', {
    verdicts: statements.map(({ number, text: statement }) => {
      const word = statement.split(' ').at(-1) ?? '';
      const holds = JSON.stringify(shown).includes(word);
      return { number, holds, evidence: holds ? `It says ${word}.` : `It lacks ${word}.` };
    }),
  });
}

const script = (body: MessagesRequest) => {
  const last = lastOf(body);
  if (body.tools?.some(({ name }) => name === 'verdicts')) return judged(body);
  if (isRun(body)) {
    if (last.includes('with a command') && !last.includes('tool_result'))
      return call('b', 'bash', { command: 'echo $((40 + 2))-waves' });
    const printed = /42-waves/.exec(last)?.[0] ?? '';
    const file = /harbour of \w+/.exec(last)?.[0] ?? '';
    return `High tide is at 14:20. ${printed} ${file}`;
  }
  if (last.includes('tool_result'))
    return `The sea is high at ${/14:20[^"]*/.exec(last)?.[0] ?? 'some time'}.`;
  const offered = JSON.stringify(body.tools?.find(({ name }) => name === 'use_skill') ?? {});
  const message = last.includes('with a command') ? 'with a command' : last.slice(0, 2_000);
  return /tide|sailing/.test(last) && offered.includes('"tides"')
    ? call('u', 'use_skill', { skill: 'tides', message })
    : 'I do not know the time.';
};

async function setUp(t: TestContext, evals: object | string) {
  const server = await startMessagesServer({ script, apiKey: key });
  t.after(() => server.close());
  const home = await openCliHome(t);
  const folder = path.join('workspace/skills/tides');
  await mkdir(path.join(home.folder, folder, 'evals/files'), { recursive: true });
  await home.write(
    'config.toml',
    `[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${server.url}"\napi_key = "${key}"\n[sandbox]\nmode = "virtual"\n[policy]\nmoderate = "confirm"\n`,
  );
  await home.write(`${folder}/SKILL.md`, skill);
  await home.write(`${folder}/evals/files/place.txt`, 'The harbour of Bergen.');
  await home.write(`${folder}/evals/evals.json`, typeof evals === 'string' ? evals : JSON.stringify(evals));
  return { ...home, server, folder };
}

const good = {
  skill_name: 'tides',
  evals: [
    { id: 1, prompt: 'When is the tide high?', expected_output: 'A time', expectations: ['It names 14:20'] },
    {
      id: 'two',
      name: 'with a file',
      prompt: 'When is the tide high here?',
      expected_output: 'A place',
      files: ['evals/files/place.txt'],
      assertions: [{ id: 'a', text: 'It names Bergen', type: 'semantic' }, 'It names 14:20'],
    },
    { prompt: 'A tide table?', expected_output: 'It has 14:20' },
  ],
};

test('F13 evals.json is run beside the own cases, and a model judges each statement', async (t) => {
  const { run, write, folder } = await setUp(t, good);
  const passed = await run(['skill', 'test', 'tides']);
  assert.equal(passed.code, 0, passed.stdout + passed.stderr);
  assert.match(passed.stdout, /^ok {4}tides\/evals\/evals\.json: eval 1 \(/m);
  assert.match(passed.stdout, /^ok {4}tides\/evals\/evals\.json: with a file \(/m);
  assert.match(passed.stdout, /^3 passed, 0 failed$/m);
  const wrong = {
    evals: [{ id: 1, prompt: 'When is the tide high?', expectations: ['It names 15:30', 'It names 14:20'] }],
  };
  await write(`${folder}/evals/evals.json`, JSON.stringify(wrong));
  const failed = await run(['skill', 'test', 'tides']);
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /it does not hold that: It names 15:30 \(It lacks 15:30\.\)/);
  const asked = JSON.parse((await run(['skill', 'test', 'tides', '--json'])).stdout) as {
    cases: { quality: object; verdicts: { holds: boolean }[] }[];
  };
  assert.deepEqual(asked.cases[0]?.quality, { held: 1, of: 2 });
});

test('F13 a baseline runs each case without the skill, too, and compares quality, tokens and time', async (t) => {
  const { run } = await setUp(t, good);
  const { stdout, code } = await run(['skill', 'test', 'tides', '--baseline']);
  assert.equal(code, 0, stdout);
  const line =
    /with the skill 1 of 1 hold, [\d,]{3,} tokens, \d+\.\d s; without it 0 of 1 hold, [\d,]{3,} tokens, \d+\.\d s/;
  assert.match(stdout, line);
  assert.match(stdout, /^In all: with the skill 4 of 4 hold, .*; without it 0 of 4 hold/m);
});

test('F13 S2 a recording of evals replays without a model, judge and baseline included', async (t) => {
  const { run, server } = await setUp(t, good);
  const recorded = await run(['skill', 'test', 'tides', '--baseline', '--record', 'tape.json']);
  assert.equal(recorded.code, 0, recorded.stdout);
  const asked = server.requests.length;
  const replayed = await run(['skill', 'test', 'tides', '--baseline', '--replay', 'tape.json']);
  assert.equal(replayed.code, 0, replayed.stdout);
  assert.match(replayed.stdout, /^In all: with the skill 4 of 4 hold, .*; without it 0 of 4 hold/m);
  assert.equal(server.requests.length, asked);
});

test('F13 a list of prompts shows which start the skill, and no skill is carried out', async (t) => {
  const { run, write, server } = await setUp(t, good);
  const prompts = [
    { query: 'When is the tide high in Bergen?', should_trigger: true },
    { query: 'Is there enough water?', should_trigger: true },
    { query: 'What does sailing cost?', should_trigger: false },
    { query: 'Good morning', should_trigger: false },
  ];
  await write('prompts.json', JSON.stringify(prompts));
  const { stdout, code } = await run(['skill', 'test', 'tides', '--trigger', 'prompts.json']);
  assert.equal(code, 1);
  assert.match(stdout, /^ok {4}starts it: When is the tide high in Bergen\?$/m);
  assert.match(stdout, /^FAIL {2}starts no skill: Is there enough water\?$/m);
  assert.match(stdout, /^FAIL {2}starts it: What does sailing cost\?$/m);
  assert.match(stdout, /^1 of 2 prompts that should start tides do, and 1 of 2 that should not$/m);
  assert.equal(server.requests.length, 4, 'one request a prompt');
  const both = await run(['skill', 'test', 'tides', '--trigger', 'prompts.json', '--baseline']);
  assert.match(both.stderr, /Use --trigger or --baseline, not both\./);
  await write('prompts.json', '[{"query": "x", "should_trigger": "yes"}]');
  const wrong = await run(['skill', 'test', 'tides', '--trigger', 'prompts.json']);
  assert.match(wrong.stdout, /^prompts\.json: \[0\]\.should_trigger is .*: write true or false\.$/m);
  const missing = await run(['skill', 'test', 'tides', '--trigger', 'absent.json']);
  assert.match(missing.stderr, /absent\.json can't be read/);
});

test('F13 T8 a command that wants a yes runs in an eval only with --approve', async (t) => {
  const evals = {
    evals: [{ id: 1, prompt: 'The tide, with a command', expectations: ['It names 42-waves'] }],
  };
  const { run } = await setUp(t, evals);
  assert.equal((await run(['skill', 'test', 'tides'])).code, 1);
  const { code, stdout } = await run(['skill', 'test', 'tides', '--approve']);
  assert.equal(code, 0, stdout);
});

test('F13 S18 what is wrong with evals is said with its place, and no file outside of the skill is read', async (t) => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    ['{', /^tides\/evals\/evals\.json: this is no JSON/m],
    [{}, /evals is missing: write a list of evals\./],
    [{ evals: [] }, /evals is a list: write at least one eval\./],
    [{ evals: [{ id: 1 }] }, /evals\[0\]\.prompt is missing/],
    [
      { evals: [{ prompt: 'x', expectations: [3] }] },
      /evals\[0\]\.expectations\[0\] is 3: write a statement/,
    ],
    [
      { evals: [{ prompt: 'tide', files: ['../../../config.toml'] }] },
      /\.\.\/\.\.\/\.\.\/config\.toml is no file in the folder/,
    ],
    [
      { evals: [{ prompt: 'tide', files: ['evals/absent.txt'] }] },
      /evals\/absent\.txt is no file in the folder/,
    ],
  ];
  const { run, write, folder } = await setUp(t, good);
  for (const [evals, wanted] of cases) {
    await write(`${folder}/evals/evals.json`, typeof evals === 'string' ? evals : JSON.stringify(evals));
    const { code, stdout, stderr } = await run(['skill', 'test', 'tides']);
    assert.equal(code, 1);
    assert.match(stdout + stderr, wanted);
  }
});

test('F13 without a model nothing is judged, and the case fails with the reason', async (t) => {
  const { run, write } = await setUp(t, good);
  await write('config.toml', '[sandbox]\nmode = "virtual"\n');
  const { code, stdout } = await run(['skill', 'test', 'tides']);
  assert.equal(code, 1);
  assert.match(stdout, /no model can judge what is expected: configure \[models\.default\]/);
});

test('F13 evals keep what other programs write beside a statement out of it', () => {
  const parsed = parseSkillEvals(
    '\uFEFF{"version": 1, "evals": [{"prompt": "p", "tags": [], "assertions": [{"text": "A", "passed": null}], "expectations": ["B"]}]}',
    'x',
  );
  assert.ok(parsed.ok);
  assert.deepEqual(
    parsed.cases.map(({ name, expectations }) => [name, expectations]),
    [['eval 1', ['B', 'A']]],
  );
});
