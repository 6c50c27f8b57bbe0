import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RoutineDefinition } from '../../src/store/routines.ts';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { plantRoutines, readRoutines } from '../support/plant-routine.ts';
import { inBensDm, olga, startRoutineStage, toml, yearly } from '../support/routine-stage.ts';
import type { WholeBotOptions } from '../support/whole-bot.ts';

/** A firing is judged as its creator is then, whatever changed since it was set up (N3). */
const skills = { payroll: '---\nname: payroll\ndescription: Pays.\n---\nPay.\n' };
const script = (): string => 'The week was quiet.';
const inGroup = { chatType: 'group', conversation: { channel: 'telegram', chat: '-100777' } } as const;
const inOlgasDm = { creator: olga, conversation: { channel: 'telegram', chat: '1001' } } as const;
const notThere = /its creator may not talk with me there any more/;
const notThisSkill = /its creator may not use the skill payroll there any more/;

type Withdrawn = Readonly<{ toml: string; planted: Partial<RoutineDefinition>; why: RegExp }>;

/** By what changes in the config or the skills while it sleeps. */
const withdrawn: Readonly<Record<string, Withdrawn>> = {
  'its creator is removed': {
    toml: toml
      .replace('users = ["telegram:1002"]', 'users = []')
      .replace('group_users = ["*"]', 'group_users = []'),
    planted: {},
    why: notThere,
  },
  'its creator left the group of people that may talk there': {
    toml: `${toml.replace('group_users = ["*"]', 'group_users = ["group:team"]').replace('users = ["telegram:1002"]', 'users = []')}[groups.team]\nmembers = ["telegram:1003"]\n`,
    planted: inGroup,
    why: notThere,
  },
  'its chat is no longer allowed': {
    toml: toml.replace('groups_mode = "open"', 'groups_mode = "allowlist"'),
    planted: inGroup,
    why: notThere,
  },
  'its creator is no owner any more': {
    toml: toml.replace('owner = ["telegram:1001"]', 'owner = ["telegram:1002"]'),
    planted: inOlgasDm,
    why: notThere,
  },
  'its skill is withdrawn from them': {
    toml: `${toml}[skills.payroll]\nallow_users = ["telegram:1001"]\n`,
    planted: { skill: 'payroll' },
    why: notThisSkill,
  },
  'its skill is gone': {
    toml,
    planted: { skill: 'weather' },
    why: /there is no skill weather any more/,
  },
  'its skill is now sensitive, and it goes to a group': {
    toml: `${toml}[skills.payroll]\nsensitive = true\n`,
    planted: { ...inGroup, skill: 'payroll' },
    why: notThisSkill,
  },
};

for (const [what, { toml: later, planted, why }] of Object.entries(withdrawn))
  test(`N3 S8 S11 if ${what}, a routine stops before anything runs, and the owner hears why, and its creator unless they were removed`, async (t) => {
    const { set, owner, person } = await startRoutineStage(t, { skills, script });
    await set.reconfigure(later);
    const routine = { ...inBensDm, name: 'Pay day', when: yearly, ...planted };
    const now = await plantRoutines(set, { r1: routine });
    const removed = {
      'its creator is removed': person,
      'its creator left the group of people that may talk there': person,
      'its creator is no owner any more': owner,
    }[what];
    for (const one of [owner, person].filter((each) => each !== removed)) {
      const { text } = await one.dm.nextMessage(/I paused the routine/);
      const isNamed = routine.creator.id === `telegram:${one.id}`;
      assert.ok(
        text.startsWith(`I paused the routine ${isNamed ? 'Pay day' : 'r1'} of ${routine.creator.id}: `),
        text,
      );
      assert.match(text, why);
    }
    if (removed !== undefined)
      assert.ok(!removed.dm.everSent().some(({ text }) => text.includes('I paused')), 'A9');
    assert.equal(set.messages.requests.length, 0);
    const [stopped] = await readRoutines(now);
    assert.deepEqual([stopped?.state, stopped?.last?.how], ['paused', 'stopped']);
  });

for (const whose of ['creator', 'chat'] as const)
  test(`N3 U10 if the ${whose}’s budget is spent, the routine says so where it runs, and it counts as a failure`, async (t) => {
    const limits = whose === 'chat' ? '[limits.chat]' : '[limits]';
    const { set, person } = await startRoutineStage(t, {
      toml: `${toml}${limits}\ntokens_per_day = 1\n`,
      script,
    });
    const group = set.telegram.group();
    const { conversation } = inBensDm;
    const place =
      whose === 'creator'
        ? ({ room: person.dm, definition: { conversation } } as const)
        : ({
            room: group,
            definition: { chatType: 'group', conversation: { ...conversation, chat: String(group.id) } },
          } as const);
    person.says('@test_bot hello', { in: place.room });
    await place.room.nextMessage(/The week was quiet/);
    const asked = set.messages.requests.length;
    const routine = { ...inBensDm, ...place.definition, name: 'Digest', when: yearly };
    const now = await plantRoutines(set, { r1: routine });
    const { text } = await place.room.nextMessage(/⏰ Digest/);
    assert.match(text, whose === 'chat' ? /chat.*1 tokens/ : /[Yy]our.*1 tokens/);
    assert.equal(set.messages.requests.length, asked);
    assert.equal((await readRoutines(now))[0]?.failures, 1);
  });

