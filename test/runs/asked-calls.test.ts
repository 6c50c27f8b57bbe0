import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import type { ApprovalRequest } from '../../src/core/approval.ts';
import type { Approval, AskPeople } from '../../src/core/approval.ts';
import { createJudgeCalls, type JudgeCalls } from '../../src/runs/judge-calls.ts';
import type { StandingRule } from '../../src/core/approval.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { RuntimeConfig } from '../../src/config/runtime-config.ts';
import { fail, succeed } from '../../src/core/envelope.ts';
import type { Entry } from '../../src/core/entry.ts';
import type { Provenance } from '../../src/core/provenance.ts';
import { defineTool, readOnly, type Tool } from '../../src/core/tool.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { JudgedCall } from '../../src/tools/call-tool.ts';
import { makeSkill } from '../support/make-skill.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { noHandOver } from '../support/no-files.ts';
import { toolContext } from '../support/tool-context.ts';
import { partOf } from '../support/app-of.ts';

const { requester } = toolContext();
const transcript = 'telegram:42';
const signal = new AbortController().signal;
const asking = '[policy]\nsafe = "confirm"\n';
type Loop = Parameters<JudgeCalls>[0];

function makeTool(name: string, change: Partial<Tool> = {}, traits: Partial<Tool['traits']> = {}): Tool {
  const run = async () => succeed('');
  const made = defineTool({
    row: allTools().row(name),
    ...{ name, description: name, input: z.object({}), run },
    traits: { ...readOnly, ...traits },
  });
  return { ...made, ...change };
}

type Answer = Approval | ((how: Parameters<AskPeople['request']>[2]) => Approval);

/** Calls of one loop in a direct message, where a person answers as told. */
async function setUp(t: TestContext, answer: Answer, toml = asking, standing: readonly StandingRule[] = []) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(() => store.close());
  const parsed = parseConfig(toml, { env: {} });
  assert.ok(parsed.ok);
  const asked: ApprovalRequest[] = [];
  const hows: Parameters<AskPeople['request']>[2][] = [];
  const covered: StandingRule[] = [];
  const said: (readonly [text: string, run: string, sender: string])[] = [];
  const judge = createJudgeCalls({
    runtime: () =>
      ({
        config: parsed.config,
        rules: { enabled: true, defaults: {}, skills: new Map() },
      }) as unknown as RuntimeConfig,
    ask: {
      async request(call, _, how) {
        asked.push(call);
        hows.push(how);
        return typeof answer === 'function' ? answer(how) : answer;
      },
      covers: async (rule) => (covered.push(rule), standing.some((one) => one.tool === rule.tool)),
    },
    deliverArtifacts: noHandOver,
    async whose(text, { run, sender }): Promise<Provenance> {
      said.push([text, run, sender]);
      return { words: 'forwarded', by: 'Ben' };
    },
    outside: partOf({ mayCall: async () => ({ allowed: true }) }),
    stillAdmitted: async () => ({ allowed: true }),
    store,
    clock,
  });
  const says = (tool: Tool, call: Partial<JudgedCall> = {}, loop: Partial<Loop> = {}) =>
    judge({
      ...{ transcript, mayGoOn: async () => ({ allowed: true }), waiting: (work) => work() },
      ...loop,
    })({ id: 'call_1', tool, input: {}, risk: 'safe', requester, ...call }, signal);
  const write = (id: string, ...entries: readonly Entry[]) =>
    store.commit({ entries: entries.map((entry) => ({ transcript: id, entry })) });
  const notes = async (id: string) => (await store.transcripts.read(id)).entries.map(({ entry }) => entry);
  return { says, write, notes, asked, hows, covered, said, clock };
}

