import assert from 'node:assert/strict';
import { basename, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SkillOrigin, Skill } from '../../src/core/skill.ts';
import { loadSkills } from '../../src/skills/load-skills.ts';
import { createRegistry, type Registry } from '../../src/skills/registry.ts';
import { validateTree } from '../../src/skills/parse/validate-skill.ts';
import { makeRoot, skillText } from './make-root.ts';
import { makeSkill, openAccess } from '../support/make-skill.ts';

/** Loads one skill called `tool` from each origin, with these further lines of front matter. */
async function layered(t: TestContext, layers: Partial<Record<SkillOrigin, string>>): Promise<Registry> {
  const root = makeRoot(t);
  const roots = (Object.entries(layers) as [SkillOrigin, string][]).map(([origin, front]) => {
    const path = makeRoot(t, {
      'tool/SKILL.md': skillText(`name: tool\ndescription: from ${origin}\n${front}`),
    });
    return { origin, path };
  });
  return loadSkills([...roots, { origin: 'bundled', path: join(root, 'absent') }]);
}

async function tool(t: TestContext, layers: Partial<Record<SkillOrigin, string>>): Promise<Skill> {
  const skill = (await layered(t, layers)).get('tool');
  assert.ok(skill);
  return skill;
}

test('D1 later origins override earlier ones by name, whatever the order of the roots', async (t) => {
  const all = { workspace: '', agents: '', bundled: '', user: '', integration: '', installed: '' };
  const skill = await tool(t, all);
  assert.equal(skill.description, 'from workspace');
  assert.deepEqual(
    skill.shadows.map(({ origin }) => origin),
    ['agents', 'user', 'installed', 'integration', 'bundled'],
  );
  assert.equal((await tool(t, { bundled: '', integration: '' })).origin, 'integration');
});

test('D2 within one origin a folder comes before a flat file, then path order, and the other is named', async (t) => {
  const first = makeRoot(t, {
    'z/one/SKILL.md': skillText('name: one\ndescription: folder z'),
    'one.md': skillText('name: one\ndescription: flat'),
  });
  const flat = await loadSkills([{ origin: 'user', path: first }]);
  assert.equal(flat.get('one')?.description, 'folder z');
  assert.deepEqual(
    flat.diagnostics.map(({ code, path }) => [code, path]),
    [['DUPLICATE_NAME', join(first, 'one.md')]],
  );
  const second = makeRoot(t, {
    'a/one/SKILL.md': skillText('name: one\ndescription: a'),
    'b/one/SKILL.md': skillText('name: one\ndescription: b'),
  });
  assert.equal((await loadSkills([{ origin: 'user', path: second }])).get('one')?.description, 'a');
});

test('D2 a shadowed skill is named in a diagnostic with both paths', async (t) => {
  const skill = await tool(t, { bundled: '', user: '' });
  const [shadowed] = skill.diagnostics;
  assert.equal(shadowed?.code, 'SHADOWED');
  assert.equal(shadowed.path, skill.path);
  assert.ok(shadowed.message.includes(skill.shadows[0]?.path ?? 'nothing'));
});

test('D3 a workspace copy that drops sensitive stays sensitive, and the reason is told', async (t) => {
  const skill = await tool(t, { bundled: 'sensitive: true', workspace: '' });
  assert.deepEqual(skill.access.chatTypes, ['private']);
  assert.equal(skill.access.sensitive, true);
  assert.deepEqual(skill.access.why, [
    'only in private chats: the bundled copy it replaces says so',
    'sensitive: the bundled copy it replaces says so',
  ]);
});

test('D3 chat types of all definitions are intersected, each evaluated by itself', async (t) => {
  const types = async (layers: Partial<Record<SkillOrigin, string>>): Promise<string> =>
    (await tool(t, layers)).access.chatTypes.join();
  assert.equal(await types({ workspace: '' }), 'private,group,channel');
  assert.equal(await types({ workspace: 'sensitive: true' }), 'private');
  assert.equal(await types({ workspace: 'sensitive: true\naccess:\n  chat_types: [group]' }), 'group');
  assert.equal(
    await types({
      installed: 'access:\n  chat_types: [group]',
      workspace: 'access:\n  chat_types: [private, group]',
    }),
    'group',
  );
  assert.equal(await types({ bundled: 'sensitive: true', workspace: 'access:\n  chat_types: [group]' }), '');
  assert.equal(await types({ bundled: 'access:\n  chat_types: [group]', user: '', workspace: '' }), 'group');
});

test('D3 sensitive, opt_in and disable_model_invocation are ORed, user_invocable is ANDed', async (t) => {
  const { access } = await tool(t, {
    bundled: 'opt_in: true\nuser_invocable: false',
    installed: 'disable_model_invocation: true',
    workspace: '',
  });
  assert.deepEqual([access.optIn, access.disableModelInvocation, access.userInvocable], [true, true, false]);
});

