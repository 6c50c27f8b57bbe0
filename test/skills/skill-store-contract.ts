import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { SkillStore } from '../../src/skills/skill-store.ts';
import { skillText } from './make-root.ts';

/** What every SkillStore promises (D8). `make` gives a store that holds these files, by paths in it; one that makes a folder of every skill is not `flat`. */
export function testSkillStore(
  kind: string,
  make: (t: TestContext, files: Readonly<Record<string, string>>) => SkillStore | Promise<SkillStore>,
  { flat = true } = {},
): void {
  const text = skillText('name: a\ndescription: d', 'Body of a.');

  test(`D8 a ${kind} lists its skills in path order, each with a folder or flat`, async (t) => {
    const store = await make(t, {
      'b/SKILL.md': text.replace('name: a', 'name: b'),
      'a/SKILL.md': text,
      ...(flat ? { 'c.md': text } : {}),
    });
    const { skills } = await store.list();
    assert.deepEqual(
      skills.map(({ path }) =>
        path
          .split('/')
          .slice(-2)
          .join('/')
          .replace(/^.*(?=c\.md)/, ''),
      ),
      ['a/SKILL.md', 'b/SKILL.md', ...(flat ? ['c.md'] : [])],
    );
    assert.deepEqual(
      skills.map(({ directory }) => directory !== undefined),
      [true, true, ...(flat ? [false] : [])],
    );
  });

  test(`D8 a ${kind} gives the first bytes of a skill and says whether more follow`, async (t) => {
    const store = await make(t, { 'a/SKILL.md': text });
    const [skill] = (await store.list()).skills;
    assert.ok(skill);
    const whole = await store.load(skill, 10_000);
    assert.ok(whole.ok && !whole.cut);
    assert.equal(Buffer.from(whole.bytes).toString(), text);
    assert.equal(whole.stamp, skill.stamp);
    const start = await store.load(skill, 7);
    assert.ok(start.ok && start.cut);
    assert.equal(Buffer.from(start.bytes).toString(), text.slice(0, 7));
    const gone = await store.load({ ...skill, path: `${skill.path}.gone` }, 10);
    assert.equal(gone.ok, false);
  });

  test(`D8 a ${kind} reads files of a skill and nothing else`, async (t) => {
    const store = await make(t, { 'a/SKILL.md': text, 'a/references/x.md': 'hello', 'b/SKILL.md': text });
    const [skill] = (await store.list()).skills;
    assert.ok(skill);
    assert.deepEqual(await store.readFile(skill, 'references/x.md'), { ok: true, text: 'hello', size: 5 });
    const outside = await store.readFile(skill, '../b/SKILL.md');
    assert.equal(!outside.ok && outside.code, 'INVALID_PATH');
    const absent = await store.readFile(skill, 'references/y.md');
    assert.equal(!absent.ok && absent.code, 'FILE_NOT_FOUND');
  });
}
