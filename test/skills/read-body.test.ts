import assert from 'node:assert/strict';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLastGood } from '../../src/skills/last-good.ts';
import { readBody } from '../../src/skills/read-body.ts';
import { makeRoot, put, skillText } from './make-root.ts';
import { makeSkill } from '../support/make-skill.ts';

test('F7 the body is read at the time of use, so an edit counts at once', async (t) => {
  const root = makeRoot(t, { 'a/SKILL.md': skillText('name: a\ndescription: d', 'One.') });
  const skill = makeSkill('a', { path: join(root, 'a/SKILL.md'), root });
  assert.deepEqual(await readBody(skill), { ok: true, text: 'One.', truncated: false, kept: false });
  put(root, 'a/SKILL.md', skillText('name: a\ndescription: d', 'Two.'));
  assert.deepEqual(await readBody(skill), { ok: true, text: 'Two.', truncated: false, kept: false });
});

test('F7 a body over 200,000 bytes is cut on a character boundary and says so', async (t) => {
  for (const [size, truncated] of [
    [100_000, false],
    [100_001, true],
    [300_000, true],
  ] as const) {
    const root = makeRoot(t, {
      'a/SKILL.md': skillText('name: a\ndescription: d', `x${'é'.repeat(size - 1)}y`),
    });
    const body = await readBody(makeSkill('a', { path: join(root, 'a/SKILL.md'), root }));
    assert.ok(body.ok);
    assert.equal(body.truncated, truncated, String(size));
    assert.equal(Buffer.byteLength(body.text), truncated ? 199_999 : 200_000);
    assert.ok(!body.text.includes('\uFFFD'));
  }
});

test('F9 a broken file leaves the last good body in use, and without one the error says why', async (t) => {
  const root = makeRoot(t, { 'a/SKILL.md': skillText('name: a\ndescription: d', 'Good.') });
  const path = join(root, 'a/SKILL.md');
  const lastGood = createLastGood(join(root, 'cache'));
  lastGood.keep(path, '1', Buffer.from(skillText('name: a\ndescription: d', 'Good.')));
  writeFileSync(path, '---\nname: a\n');
  assert.deepEqual(await readBody(makeSkill('a', { path, root }), lastGood), {
    ok: true,
    text: 'Good.',
    truncated: false,
    kept: true,
  });
  const without = await readBody(makeSkill('a', { path, root }));
  assert.ok(!without.ok && without.code === 'SKILL_MISCONFIGURED' && /exactly "---"/.test(without.message));
});

test('F9 what is kept survives a restart, and a damaged list counts as empty', (t) => {
  const folder = join(makeRoot(t), 'cache');
  const first = createLastGood(folder);
  first.keep('/x/SKILL.md', 'stamp', Buffer.from('text'));
  first.keep('/y/SKILL.md', 'stamp', Buffer.from('other'));
  first.retain(new Set(['/x/SKILL.md']));
  first.flush();
  const second = createLastGood(folder);
  assert.equal(second.has('/x/SKILL.md', 'stamp'), true);
  assert.equal(Buffer.from(second.read('/x/SKILL.md') ?? []).toString(), 'text');
  assert.equal(second.read('/y/SKILL.md'), undefined);
  writeFileSync(join(folder, 'index.json'), '{"a": ');
  assert.equal(createLastGood(folder).read('/x/SKILL.md'), undefined);
});

test('D5 a body that has become a link out of its root is not read', async (t) => {
  const root = makeRoot(t, {
    'in/a/SKILL.md': skillText('name: a\ndescription: d'),
    'secret.md': skillText('name: s\ndescription: d', 'Secret.'),
  });
  const path = join(root, 'in/a/SKILL.md');
  rmSync(path);
  symlinkSync(join(root, 'secret.md'), path);
  const body = await readBody(makeSkill('a', { path, root: join(root, 'in') }));
  assert.ok(!body.ok && /leads out of its root/.test(body.message));
});
