import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Log } from '../../src/lib/log.ts';
import type { Registry } from '../../src/skills/registry.ts';
import { createSkillLibrary, type SkillLibrary } from '../../src/skills/skill-library.ts';
import { quietLog } from '../support/quiet-log.ts';
import { makeRoot, put, silent, skillText } from './make-root.ts';

async function open(
  t: TestContext,
  root: string,
  cacheDir = join(makeRoot(t), 'cache'),
  log: Log = silent,
): Promise<SkillLibrary> {
  const library = await createSkillLibrary({
    roots: [{ origin: 'workspace', path: root }],
    cacheDir,
    log,
  });
  t.after(async () => {
    await library.close();
    // It may have been written to after the folder was removed.
    rmSync(dirname(cacheDir), { recursive: true, force: true });
  });
  return library;
}

/** Starts watching, and resolves once nothing but a watched change can bring a new snapshot. */
async function watched(
  library: SkillLibrary,
): Promise<(holds: (registry: Registry) => boolean) => Promise<Registry>> {
  const waiting = new Set<(registry: Registry) => void>();
  library.watch((registry) => waiting.forEach((hear) => hear(registry)));
  for (let scans = 0; scans < 3; scans += 1) await library.rescan();
  return (holds) =>
    new Promise((resolve) => {
      waiting.add((registry) => {
        if (holds(registry)) resolve(registry);
      });
    });
}

const good = (more = '', body?: string): string => skillText(`name: tool\ndescription: d\n${more}`, body);

test('D7 a rescan finds a skill that was written a moment ago, and old snapshots stay as they were', async (t) => {
  const root = makeRoot(t, { 'a/SKILL.md': skillText('name: a\ndescription: d') });
  const library = await open(t, root);
  const before = library.current();
  assert.equal(await library.rescan(), before, 'nothing changed, nothing is swapped');
  put(root, 'tool/SKILL.md', good());
  const after = await library.rescan();
  assert.deepEqual([before.names, after.names], [['a'], ['a', 'tool']]);
  assert.equal(library.current(), after);
});

test('F5 the log tells every problem of a file, and each once however often files change', async (t) => {
  const root = makeRoot(t, {
    'tool/SKILL.md': good('sensitive: ture'),
    'lax/SKILL.md': skillText('name: lax'),
  });
  const log = quietLog();
  const library = await open(t, root, undefined, log);
  put(root, 'other/SKILL.md', skillText('name: other\ndescription: d'));
  await library.rescan();
  put(root, 'other/SKILL.md', skillText('name: other'));
  await library.rescan();
  assert.deepEqual(
    log.lines.flatMap(({ level, fields: { code } }) => (code === undefined ? [] : [[level, code]])),
    [
      ['info', 'DESCRIPTION_MISSING'],
      ['warn', 'FIELD_INVALID'],
      ['info', 'DESCRIPTION_MISSING'],
    ],
  );
});

test('D7 rescans asked for at once each see what was written before they were asked for', async (t) => {
  const root = makeRoot(t);
  const library = await open(t, root);
  const scans = ['a', 'b', 'c'].map((name) => {
    put(root, `${name}/SKILL.md`, skillText(`name: ${name}\ndescription: d`));
    return library.rescan().then((registry) => registry.has(name));
  });
  assert.deepEqual(await Promise.all(scans), [true, true, true]);
});

test('D7 a broken edit keeps the last good version of that skill and reports it', async (t) => {
  const root = makeRoot(t, { 'tool/SKILL.md': good('sensitive: true', 'Good.') });
  const library = await open(t, root);
  put(root, 'tool/SKILL.md', '---\nname: tool\ndescription: "broken\n---\nBad.');
  await library.close();
  const registry = await library.rescan();
  assert.equal(registry.get('tool')?.access.sensitive, true);
  assert.deepEqual(
    registry.get('tool')?.diagnostics.map(({ code }) => code),
    ['YAML_ERROR', 'LAST_GOOD_KEPT'],
  );
  put(root, 'tool/SKILL.md', '---\nname: tool');
  assert.equal((await library.rescan()).get('tool')?.access.sensitive, true);
  assert.deepEqual(await registry.body('tool', ''), {
    ok: true,
    text: 'Good.',
    truncated: false,
    kept: true,
    substituted: false,
  });
  put(root, 'tool/SKILL.md', good('', 'Mended.'));
  const mended = (await library.rescan()).get('tool');
  assert.deepEqual([mended?.access.sensitive, mended?.diagnostics], [false, []]);
});

