import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { hashSkill } from '../../src/skills/install/hash-skill.ts';
import { loadSkills } from '../../src/skills/load-skills.ts';
import type { Registry } from '../../src/skills/registry.ts';
import { createWrittenSkills, readApprovals, type WrittenSkills } from '../../src/skills/written-skills.ts';
import { marker } from '../../src/skills/written-marker.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeRoot, put, silent, skillText } from './make-root.ts';

const asks =
  'name: greet\ndescription: Greets.\nenv: [A_KEY]\nnetwork: [a.example]\npackages: [jq]\ncapabilities: [notes.read]';

/** A workspace with `greet`, which the bot wrote. */
async function setUp(t: TestContext) {
  const root = makeRoot(t, { 'greet/SKILL.md': skillText(asks), 'greet/scripts/hi.sh': 'echo hi\n' });
  put(root, `greet/${marker}`, '');
  const store = await openStore('sqlite::memory:', { log: silent });
  t.after(() => store.close());
  const written = createWrittenSkills(store);
  const directory = join(root, 'greet');
  const hash = (): string => hashSkill(directory)?.hash ?? '';
  const load = (from: Pick<WrittenSkills, 'all'> = written): Promise<Registry> =>
    loadSkills([{ origin: 'workspace', path: root }], { approvals: () => readApprovals(from, root) });
  await written.set({ name: 'greet', hashes: [hash()], by: '', at: 1 });
  return { root, store, written, hash, load };
}
const isOn = (registry: Registry, name = 'greet'): boolean | undefined => registry.get(name)?.access.approved;

test('D9 what the bot wrote is off and given nothing until these very files are enabled', async (t) => {
  const { written, hash, load } = await setUp(t);
  const waiting = (await load()).get('greet');
  assert.equal(waiting?.access.approved, false);
  assert.deepEqual(waiting.access.why, [
    'off: written by the bot, waits for approval (skillet skill enable greet)',
  ]);
  assert.deepEqual([waiting.env, waiting.network, waiting.packages, waiting.capabilities], [[], [], [], []]);
  await written.set({ name: 'greet', hashes: [hash()], by: '', at: 1, approved: hash() });
  const skill = (await load()).get('greet');
  assert.equal(skill?.access.approved, true);
  assert.deepEqual([skill.env, skill.network], [['A_KEY'], ['a.example']]);
});

test('D9 any later change to any of its files disables it again, and undoing that enables it', async (t) => {
  const { root, written, hash, load } = await setUp(t);
  await written.set({ name: 'greet', hashes: [hash()], by: '', at: 1, approved: hash() });
  const changes = [
    ['greet/SKILL.md', skillText(asks, 'Do it well.'), skillText(asks)],
    ['greet/SKILL.md', skillText(asks.replace('name: greet', 'name: other')), skillText(asks)],
    ['greet/scripts/hi.sh', 'echo ho\n', 'echo hi\n'],
  ] as const;
  for (const [file, changed, before] of changes) {
    assert.equal(isOn(await load()), true);
    put(root, file, changed);
    const registry = await load();
    assert.equal(isOn(registry) ?? isOn(registry, 'other'), false, `${file} was changed`);
    put(root, file, before);
  }
  put(root, 'greet/more.md', 'one more file');
  assert.equal(isOn(await load()), false);
});

test('D9 without its record, or moved, it is still known as written by the bot; what a hand wrote is not', async (t) => {
  const { root, written, hash, load } = await setUp(t);
  await written.set({ name: 'greet', hashes: [hash()], by: '', at: 1, approved: hash() });
  cpSync(join(root, 'greet'), join(root, 'more/greet'), { recursive: true });
  put(root, 'own/SKILL.md', skillText('name: own\ndescription: By hand.'));
  put(root, 'flat.md', skillText('name: flat\ndescription: By hand.'));
  let registry = await load();
  assert.deepEqual([isOn(registry), isOn(registry, 'own'), isOn(registry, 'flat')], [true, true, true]);
  assert.deepEqual(
    registry.diagnostics.map(({ code, path }) => [code, path]),
    [['WAITS_FOR_APPROVAL', join(root, 'more/greet/SKILL.md')]],
    'the copy hides nothing',
  );
  await written.delete('greet');
  registry = await load();
  assert.deepEqual([isOn(registry), isOn(registry, 'own')], [false, true]);
});

test('D9 D3 an unapproved copy hides nothing and restricts nothing', async (t) => {
  const { root, written } = await setUp(t);
  put(root, 'greet/SKILL.md', skillText('name: greet\ndescription: Mine.\nsensitive: true\nopt_in: true'));
  const below = makeRoot(t, { 'greet/SKILL.md': skillText('name: greet\ndescription: Bundled.') });
  const roots = [
    { origin: 'bundled', path: below },
    { origin: 'workspace', path: root },
  ] as const;
  const registry = await loadSkills(roots, { approvals: () => readApprovals(written, root) });
  const skill = registry.get('greet');
  assert.deepEqual([skill?.description, skill?.access.optIn, skill?.shadows], ['Bundled.', false, []]);
  assert.ok(registry.diagnostics.some(({ code }) => code === 'WAITS_FOR_APPROVAL'));
});

test('D9 where the store cannot be read nothing is taken as approved: the reading fails', async (t) => {
  const { load, store, written } = await setUp(t);
  const away: Pick<WrittenSkills, 'all'> = { all: async () => Promise.reject(new Error('away')) };
  await assert.rejects(load(away), /away/);
  await store.keyed('written-skills').set('greet', { name: 'greet', approved: 7 });
  assert.equal(isOn(await load(written)), false, 'a record that makes no sense approves nothing');
});
