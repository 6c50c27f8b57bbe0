import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { test } from 'node:test';
import { commandTable } from '../../src/core/chat-commands.ts';
import { createModels } from '../../src/agent/models/create-models.ts';
import { listedToolDiagnostics } from '../../src/tools/list-tools.ts';
import { hostDiagnostics } from '../../src/conversations/host-diagnostics.ts';
import { makeMenus } from '../../src/conversations/refresh-menus.ts';
import { createNewSince } from '../../src/lib/text/text.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { makeSkill } from '../support/make-skill.ts';
import { makeRoot } from '../skills/make-root.ts';
import { quietLog } from '../support/quiet-log.ts';

const parsed = parseConfig('', { env: {} });
const withTypo = parseConfig('[skills.typo]\nmodel = "hiaku"\n', { env: {} });
assert.ok(parsed.ok && withTypo.ok);
const models = createModels(parsed.config.models, { log: quietLog(), clock: systemClock });
const commands = commandTable([{ stop: { menu: 'Stop' }, exit: { about: 'Leave' } }]);
const codes = (...skills: Parameters<typeof makeSkill>[]): readonly string[] =>
  hostDiagnostics(
    skills.map((skill) => makeSkill(...skill)),
    skills.some(([name]) => name === 'typo') ? withTypo.config : parsed.config,
    { models, commands, tools: allTools() },
  ).map(({ code }) => code);

test('F5 of what is found again only what is new is told', () => {
  const isNew = createNewSince<{ code: string }>();
  assert.deepEqual(isNew([{ code: 'a' }, { code: 'b' }]), [{ code: 'a' }, { code: 'b' }]);
  assert.deepEqual(isNew([{ code: 'b' }, { code: 'c' }]), [{ code: 'c' }]);
  assert.deepEqual(isNew([{ code: 'a' }]), [{ code: 'a' }]);
});

test('S1 F5 a table of [skills] that is for no skill is pointed out with the name that was meant', () => {
  const slips = parseConfig('[skills.reserch]\nchat_types = ["private"]\n[skills.zebra]\n[skills.dice]\n', {
    env: {},
  });
  assert.ok(slips.ok);
  const found = hostDiagnostics([makeSkill('research'), makeSkill('dice')], slips.config, {
    models,
    commands,
    tools: allTools(),
  });
  assert.deepEqual(
    found.map(({ code, field }) => [code, field]),
    [
      ['SKILL_UNKNOWN', 'skills.reserch'],
      ['SKILL_UNKNOWN', 'skills.zebra'],
    ],
  );
  assert.match(
    found[0]?.message ?? '',
    /no skill of that name is loaded: did you mean \[skills\.research\]\?$/,
  );
});

test('T5 F5 entries of allowed_tools that name no tool are pointed out before any run', () => {
  const skills = [
    makeSkill('a', { allowedTools: ['Bash(git:*)', 'Bsh', 'state_*', 'lamp_on', 'mcp_x_do', 'Read'] }),
    makeSkill('b'),
  ];
  const found = (more: Parameters<typeof listedToolDiagnostics>[1]): readonly string[] =>
    listedToolDiagnostics(skills, more).map(({ message }) => /allowed_tools: (\S+)/.exec(message)?.[1] ?? '');
  assert.deepEqual(found({ plugins: [], hasServers: false, builtInTools: allTools() }), [
    'Bsh',
    'state_*',
    'lamp_on',
    'mcp_x_do',
  ]);
  assert.deepEqual(found({ plugins: ['lamp_on', 'state_get'], hasServers: true, builtInTools: allTools() }), [
    'Bsh',
  ]);
});

test('R5 a skill that asks for more time than [sandbox] timeout_seconds is pointed out', () => {
  assert.deepEqual(codes(['slow', { timeoutSeconds: 601 }]), ['TIMEOUT_CAPPED']);
  assert.deepEqual(codes(['slow', { timeoutSeconds: 600 }]), []);
});

test('I3 a skill named like a built-in command is pointed out, and the menus name the command alone', () => {
  assert.deepEqual(codes(['stop']), ['NAME_TAKEN']);
  const { private: entries } = makeMenus(
    [makeSkill('stop'), makeSkill('dice')],
    { enabled: true, defaults: {}, skills: new Map() },
    { commands },
  );
  assert.ok(!entries.some(({ name }) => name === 'exit'), 'no menu lists it');
  assert.equal(entries.filter(({ name }) => name === 'stop').length, 1);
  assert.ok(entries.some(({ name }) => name === 'dice'));
});

