import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { createSkillApprovals } from '../../src/features/authoring/approve-skill.ts';
import { hashSkill } from '../../src/skills/install/hash-skill.ts';
import { prepareDraft } from '../../src/skills/prepare-draft.ts';
import { createWrittenSkills, readApprovals } from '../../src/skills/written-skills.ts';
import { openStore } from '../../src/store/open-store.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const server = await startPostgres();
after(() => server?.close());
const skip = server === undefined ? noPostgres : false;

/** A process with a workspace of its own that writes, enables and discards skills. */
async function machine(t: TestContext, url: string) {
  const root = mkdtempSync(path.join(tmpdir(), 'skillet-written-'));
  const store = await openStore(url);
  t.after(async () => {
    await store.close();
    rmSync(root, { recursive: true });
  });
  const written = createWrittenSkills(store);
  const onChange = (): Promise<void> => written.bring(root);
  const at = (...names: string[]): string => path.join(root, ...names);
  return {
    at,
    written,
    bring: onChange,
    approvals: createSkillApprovals({ root, written, onChange, log: quietLog() }),
    text: (name: string) => readFileSync(at(name, 'SKILL.md'), 'utf8'),
    async write(name: string, content: string): Promise<string> {
      await written.bring(root);
      const record = await written.get(name);
      const now = hashSkill(at(name))?.hash;
      const draft = await prepareDraft(root, { name, content, files: [{ path: 'a/b.txt', content: 'b' }] });
      const hashes = [draft.hash, ...(now === undefined ? [] : [now])];
      await written.set({ by: 'x', at: 1, name, hashes, approved: record?.approved });
      await draft.switchIn(now !== undefined && now === record?.approved);
      await written.bring(root);
      return draft.hash;
    },
    async isApproved(name: string): Promise<boolean> {
      const judge = await readApprovals(written, root);
      return judge({ origin: 'workspace', directory: at(name) });
    },
  };
}

test(
  'Q14 D9 what one process writes, enables and discards is so in every other, by its bytes',
  { skip },
  async (t) => {
    assert.ok(server !== undefined);
    const url = await server.database();
    const [one, other, late] = [await machine(t, url), await machine(t, url), await machine(t, url)];
    const first = await one.write('greet', 'first');
    await other.bring();
    assert.equal(other.text('greet'), 'first');
    assert.equal(hashSkill(other.at('greet'))?.hash, first);
    assert.equal(await other.isApproved('greet'), false);
    assert.equal((await other.approvals.enable('greet')).outcome, 'enabled');
    assert.equal(await one.isApproved('greet'), true);

    await other.write('greet', 'second');
    await one.bring();
    assert.deepEqual([one.text('greet'), await one.isApproved('greet')], ['second', false]);
    // The version before comes back on a machine that never had the new one in use.
    assert.equal((await late.approvals.discard('greet')).outcome, 'restored');
    for (const each of [one, other, late]) {
      await each.bring();
      assert.deepEqual([each.text('greet'), await each.isApproved('greet')], ['first', true]);
    }
    assert.equal((await one.approvals.discard('greet')).outcome, 'discarded');
    for (const each of [other, late]) {
      await each.bring();
      assert.equal(existsSync(each.at('greet')), false);
    }
  },
);

test('Q14 D9 what somebody put or changed by hand stays on its machine and as it is', { skip }, async (t) => {
  assert.ok(server !== undefined);
  const url = await server.database();
  const [one, other] = [await machine(t, url), await machine(t, url)];
  mkdirSync(other.at('greet'));
  writeFileSync(other.at('greet', 'SKILL.md'), 'by hand');
  await one.write('greet', 'first');
  await other.bring();
  assert.equal(other.text('greet'), 'by hand');
  await other.write('tidy', 'first');
  await one.bring();
  writeFileSync(one.at('tidy', 'SKILL.md'), 'changed');
  await one.bring();
  await other.write('tidy', 'second');
  await one.bring();
  assert.equal(one.text('tidy'), 'changed');
  assert.equal(await one.isApproved('tidy'), false);
  assert.equal(other.text('tidy'), 'second');
});
