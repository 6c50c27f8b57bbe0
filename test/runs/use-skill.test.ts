import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUseSkill, type Requirements } from '../../src/runs/use-skill.ts';
import type { SkillRules } from '../../src/core/access-settings.ts';
import type { SkillUse } from '../../src/access/decide-skill.ts';
import { fail } from '../../src/core/envelope.ts';
import { noTokens } from '../../src/core/model.ts';
import type { Skill, SkillResult } from '../../src/core/skill.ts';
import { makeSkill } from '../support/make-skill.ts';
import { inAGroup, toolContext } from '../support/tool-context.ts';

const context = toolContext({
  requester: { ...inAGroup, conversation: { channel: 'telegram', chat: '-5' } },
  toolUseId: 'call_1',
});
const done: SkillResult = {
  status: 'ok',
  text: 'the answer',
  iterations: 2,
  durationMs: 5,
  tokens: noTokens,
  artifacts: [],
  truncated: false,
};
const inGroup: SkillUse = {
  chatType: 'group',
  chatIds: ['telegram:-5'],
  external: false,
  sender: 'telegram:42',
  by: 'model',
};

function setUp(options: {
  skills: readonly Skill[];
  visible?: readonly Skill[];
  rules?: SkillRules;
  use?: SkillUse;
  readiness?: Requirements;
  onRun?: () => void;
  begun?: boolean;
}) {
  const runs: string[] = [];
  const skills = [...options.skills];
  const denied: string[] = [];
  const rules = { current: options.rules ?? { enabled: true, defaults: {}, skills: new Map() } };
  const tool = createUseSkill({
    skills: {
      visible: () => options.visible ?? options.skills,
      find: async (name) => skills.find((skill) => skill.name === name),
    },
    access: {
      rules: () => rules.current,
      use: () => options.use ?? inGroup,
      onDenied: ({ code }) => void denied.push(code),
    },
    requirements: options.readiness ?? (() => undefined),
    hasStarted: async () => options.begun === true,
    work: {
      run: async (skill) => {
        runs.push(skill.name);
        options.onRun?.();
        return done;
      },
    },
  });
  return { tool, runs, denied, rules, skills };
}

test('U1 arguments are checked first, then existence with near misses among the visible', async () => {
  const { tool, runs } = setUp({ skills: [makeSkill('research'), makeSkill('dice')] });
  assert.equal((await tool.run({ skill: 'research' }, context)).errors[0]?.code, 'ARGUMENTS_INVALID');
  const missing = await tool.run({ skill: 'reserch', message: 'x' }, context);
  assert.equal(missing.errors[0]?.code, 'SKILL_NOT_FOUND');
  assert.match(missing.errors[0]?.message ?? '', /Near: research\./);
  assert.deepEqual(runs, []);
});

test('U1 I5 arguments alone are the message', async () => {
  const { tool } = setUp({ skills: [makeSkill('notes')], onRun: () => undefined });
  assert.equal(tool.check({ skill: 'notes', args: 'a b' }), undefined);
  assert.match(tool.check({ skill: 'notes' }) ?? '', /message/);
  const schema = tool.inputSchema as { required?: readonly string[] };
  assert.deepEqual(schema.required, ['skill', 'message']);
  const ran = await tool.run({ skill: 'notes', args: 'a b' }, toolContext());
  assert.ok(ran.ok);
});

test('U1 a skill that access, enabled or I4 hides is answered exactly like one that does not exist', async () => {
  const hidden = [
    makeSkill('hidden', { access: { chatTypes: ['private'], sensitive: true } }),
    makeSkill('hidden', { access: { optIn: true } }),
    makeSkill('hidden', { access: { disableModelInvocation: true } }),
  ];
  const { tool: without } = setUp({ skills: [makeSkill('dice')] });
  const unknown = await without.run({ skill: 'hidden', message: 'x' }, context);
  for (const skill of hidden) {
    const { tool, runs, denied } = setUp({
      skills: [skill, makeSkill('dice')],
      visible: [makeSkill('dice')],
    });
    assert.deepEqual(await tool.run({ skill: 'hidden', message: 'x' }, context), unknown);
    assert.deepEqual(runs, []);
    assert.equal(denied.length, 1);
  }
});

test('I4 what a model may not start, a person may', async () => {
  const skill = makeSkill('deploy', { access: { disableModelInvocation: true } });
  const { tool, runs } = setUp({ skills: [skill], visible: [], use: { ...inGroup, by: 'person' } });
  assert.equal((await tool.run({ skill: 'deploy', message: 'now' }, context)).ok, true);
  assert.deepEqual(runs, ['deploy']);
});

test('U1 the schema names what is visible here; execution takes any name and decides itself', async () => {
  const { tool, skills } = setUp({ skills: [makeSkill('dice')] });
  const properties = tool.inputSchema['properties'] as Record<string, { enum?: readonly string[] }>;
  assert.deepEqual(properties['skill']?.enum, ['dice']);
  skills.push(makeSkill('new-one'));
  assert.equal((await tool.run({ skill: 'new-one', message: 'x' }, context)).ok, true);
});

test('U1 readiness is judged after access: an unready skill that is hidden stays hidden', async () => {
  const readiness: Requirements = () => fail('MISSING_ENV', 'add KEY');
  const shown = setUp({ skills: [makeSkill('gmail')], readiness });
  assert.equal(
    (await shown.tool.run({ skill: 'gmail', message: 'x' }, context)).errors[0]?.code,
    'MISSING_ENV',
  );
  const hidden = setUp({ skills: [makeSkill('gmail', { access: { chatTypes: ['private'] } })], readiness });
  assert.equal(
    (await hidden.tool.run({ skill: 'gmail', message: 'x' }, context)).errors[0]?.code,
    'SKILL_NOT_FOUND',
  );
});

test('A8 access that was tightened while the run went on keeps its result back', async () => {
  const set = setUp({
    skills: [makeSkill('research')],
    onRun: () => {
      set.rules.current = {
        enabled: true,
        defaults: {},
        skills: new Map([['research', { enabled: false }]]),
      };
    },
  });
  const outcome = await set.tool.run({ skill: 'research', message: 'x' }, context);
  assert.deepEqual(set.runs, ['research']);
  assert.equal(outcome.errors[0]?.code, 'SKILL_NOT_FOUND');
  assert.doesNotMatch(JSON.stringify(outcome), /the answer/);
});

test('D7 a run that is taken up again and may not go on is CANCELLED, and not taken for one that never was', async () => {
  for (const skills of [[], [makeSkill('gmail', { access: { chatTypes: ['private'] } })]]) {
    const set = setUp({ skills, begun: true });
    const outcome = await set.tool.run({ skill: 'gmail', message: 'x' }, context);
    assert.equal(outcome.errors[0]?.code, 'CANCELLED');
    assert.deepEqual(set.runs, []);
  }
});