test('D7 a broken access field switches the skill off until it is fixed', async (t) => {
  const root = makeRoot(t, { 'tool/SKILL.md': good() });
  const library = await open(t, root);
  for (const broken of ['sensitive: ture', 'access:\n  chat_types: [privat]', 'access:\n  chat_types: [']) {
    put(root, 'tool/SKILL.md', good(broken));
    assert.equal((await library.rescan()).has('tool'), false, broken);
    put(root, 'tool/SKILL.md', good());
    assert.equal((await library.rescan()).has('tool'), true);
  }
});

test('F9 the last good version outlives a restart, and without one the skill is off until mended', async (t) => {
  const root = makeRoot(t, { 'tool/SKILL.md': good('version: 1'), 'other/SKILL.md': '---\nname: "other\n' });
  const cacheDir = join(makeRoot(t), 'cache');
  const first = await open(t, root, cacheDir);
  await first.close();
  writeFileSync(join(root, 'tool/SKILL.md'), 'no front matter any more');
  const second = await open(t, root, cacheDir);
  assert.equal(second.current().get('tool')?.version, '1');
  assert.equal(second.current().has('other'), false);
});

test('F9 a change of the body alone is kept as the last good version too', async (t) => {
  const root = makeRoot(t, { 'tool/SKILL.md': good('', 'One.') });
  const library = await open(t, root);
  put(root, 'tool/SKILL.md', good('', 'Two.'));
  const registry = await library.rescan();
  await library.close();
  put(root, 'tool/SKILL.md', '---\n');
  const body = await registry.body('tool', '');
  assert.deepEqual([body.ok && body.text, body.ok && body.kept], ['Two.', true]);
});

test('F9 the last good version of a large file is kept whole', async (t) => {
  const body = `${'Long. '.repeat(20_000)}End.`;
  const root = makeRoot(t, { 'tool/SKILL.md': good('', body) });
  const cacheDir = join(makeRoot(t), 'cache');
  await (await open(t, root, cacheDir)).close();
  writeFileSync(join(root, 'tool/SKILL.md'), '---\n');
  const text = await (await open(t, root, cacheDir)).current().body('tool', '');
  assert.ok(text.ok && text.text === body);
});

test(
  'D7 edits, new folders and removals are noticed and announced after the swap',
  { timeout: 20_000 },
  async (t) => {
    const root = makeRoot(t, { 'tool/SKILL.md': good('version: 1') });
    const library = await open(t, root);
    const until = await watched(library);
    const edited = until((registry) => registry.get('tool')?.version === '2');
    put(root, 'tool/SKILL.md', good('version: 2'));
    const snapshot = await edited;
    assert.equal(library.current(), snapshot);
    const added = until((registry) => registry.has('deep'));
    put(root, 'category/deep/SKILL.md', skillText('name: deep\ndescription: d'));
    await added;
    const removed = until((registry) => !registry.has('tool'));
    rmSync(join(root, 'tool'), { recursive: true });
    await removed;
    assert.deepEqual(library.current().names, ['deep']);
  },
);

test('D7 a root that appears later is noticed', { timeout: 20_000 }, async (t) => {
  const parent = makeRoot(t);
  const library = await open(t, join(parent, 'workspace/skills'));
  const until = await watched(library);
  const appeared = until((registry) => registry.has('tool'));
  put(parent, 'workspace/skills/tool/SKILL.md', good());
  await appeared;
  for (const version of ['2', '3']) {
    const edited = until((registry) => registry.get('tool')?.version === version);
    rmSync(join(parent, 'workspace/skills/tool'), { recursive: true });
    put(parent, 'workspace/skills/tool/SKILL.md', good(`version: ${version}`));
    await edited;
  }
  const added = until((registry) => registry.has('next'));
  put(parent, 'workspace/skills/next/SKILL.md', skillText('name: next\ndescription: d'));
  await added;
});

test('B6 1,000 changed skills are read again without holding up the bot', { timeout: 60_000 }, async (t) => {
  const root = makeRoot(t);
  const fill = (version: number): void => {
    for (let index = 0; index < 1000; index += 1)
      put(root, `s${index}/SKILL.md`, skillText(`name: s${index}\ndescription: d\nversion: ${version}`));
  };
  fill(1);
  const library = await open(t, root);
  fill(2);
  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const registry = await library.rescan();
  counting = false;
  assert.equal(registry.get('s999')?.version, '2');
  // A wall clock would measure the machine: that the loop turned in between is what keeps the bot alive.
  assert.ok(turns >= 3, `${turns} turns of the loop`);
});
