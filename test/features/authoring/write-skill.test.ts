import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createSkillApprovals, versionOf } from '../../../src/features/authoring/approve-skill.ts';
import { createWriteSkill } from '../../../src/features/authoring/write-skill.ts';
import { allCommands, allTools } from '../../../src/features/list.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Envelope } from '../../../src/core/envelope.ts';
import type { Provenance } from '../../../src/core/provenance.ts';
import type { Requester } from '../../../src/core/tool.ts';
import type { SkillDraft } from '../../../src/skills/prepare-draft.ts';
import { hashSkill } from '../../../src/skills/install/hash-skill.ts';
import { loadSkills } from '../../../src/skills/load-skills.ts';
import { createWrittenSkills, readApprovals, type WrittenSkill } from '../../../src/skills/written-skills.ts';
import { marker } from '../../../src/skills/written-marker.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { makeRoot, put, silent, skillText } from '../../skills/make-root.ts';

const by = (sender: string): Requester => ({
  conversation: { channel: 'telegram', chat: '7' },
  chatType: 'group',
  external: false,
  sender,
  kind: 'person',
});
const [ann, eve, olga] = [by('telegram:1'), by('telegram:2'), by('telegram:1001')];
const draft = (name = 'greet', body = 'Greet.', files: SkillDraft['files'] = []): SkillDraft => ({
  name,
  content: skillText(`name: ${name}\ndescription: Greets people.`, body),
  files,
});

/** The workspace, the store and who was asked; Olga may approve. */
async function setUp(t: TestContext) {
  const [root, bundled] = [
    makeRoot(t),
    makeRoot(t, { 'dice/SKILL.md': skillText('name: dice\ndescription: d') }),
  ];
  const store = await openStore('sqlite::memory:', { log: silent });
  t.after(() => store.close());
  const written = createWrittenSkills(store);
  const load = () =>
    loadSkills(
      [
        { origin: 'bundled', path: bundled },
        { origin: 'workspace', path: root },
      ],
      { approvals: () => readApprovals(written, root) },
    );
  const asked: WrittenSkill[] = [];
  const writing = createWriteSkill({
    otherTools: () => ['mcp_notes_add'],
    chatCommands: allCommands(),
    builtInTools: allTools(),
    root,
    written,
    rescan: load,
    mayApprove: async (sender) => sender === olga.sender,
    ask: async (record) => void asked.push(record),
    clock: systemClock,
    log: silent,
  });
  const { read } = writing;
  const write = (of: SkillDraft, requester: Requester, from: Provenance = { words: 'typed' }) =>
    writing.write(of, requester, from);
  const approvals = createSkillApprovals({ root, written, onChange: async () => undefined, log: silent });
  const isOn = async (name = 'greet') => (await load()).get(name)?.access.approved;
  return { root, written, write, read, approvals, asked, isOn };
}
const codes = ({ errors }: Envelope): readonly string[] => errors.map(({ code }) => code);

test('D9 a skill is written whole, marked, recorded and asked about; a bad one not at all', async (t) => {
  const { root, write, asked, written, isOn } = await setUp(t);
  assert.deepEqual(codes(await write({ ...draft(), content: 'no front matter' }, ann)), [
    'ARGUMENTS_INVALID',
  ]);
  assert.deepEqual([readdirSync(root), asked.length], [[], 0]);
  const files = [{ path: 'scripts/hi.sh', content: 'echo hi\n' }];
  assert.ok((await write(draft('greet', 'Greet.', files), ann)).ok);
  assert.equal(readFileSync(join(root, 'greet/scripts/hi.sh'), 'utf8'), 'echo hi\n');
  assert.ok(existsSync(join(root, 'greet', marker)));
  assert.deepEqual(readdirSync(root), ['greet'], 'nothing is left aside');
  assert.equal(await isOn(), false);
  const record = await written.get('greet');
  assert.deepEqual(record?.hashes, [hashSkill(join(root, 'greet'))?.hash]);
  assert.doesNotMatch(JSON.stringify(record), /telegram:1/, 'nobody is named');
});

test('D9 X7 a skill may be written for tools that are not built in', async (t) => {
  const { write } = await setUp(t);
  const listing = (tool: string) => ({
    ...draft(),
    content: `---\nname: greet\ndescription: Greets.\nallowed_tools: ${tool}\n---\nGreet.\n`,
  });
  assert.deepEqual(codes(await write(listing('mcp_gone_*'), ann)), ['ARGUMENTS_INVALID']);
  assert.ok((await write(listing('mcp_notes_*'), ann)).ok);
});