test('N3 U10 Q7 a routine that a shutdown cut off is finished after it, though it used the budget up', async (t) => {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { set, person } = await startRoutineStage(t, {
    toml: `${toml}[limits]\ntokens_per_day = 1\n`,
    script: (_, index) => {
      if (index === 0) return { content: [{ type: 'tool_use' as const, name: 'skills_list', input: {} }] };
      asked.resolve();
      return { content: [{ type: 'text' as const, text: script() }], wire: { hold: gate.promise } };
    },
  });
  const first = await plantRoutines(set, { r1: { ...inBensDm, name: 'Digest', when: yearly } });
  await asked.promise;
  const second = await first.restart();
  gate.resolve();
  assert.match((await person.dm.nextMessage(/^⏰ Digest/)).text, /The week was quiet/);
  assert.deepEqual((await readRoutines(second))[0]?.last?.how, 'answered');
});

test('N3 A9 a creator who is removed while their routine runs gets no answer', async (t) => {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { set, person, owner } = await startRoutineStage(t, {
    script: () => {
      asked.resolve();
      return { content: [{ type: 'text' as const, text: script() }], wire: { hold: gate.promise } };
    },
  });
  const now = await plantRoutines(set, { r1: { ...inBensDm, name: 'Digest', when: yearly } });
  await asked.promise;
  await now.reconfigure(toml.replace('users = ["telegram:1002"]', 'users = []'));
  await now.log.line(({ message }) => message === 'the config was changed');
  gate.resolve();
  const told = await now.telegram.until('somebody hears of it', () =>
    [owner, person].flatMap(({ dm }) => dm.everSent()).find(({ text }) => /routine|week/.test(text)),
  );
  assert.match(told.text, /I paused the routine r1 .*its creator may not talk with me there any more/);
  await now.bot.idle();
  assert.ok(!person.dm.everSent().some(({ text }) => text.includes('The week was quiet')));
  assert.equal((await readRoutines(now))[0]?.last?.how, 'stopped');
});

test('N3 A8 a skill that the model chooses in a firing is judged as for the creator, and refused with its reason', async (t) => {
  const { set, owner, person } = await startRoutineStage(t, {
    toml: `${toml}[skills.payroll]\nallow_users = ["telegram:1001"]\n`,
    skills: { ...skills, tides: skills.payroll.replace('payroll', 'tides') },
    script: (body) => {
      if (isRun(body)) return 'Everybody is paid.';
      const [result] = resultsIn(body).slice(-1);
      if (result !== undefined) return `It says: ${result}`;
      const input = { skill: 'payroll', message: 'Pay.' };
      return { content: [{ type: 'tool_use', id: 'toolu_pay', name: 'use_skill', input }] };
    },
  });
  const now = await plantRoutines(set, {
    r1: { ...inBensDm, name: 'Ben’s', when: yearly },
    r2: { ...inOlgasDm, name: 'Olga’s', when: yearly },
  });
  await owner.dm.nextMessage(/⏰ Olga’s\n\nIt says: .*Everybody is paid/s);
  const { text } = await person.dm.nextMessage(/⏰ Ben’s\n\nIt says: /);
  assert.match(text, /SKILL_NOT_FOUND/);
  assert.equal(set.messages.requests.filter(({ body }) => isRun(body)).length, 1);
  const [refused] = await now.bot.operate('audit tail', { lines: 5, kind: 'skill_refused' });
  const { skill, code, sender } = JSON.parse(refused ?? '{}') as Readonly<Record<string, string>>;
  assert.deepEqual([skill, code, sender], ['payroll', 'SKILL_NOT_AVAILABLE_HERE', 'telegram:1002']);
});

/** The model of a firing that wants one more routine: at once, or when its run in the background has ended. */
const greedy = (more: object, background: boolean): NonNullable<WholeBotOptions['script']> => {
  const call = (name: string, input: object) => ({
    content: [{ type: 'tool_use' as const, id: `toolu_${name}`, name, input }],
  });
  return (body) => {
    if (isRun(body)) return 'Paid.';
    const last = JSON.stringify(body.messages.at(-1));
    if (/routine|TOOL_NOT_ALLOWED/.test(last) && last.includes('tool_result')) return `It says: ${last}`;
    if (last.includes('works in the background')) return 'It runs.';
    return background && !last.includes('Paid.')
      ? call('use_skill', { skill: 'payroll', message: 'Pay.', background: true })
      : call('routine_add', { task: 'More.', ...more });
  };
};
const often = { when: 'every 5 minutes' };
const greeds: Readonly<Record<string, NonNullable<WholeBotOptions['script']>>> = {
  'in its own turn': greedy({ when: '0 9 * * 1' }, false),
  'with a question to an approver': greedy(often, false),
  'after a run that it began in the background': greedy({ when: '0 9 * * 1' }, true),
};
for (const [how, script] of Object.entries(greeds))
  test(`N3 a routine sets up no routines, ${how}`, async (t) => {
    const { set, person } = await startRoutineStage(t, { skills, script });
    const now = await plantRoutines(set, { r1: { ...inBensDm, name: 'Pay day', when: yearly } });
    const { text } = await person.dm.nextMessage(/It says: |I want to use/);
    assert.match(text, /A routine can not set up or change routines/);
    assert.deepEqual(
      (await readRoutines(now)).map(({ id }) => id),
      ['r1'],
    );
  });