test('D3 a copy in the user origin stands by its own word', async (t) => {
  const { access } = await tool(t, { bundled: 'sensitive: true\nopt_in: true', user: '' });
  assert.deepEqual(access, openAccess);
});

test('D3 a workspace copy is given no more than what it shadows, but for the env that the operator writes for its name', async (t) => {
  const skill = await tool(t, {
    bundled: 'env: [A, B]\nnetwork: [a.example]\npackages: [jq]',
    workspace: 'env: [B, C]\nnetwork: [a.example, b.example]\npackages: [jq]\ncapabilities: [notes.read]',
  });
  assert.deepEqual(
    [skill.env, skill.network, skill.packages, skill.capabilities],
    [['B', 'C'], ['a.example'], ['jq'], []],
  );
  assert.deepEqual(
    skill.diagnostics
      .filter(({ code }) => code === 'GRANT_NARROWED')
      .map(({ field }) => field)
      .sort(),
    ['capabilities', 'network'],
  );
  const narrowed = skill.diagnostics.filter(({ code }) => code === 'GRANT_NARROWED');
  for (const { message } of narrowed) assert.match(message, /name of its own/);
  assert.match(narrowed.find(({ field }) => field === 'network')?.message ?? '', /\[skills\.tool\]/);
  // Packages are a need that is checked, not a grant.
  for (const packages of ['[figlet]', '[jq, figlet]'])
    assert.ok(
      (await tool(t, { bundled: '', workspace: `packages: ${packages}` })).packages.includes('figlet'),
    );
  assert.deepEqual((await tool(t, { workspace: 'env: C' })).env, ['C']);
  assert.deepEqual((await tool(t, { bundled: '', user: 'env: C' })).env, ['C']);
});

test('D3 a copy whose access cannot be read switches the name off instead of letting a laxer one through', async (t) => {
  for (const layers of [
    { bundled: '', user: 'sensitive: ture' },
    { bundled: 'sensitive: ture', workspace: '' },
    { user: '', workspace: 'env: bad' },
  ]) {
    const registry = await layered(t, layers);
    assert.equal(registry.has('tool'), false, JSON.stringify(layers));
    assert.ok(registry.diagnostics.some(({ code }) => code === 'SKILL_OFF'));
  }
  assert.equal((await layered(t, { bundled: 'sensitive: ture', user: '' })).get('tool')?.origin, 'user');
});

test('F5 one skill never hides another: a broken copy leaves the one below in use', async (t) => {
  const registry = await layered(t, { bundled: '', workspace: 'metadata: "' });
  assert.equal(registry.get('tool')?.origin, 'bundled');
  assert.deepEqual(
    registry.diagnostics.map(({ code }) => code),
    ['YAML_ERROR'],
  );
});

test('G4 a skill may not be called like a key of the skills section', async (t) => {
  const path = makeRoot(t, {
    'defaults/SKILL.md': skillText('name: defaults\ndescription: d'),
    'ok/SKILL.md': skillText('name: ok\ndescription: d'),
  });
  const { names, diagnostics } = await loadSkills([{ origin: 'user', path }]);
  assert.deepEqual([names, diagnostics.map(({ code }) => code)], [['ok'], ['NAME_RESERVED']]);
});

test('F5 [skills] strict loads exactly what skillet skill validate calls valid', async (t) => {
  const text = {
    fine: 'name: fine\ndescription: d',
    nameless: 'description: d',
    'empty-name': 'name:\ndescription: d',
    'list-name': 'name: [a]\ndescription: d',
    elsewhere: 'name: other-name\ndescription: d',
    'foreign-key': 'name: foreign-key\ndescription: d\nfoo: bar',
    'list-below': 'name: list-below\ndescription: d\nmetadata:\n  a: [b]',
    'map-below': 'name: map-below\ndescription: d\nmetadata:\n  a:\n    b: c',
    dialect: 'name: dialect\ndescription: d\nmetadata: {"openclaw": {"requires": {"bins": ["sh"]}}}',
    at1024: `name: at1024\ndescription: ${'é'.repeat(1_024)}`,
    at1025: `name: at1025\ndescription: ${'é'.repeat(1_025)}`,
    undescribed: 'name: undescribed',
    repaired: 'name: repaired\ndescription: a: b',
    twice: 'name: twice\ndescription: d\nallowed_tools: Bash\nallowed-tools: Bash',
    strict: 'name: strict\ndescription: d',
    'flow-tags': 'name: flow-tags\ndescription: d\ntags: [a]',
    'long-compat': `name: long-compat\ndescription: d\ncompatibility: ${'c'.repeat(501)}`,
    'bad-count': 'name: bad-count\ndescription: d\nmax_iterations: many',
  };
  const path = makeRoot(
    t,
    Object.fromEntries(Object.entries(text).map(([name, front]) => [`${name}/SKILL.md`, skillText(front)])),
  );
  const valid = validateTree(path).flatMap((one) => (one.valid ? [basename(dirname(one.path))] : []));
  const { skills, diagnostics } = await loadSkills([{ origin: 'user', path }], { strict: true });
  assert.deepEqual(skills.map(({ path: file }) => basename(dirname(file))).sort(), [...valid].sort());
  assert.deepEqual([...valid].sort(), [
    'at1024',
    'dialect',
    'empty-name',
    'fine',
    'flow-tags',
    'foreign-key',
    'nameless',
  ]);
  // What is refused is not described as if it were in use.
  for (const { path: file = '', message } of diagnostics)
    if (!valid.includes(basename(dirname(file)))) assert.doesNotMatch(message, /are used|is kept as text/);
});