test('T8 only a yes lets a call through; each other answer is a refusal with its own reason, for the model too', async (t) => {
  const cases: readonly (readonly [Approval, code: string, reason: RegExp])[] = [
    [{ kind: 'denied' }, 'TOOL_POLICY_DENIED', /said no/],
    [{ kind: 'expired' }, 'TOOL_POLICY_DENIED', /within 5 minutes/],
    [{ kind: 'stopped' }, 'TOOL_POLICY_DENIED', /was stopped/],
    [{ kind: 'unanswered' }, 'TOOL_POLICY_DENIED', /was stopped/],
    [{ kind: 'nobody' }, 'TOOL_CONFIRMATION_REQUIRED', /nobody can be asked/],
  ];
  for (const [answer, code, reason] of cases) {
    const { says, asked } = await setUp(t, answer);
    const decision = await says(makeTool('list_files'));
    assert.ok('code' in decision, answer.kind);
    assert.deepEqual([decision.allowed, decision.code], [false, code]);
    assert.match(decision.reason, reason);
    assert.match(decision.hint ?? '', reason);
    assert.match(decision.hint ?? '', /say what was not done/);
    assert.equal(asked.length, 1);
  }
  const { says } = await setUp(t, { kind: 'approved', by: 'telegram:9' });
  assert.deepEqual(await says(makeTool('list_files')), { allowed: true, approvedBy: 'telegram:9' });
});

test('U9 T8 a loop that can wait beside the conversation does so after 10 s without an answer; another one waits', async (t) => {
  const { says, hows, asked } = await setUp(t, { kind: 'unanswered' });
  const later = fail('TOOL_CONFIRMATION_REQUIRED', 'it goes on alone');
  const handed: JudgedCall[] = [];
  const decision = await says(
    makeTool('list_files'),
    {},
    { later: async (call) => (handed.push(call), later) },
  );
  assert.deepEqual(decision, { allowed: false, instead: later });
  assert.deepEqual(
    handed.map(({ id }) => id),
    ['call_1'],
  );
  await says(makeTool('list_files'));
  assert.deepEqual(
    hows.map((how) => [how?.patienceMs, how?.deliverArtifacts]),
    [
      [10_000, noHandOver],
      [undefined, noHandOver],
    ],
  );
  assert.equal(asked.length, 2);
  const denying = await setUp(t, { kind: 'denied' });
  const no = await denying.says(
    makeTool('list_files'),
    {},
    { later: () => assert.fail('there is an answer') },
  );
  assert.ok('code' in no);
});

test('T8 S13 a question holds the call, its place and what "Always" would bind, with whose words the call is made of', async (t) => {
  const { says, asked, covered, said } = await setUp(t, { kind: 'denied' });
  const input = { to: 'ben', lines: ['hello', { more: 'there' }, null, 7], at: undefined };
  const loop = { skill: makeSkill('mail', { directory: '/no/such/folder' }), run: 'run_1' };
  const tool = makeTool('mcp_mail_send', { definitionHash: 'mail.two' });
  await says(tool, { input, byApprover: true, because: 'it is sent to all' }, loop);
  const bound = { tool: 'mcp_mail_send', definitionHash: 'mail.two', skill: 'mail', files: '' };
  const rule = { ...bound, chat: 'telegram:42', sender: 'telegram:42' };
  assert.deepEqual(covered, [rule]);
  assert.deepEqual(asked, [
    {
      ...bound,
      input,
      standing: { ...rule, from: { words: 'forwarded', by: 'Ben' } },
      because: 'it is sent to all',
      byApprover: true,
      others: undefined,
      requester,
      transcript,
      toolUseId: 'call_1',
      run: 'run_1',
      reads: undefined,
    },
  ]);
  assert.deepEqual(said, [['ben\nhello\nthere\n\n\n', transcript, 'telegram:42']]);
  for (const [each, words] of [
    ['plain', 'plain'],
    [undefined, ''],
    [null, ''],
    [7, ''],
  ] as const) {
    await says(makeTool('list_files'), { input: each });
    assert.equal(said.at(-1)?.[0], words);
  }
  assert.deepEqual(
    [asked.at(-1)?.skill, asked.at(-1)?.files, asked.at(-1)?.run],
    [undefined, undefined, undefined],
    'of the main agent',
  );
});

