import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { decideSkill } from '../../src/access/decide-skill.ts';
import { renderEnvelope, type Envelope } from '../../src/core/envelope.ts';
import type { Skill } from '../../src/core/skill.ts';
import type { Tool } from '../../src/core/tool.ts';
import {
  createSkillsList,
  createSkillsSearch,
  ownSkillReadFileTool,
  createSkillsReadFile,
} from '../../src/tools/built-in/skill-lookup.ts';
import { makeSkill } from '../support/make-skill.ts';
import { inAGroup, toolContext } from '../support/tool-context.ts';

const weather = makeSkill('weather', {
  description: 'Tells rain from sun.',
  version: '1.10',
  tags: ['sky'],
  authors: ['A', 'B'],
});
const gmail = makeSkill('gmail', {
  description: 'Reads mail.',
  access: { chatTypes: ['private'], sensitive: true },
});
const byHand = makeSkill('deploy', { access: { disableModelInvocation: true } });
const off = makeSkill('github', { access: { optIn: true } });

/** What the model may see in a group: decided by the one function that decides. */
function visibleInGroup(skills: readonly Skill[]): () => readonly Skill[] {
  const rules = { enabled: true, defaults: {}, skills: new Map() };
  const use = {
    chatType: 'group',
    chatIds: ['telegram:-1'],
    external: false,
    sender: 'telegram:42',
    by: 'model',
  } as const;
  return () => skills.filter((skill) => decideSkill(skill, rules, use).allowed);
}

function call(tool: Tool, input: unknown): Promise<Envelope> {
  return tool.run(input, toolContext({ requester: inAGroup }));
}

test('R1 skills_list gives name, version, description, tags and author of the visible skills only', async () => {
  const tool = createSkillsList()(visibleInGroup([weather, gmail, byHand, off]));
  const { data, ok } = await call(tool, {});
  assert.ok(ok);
  assert.deepEqual(data, [
    { name: 'weather', version: '1.10', description: 'Tells rain from sun.', tags: ['sky'], author: 'A, B' },
  ]);
  const none = await call(createSkillsList()(visibleInGroup([gmail])), {});
  assert.equal(none.data, 'No skills are available here.');
});

test('R2 skills_search finds visible skills by their words, and no hidden one', async () => {
  const tool = createSkillsSearch()(visibleInGroup([weather, gmail, byHand, off]));
  assert.match(renderEnvelope(await call(tool, { query: 'sky rain' })), /"name": "weather"/);
  for (const query of ['gmail', 'mail', 'deploy', 'github']) {
    assert.equal((await call(tool, { query })).data, 'No skill available here fits.', query);
  }
  assert.equal((await call(tool, { query: '' })).errors[0]?.code, 'ARGUMENTS_INVALID');
});

test('R4 A11 skills_read_file reads a visible skill, and a hidden one is answered like an unknown one', async (t) => {
  const { skill, hidden } = await onDisk(t);
  const tool = createSkillsReadFile()(
    visibleInGroup([skill, hidden]),
    () => false,
    () => 200_000,
  );
  assert.equal((await call(tool, { skill: 'notes', path: 'references/a.md' })).data, 'text of a\n');
  const swap = (envelope: Envelope, name: string): string =>
    renderEnvelope(envelope).replaceAll(name, 'NAME');
  for (const file of ['references/a.md', 'absent.md', '../x', '/etc/passwd']) {
    const known = swap(await call(tool, { skill: 'secret-notes', path: file }), 'secret-notes');
    const unknown = swap(await call(tool, { skill: 'hidden-notes', path: file }), 'hidden-notes');
    assert.equal(known, unknown);
    assert.match(known, /^error SKILL_NOT_FOUND: /);
  }
});