test('F9 at start no more than 64 KiB of a file is read', async () => {
  const asked: number[] = [];
  const body = 'x'.repeat(100_000);
  const text = Buffer.from(skillText('name: big\ndescription: d', body));
  const store = {
    list: async () => ({ skills: [{ path: 'big', stamp: '1', diagnostics: [] }], diagnostics: [] }),
    async load(_skill: unknown, limit: number) {
      asked.push(limit);
      return { ok: true as const, bytes: text.subarray(0, limit), cut: true, stamp: '1' };
    },
    readFile: async () => ({ ok: false as const, code: 'FILE_NOT_FOUND' as const, message: '' }),
    folders: () => [],
  };
  const { names } = await loadSkills([{ origin: 'user', store }]);
  assert.deepEqual([names, asked], [['big'], [65_536]]);
});

test('D10 the registry is a frozen snapshot and an unknown name is a value', async (t) => {
  const path = makeRoot(t, {
    'b/SKILL.md': skillText(
      'name: b\ndescription: d\npackages: [jq]\nargument_hint: x',
      'Say $0 in {baseDir}.',
    ),
    'a/SKILL.md': skillText('name: a\ndescription: d\nuser_invocable: false'),
    'c/SKILL.md': skillText('name: c\ndescription: d\ndisable_model_invocation: true'),
  });
  const registry = await loadSkills([{ origin: 'user', path }]);
  assert.deepEqual(registry.names, ['a', 'b', 'c']);
  assert.equal(registry.get('nothing'), undefined);
  assert.equal(registry.has('toString'), false);
  assert.deepEqual(
    registry.available(({ packages }) => packages.length === 0).map(({ name }) => name),
    ['a', 'c'],
  );
  assert.deepEqual(
    registry.available(({ packages }) => packages.every((name) => name === 'jq')).map(({ name }) => name),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(
    registry.userInvocable.map(({ name }) => name),
    ['b', 'c'],
  );
  const { text } = registry.catalogue(({ name }) => name !== 'b', {
    format: 'markdown',
    budgetChars: 16_000,
  });
  assert.ok(/^- a: d$/m.test(text) && !/^- [bc]/m.test(text), text);
  const body = await registry.body('b', 'hello there', { skillPath: '/skill' });
  assert.deepEqual(body, {
    ok: true,
    text: 'Say hello in /skill.',
    truncated: false,
    kept: false,
    substituted: true,
  });
  assert.deepEqual(await registry.body('x', ''), {
    ok: false,
    code: 'SKILL_NOT_FOUND',
    message: 'there is no skill "x"',
  });
  const skill = registry.get('b');
  assert.ok(skill && Object.isFrozen(registry) && Object.isFrozen(registry.names) && Object.isFrozen(skill));
  assert.ok(Object.isFrozen(skill.access) && Object.isFrozen(skill.env) && Object.isFrozen(skill.metadata));
});

test('B1 a catalogue is made again only for other skills or other options', () => {
  const registry = createRegistry([makeSkill('a'), makeSkill('b')]);
  const options = { format: 'markdown', budgetChars: 16_000 } as const;
  const first = registry.catalogue(() => true, options);
  assert.equal(
    registry.catalogue(() => true, { ...options }),
    first,
  );
  const onlyB = registry.catalogue(({ name }) => name === 'b', options);
  assert.ok(!onlyB.text.includes('- a:') && onlyB.text.includes('- b:'), onlyB.text);
  const onlyA = registry.catalogue(({ name }) => name === 'a', options);
  assert.ok(onlyA.text.includes('- a:') && !onlyA.text.includes('- b:'), onlyA.text);
  assert.match(
    registry.catalogue(({ name }) => name === 'a', { ...options, format: 'xml' }).text,
    /<name>a</,
  );
  assert.deepEqual(
    registry.catalogue(() => true, options),
    first,
  );
});