test('T8 what "Always" covers runs without a question; a critical call and a rule of policy are asked each time', async (t) => {
  const always: readonly StandingRule[] = [
    { tool: 'list_files', chat: transcript, sender: 'telegram:42' },
    { tool: 'deploy', chat: transcript, sender: 'telegram:42' },
  ];
  const config = `${asking}critical = "confirm"\n[[policy.rules]]\ntool = "deploy"\naction = "confirm"\n`;
  const { says, asked } = await setUp(t, { kind: 'denied' }, config, always);
  assert.deepEqual(await says(makeTool('list_files')), { allowed: true });
  assert.equal(asked.length, 0);
  assert.equal((await says(makeTool('read_file'))).allowed, false, 'another tool');
  assert.equal((await says(makeTool('list_files'), { risk: 'critical' })).allowed, false);
  assert.equal((await says(makeTool('deploy'))).allowed, false);
  assert.equal((await says(makeTool('list_files'), { shown: { to: 'ben' } })).allowed, false);
  assert.deepEqual(
    asked.map(({ tool, standing, input }) => [tool, standing === undefined, input]),
    [
      ['read_file', false, {}],
      ['list_files', true, {}],
      ['deploy', true, {}],
      ['list_files', true, { to: 'ben' }],
    ],
  );
});

test('S7 S14 private words are kept from what lasts and is found elsewhere; what is built in and stays here is free', async (t) => {
  const free = '[policy]\n[[policy.rules]]\ntool = "*"\naction = "allow"\n';
  const cases: readonly (readonly [
    tool: Tool,
    call: Partial<JudgedCall>,
    outcome: 'free' | 'asked' | 'refused',
  ])[] = [
    [makeTool('skill_write', {}, { sideEffects: true }), {}, 'refused'],
    [makeTool('write_file', {}, { sideEffects: true }), {}, 'free'],
    [makeTool('remember', {}, { sideEffects: true }), {}, 'free'],
    [makeTool('own_tool', {}, { sideEffects: true }), {}, 'asked'],
    [makeTool('own_tool'), {}, 'free'],
    [makeTool('own_tool'), { outward: true }, 'asked'],
    [makeTool('own_tool', { definitionHash: 'one' }), {}, 'asked'],
    [makeTool('own_tool', {}, { requiresNetwork: true }), {}, 'asked'],
    [makeTool('own_tool', { goesTo: () => undefined }, { requiresNetwork: true }), {}, 'asked'],
  ];
  for (const taint of [true, undefined] as const)
    for (const [tool, call, outcome] of cases) {
      const { says, asked, write } = await setUp(t, { kind: 'denied' }, free);
      const entry = { kind: 'user', sender: 'telegram:42', content: 'x', at: 1 } as const;
      await write(transcript, taint === undefined ? entry : { ...entry, taint });
      const decision = await says(tool, call);
      const became = decision.allowed ? 'free' : asked.length > 0 ? 'asked' : 'refused';
      assert.equal(became, taint === undefined ? 'free' : outcome, `${tool.name} ${JSON.stringify(call)}`);
      if (became === 'asked') assert.match(asked[0]?.because ?? '', /reaches outside/);
      if (became === 'refused' && 'hint' in decision)
        assert.match(decision.hint ?? '', /stays in this conversation/);
    }
});

test('S7 a call leaves its mark before it runs, and none if it is refused', async (t) => {
  const journal = `${transcript}#taint`;
  for (const kind of ['approved', 'denied'] as const) {
    const answer = kind === 'denied' ? ({ kind } as const) : ({ kind, by: 'telegram:42' } as const);
    const { says, notes, clock } = await setUp(t, answer);
    await says(makeTool('use_skill'), { taint: 'mail' });
    const mark = { kind: 'taint', taint: 'mail', at: clock.now() };
    assert.deepEqual(await notes(journal), kind === 'approved' ? [mark] : [], kind);
    assert.deepEqual(await notes(`${transcript}#room`), kind === 'approved' ? [mark] : [], kind);
    await says(makeTool('read_file', {}, { requiresFilesystem: true }));
    assert.equal((await notes(journal)).length, kind === 'approved' ? 1 : 0, 'once a day');
  }
});

test('T8 a rule for a skill holds while the main agent follows it', async (t) => {
  const config = '[policy]\n[[policy.rules]]\nskill = "mail"\naction = "deny"\n';
  const { says } = await setUp(t, { kind: 'denied' }, config);
  assert.equal((await says(makeTool('read_file'))).allowed, true);
  assert.equal((await says(makeTool('read_file'), {}, { activeSkills: () => ['diary'] })).allowed, true);
  assert.equal((await says(makeTool('read_file'), {}, { activeSkills: () => ['mail'] })).allowed, false);
  assert.equal((await says(makeTool('read_file'), {}, { skill: makeSkill('mail') })).allowed, false);
});