test('R4 a name that is nearly right is told, and never that of a hidden skill', async (t) => {
  const { skill, hidden } = await onDisk(t);
  const tool = createSkillsReadFile()(
    visibleInGroup([skill, hidden, makeSkill('pdf-editing')]),
    () => false,
    () => 200_000,
  );
  const said = async (name: string) => renderEnvelope(await call(tool, { skill: name, path: 'a.md' }));
  assert.match(await said('pdf_editin'), /there is no skill "pdf_editin" here\. Near: pdf-editing$/);
  for (const name of ['pdf_editing', 'PDF-Editing', 'pdf.editing', ' pdf-editing'])
    assert.match(await said(name), /FILE_NOT_FOUND|there is no file/, name);
  assert.doesNotMatch(await said('secret_notes'), /secret-notes/);
});

test('R4 a long file is read page by page, and what begins with a dot is no file of the skill', async (t) => {
  const { skill } = await onDisk(t);
  const folder = skill.directory ?? '';
  await writeFile(path.join(folder, 'long.txt'), 'a'.repeat(25_000) + 'b'.repeat(20_000));
  await writeFile(path.join(folder, '.env'), 'KEY=1');
  await mkdir(path.join(folder, '.git'));
  await writeFile(path.join(folder, '.git/config'), 'token');
  const tool = ownSkillReadFileTool(skill, 200_000);
  const first = await call(tool, { path: 'long.txt' });
  assert.equal(first.data, 'a'.repeat(25_000));
  assert.match(renderEnvelope(first), /CONTENT_TRUNCATED.*of 45000: read on with offset 25000/);
  const second = await call(tool, { path: 'long.txt', offset: 25_000 });
  assert.deepEqual([second.data, second.warnings], ['b'.repeat(20_000), []]);
  assert.match(renderEnvelope(await call(tool, { path: 'long.txt', offset: 45_000 })), /45000 characters/);
  for (const file of ['.env', '.git/config', './.env', 'references/../.env'])
    assert.equal((await call(tool, { path: file })).ok, false, file);
  assert.equal((await call(tool, { path: './references/a.md' })).data, 'text of a\n');
});

test('R1 R4 in a run skills_read_file reads its own skill and no other file', async (t) => {
  const { skill, root } = await onDisk(t);
  const tool = ownSkillReadFileTool(skill, 200_000);
  assert.equal((await call(tool, { path: 'references/a.md' })).data, 'text of a\n');
  assert.equal((await call(tool, { skill: 'secret-notes', path: 'references/a.md' })).data, 'text of a\n');
  const expected = {
    '../secret-notes/references/a.md': 'INVALID_PATH',
    [path.join(root, 'secret-notes/references/a.md')]: 'INVALID_PATH',
    'references\\a.md': 'INVALID_PATH',
    'references/\0': 'INVALID_PATH',
    'link.md': 'FILE_NOT_FOUND',
    'absent.md': 'FILE_NOT_FOUND',
    'large.txt': 'FILE_TOO_LARGE',
    'image.png': 'BINARY_FILE',
  };
  for (const [file, code] of Object.entries(expected)) {
    assert.equal((await call(tool, { path: file })).errors[0]?.code, code, file);
  }
});

async function onDisk(t: TestContext): Promise<Readonly<{ root: string; skill: Skill; hidden: Skill }>> {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-lookup-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const name of ['notes', 'secret-notes']) {
    await mkdir(path.join(root, name, 'references'), { recursive: true });
    await writeFile(path.join(root, name, 'references', 'a.md'), 'text of a\n');
  }
  await writeFile(path.join(root, 'notes', 'large.txt'), 'x'.repeat(200_001));
  await writeFile(path.join(root, 'notes', 'image.png'), Buffer.from('89504e470d0a1a0a00ff', 'hex'));
  await symlink(path.join(root, 'secret-notes', 'references', 'a.md'), path.join(root, 'notes', 'link.md'));
  return {
    root,
    skill: makeSkill('notes', { directory: path.join(root, 'notes') }),
    hidden: makeSkill('secret-notes', {
      directory: path.join(root, 'secret-notes'),
      access: { chatTypes: ['private'], sensitive: true },
    }),
  };
}