test('D9 a name that the bot did not write itself is taken, whatever stands behind it', async (t) => {
  const { root, write } = await setUp(t);
  put(root, 'own/SKILL.md', skillText('name: own\ndescription: By hand.'));
  put(root, 'broken/SKILL.md', 'no skill at all');
  put(root, 'cat/deep/SKILL.md', skillText('name: deep\ndescription: By hand.'));
  const answers: string[] = [];
  for (const name of ['dice', 'own', 'broken', 'deep']) {
    const answer = await write(draft(name), ann);
    assert.equal(answer.ok, false, name);
    answers.push(answer.errors[0]!.message.replace(name, 'NAME'));
  }
  assert.equal(new Set(answers).size, 1, 'and the answer tells nothing of it');
  for (const name of ['help', 'stop', 'defaults'])
    assert.deepEqual(codes(await write(draft(name), ann)), ['ARGUMENTS_INVALID'], name);
  assert.match(readFileSync(join(root, 'own/SKILL.md'), 'utf8'), /By hand/);
  assert.equal(readFileSync(join(root, 'broken/SKILL.md'), 'utf8'), 'no skill at all');
});

test('D9 only who asked for it, or may enable it, changes or reads it; what a hand changed stays', async (t) => {
  const { root, write, read } = await setUp(t);
  await write(draft(), ann);
  assert.ok(!(await write(draft('greet', 'Insult.'), eve)).ok);
  assert.deepEqual(codes(await read('greet', undefined, eve)), ['SKILL_NOT_FOUND']);
  assert.match(String((await read('greet', undefined, ann)).data), /Greet\./);
  assert.deepEqual(codes(await read('greet', '../own/SKILL.md', ann)), ['INVALID_PATH']);
  assert.ok((await write(draft('greet', 'Greet well.'), olga)).ok);
  put(root, 'greet/SKILL.md', skillText('name: greet\ndescription: Mine now.'));
  assert.match((await write(draft(), ann)).errors[0]?.message ?? '', /changed by hand/);
  assert.match(readFileSync(join(root, 'greet/SKILL.md'), 'utf8'), /Mine now/);
});

test('D9 the yes is for these very files: a press for an earlier version does nothing', async (t) => {
  const { root, write, approvals, isOn } = await setUp(t);
  await write(draft(), ann);
  const first = versionOf(hashSkill(join(root, 'greet'))?.hash ?? '');
  await write(draft('greet', 'Insult.'), ann);
  assert.equal(await approvals.nameOf(first), 'greet');
  assert.equal((await approvals.enable('greet', first)).outcome, 'changed');
  assert.equal(await isOn(), false);
  assert.equal((await approvals.enable('greet')).outcome, 'enabled');
  assert.equal(await isOn(), true);
  put(root, 'greet/scripts/new.sh', 'echo\n');
  assert.equal(await isOn(), false, 'a hand disables it, too');
  assert.equal((await approvals.discard('greet')).outcome, 'changed', 'what a hand made is not removed');
  for (const name of ['dice', '../greet', '.replaced', 'nothing'])
    assert.equal((await approvals.enable(name)).outcome, 'unknown', name);
});

test('D9 a discarded change gives way to what was enabled before, however many changes came after it', async (t) => {
  const { root, write, approvals, isOn } = await setUp(t);
  await write(draft(), ann);
  await approvals.enable('greet');
  await write(draft('greet', 'Second.'), ann);
  await write(draft('greet', 'Third.'), ann);
  assert.equal(await isOn(), false);
  assert.equal((await approvals.discard('greet')).outcome, 'restored');
  assert.match(readFileSync(join(root, 'greet/SKILL.md'), 'utf8'), /Greet\./);
  assert.equal(await isOn(), true);
  assert.equal((await approvals.discard('greet')).outcome, 'discarded');
  assert.deepEqual([await isOn(), existsSync(join(root, 'greet'))], [undefined, false]);
  assert.ok((await write(draft(), eve)).ok, 'the name is free again');
});

test('D9 Q5 the same write again, after a crash at any point, ends in the same state and asks once', async (t) => {
  const { root, write, written, asked } = await setUp(t);
  await write(draft(), ann);
  const after = hashSkill(join(root, 'greet'))?.hash;
  await write(draft(), ann);
  assert.deepEqual(new Set(asked.map(({ at }) => at)).size, 1, 'one key, so one question');
  // As if it had ended between the record and the switch.
  const record = await written.get('greet');
  await written.set({ ...record!, hashes: ['f'.repeat(64), after ?? ''] });
  assert.ok((await write(draft('greet', 'Second.'), ann)).ok);
});

test('D9 twenty may wait, no more', async (t) => {
  const { write, approvals } = await setUp(t);
  for (let index = 0; index < 20; index++) assert.ok((await write(draft(`greet-${index}`), ann)).ok);
  assert.deepEqual(codes(await write(draft('one-more'), ann)), ['LIMIT_REACHED']);
  await approvals.enable('greet-3');
  assert.ok((await write(draft('one-more'), ann)).ok);
});