test('U2 a model nobody knows is pointed out, whoever named it', () => {
  assert.deepEqual(codes(['typo'], ['own', { model: 'gpt-none' }], ['fine', { model: 'haiku' }]), [
    'MODEL_UNKNOWN',
    'MODEL_UNKNOWN',
  ]);
});

test('U8 an inline skill that is a run after all is pointed out', () => {
  const inline = { context: 'inline' } as const;
  assert.deepEqual(codes(['helper', inline], ['asker', { ...inline, allowedTools: ['use_skill'] }]), []);
  assert.deepEqual(codes(['scripted', { ...inline, allowedTools: ['skills_run_script'] }]), [
    'INLINE_FORKED',
  ]);
  assert.deepEqual(codes(['keyed', { ...inline, env: ['A_KEY'] }]), ['INLINE_FORKED']);
  const given = parseConfig('[skills.helper]\nA_KEY = "a"\n', { env: {} });
  assert.ok(given.ok);
  const [found] = hostDiagnostics([makeSkill('helper', inline)], given.config, {
    models,
    commands,
    tools: allTools(),
  });
  assert.match(found?.message ?? '', /it has an environment/);
});

test('T5 a skill that has scripts and a list of tools without a shell is pointed out', (t) => {
  const directory = makeRoot(t, { 'scripts/a.sh': 'echo\n', 'SKILL.md': 'x' });
  const found = (allowedTools: string[]) => codes(['worker', { directory, allowedTools }]);
  assert.deepEqual(found(['Read', 'WebFetch']), ['SCRIPTS_NOT_ALLOWED']);
  for (const list of [[], ['Bash(gh:*)'], ['Bash({baseDir}/scripts/a.sh)'], ['Shell'], ['skills_run_script']])
    assert.deepEqual(found(list), [], list.join());
  assert.deepEqual(
    codes(['reader', { directory: makeRoot(t, { 'notes.md': 'x' }), allowedTools: ['Read'] }]),
    [],
  );
});

test('I1 A8 a menu shows what anybody may use in such a chat, and nothing that lists of chats or people narrow', () => {
  const skills = [
    makeSkill('mail', { access: { chatTypes: ['private'] } }),
    makeSkill('few'),
    makeSkill('all', { argumentHint: '<x>' }),
    makeSkill('hidden', { access: { userInvocable: false } }),
  ];
  const menus = makeMenus(
    skills,
    { enabled: true, defaults: {}, skills: new Map([['few', { allowUsers: ['telegram:1'] }]]) },
    { commands },
  );
  const own = (list: typeof menus.private): readonly string[] =>
    list.map(({ name }) => name).filter((name) => skills.some((skill) => skill.name === name));
  assert.deepEqual(own(menus.private), ['mail', 'all']);
  assert.deepEqual(own(menus.group), ['all']);
  assert.equal(menus.group.find(({ name }) => name === 'all')?.hint, '<x>');
});

test('T2 a skill that would search the web says what the operator has to set, until it is set', () => {
  const skills = [
    makeSkill('finder', { allowedTools: ['web_search', 'web_fetch'] }),
    makeSkill('claude', { allowedTools: ['WebSearch'] }),
    makeSkill('reader', { allowedTools: ['web_fetch'] }),
    makeSkill('any'),
  ];
  const found = hostDiagnostics(skills, parsed.config, { models, commands, tools: allTools() });
  assert.deepEqual(
    found.map(({ code, message }) => [code, message.split(' ')[0]]),
    [
      ['WEB_SEARCH_MISSING', 'finder'],
      ['WEB_SEARCH_MISSING', 'claude'],
    ],
  );
  assert.match(found[0]?.message ?? '', /\[tools\.web_search\]/);
  const set = parseConfig('[tools.web_search]\nprovider = "searxng"\nbase_url = "http://127.0.0.1:8080"\n', {
    env: {},
  });
  assert.ok(set.ok);
  assert.deepEqual(hostDiagnostics(skills, set.config, { models, commands, tools: allTools() }), []);
});
