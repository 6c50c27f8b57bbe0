import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { buildRoot, type BuiltRoot } from '../../src/sandbox/packages/build-root.ts';
import { followRootFileSystem } from '../../src/sandbox/packages/available-packages.ts';
import { rootRecipe, type RootRecipe, type RootTool } from '../../src/sandbox/packages/root-recipe.ts';
import { standInRootTool } from '../support/stand-in-root-tool.ts';
import { lockOwner } from '../../src/store/sqlite/lock-owner.ts';

const sources = { suite: 'bookworm', lines: ['deb http://deb.example bookworm main'] };

test('R6 the declared packages come into a tree of their own, and it is built again only when they change', async (t) => {
  const { build, trees, follow } = open(t);
  const lines: string[] = [];
  const first = await build(recipe({ parcels: ['jq'], pages: ['poppler-utils', 'jq'] }), { lines });
  assert.equal(first.status, 'built');
  assert.deepEqual(first.manifest.asked, [
    { name: 'jq', skills: ['pages', 'parcels'] },
    { name: 'poppler-utils', skills: ['pages'] },
  ]);
  assert.ok(['jq', 'poppler-utils', 'python3'].every((name) => follow()?.installed.has(name)));
  assert.equal(readFileSync(path.join(first.path, 'etc/sources'), 'utf8'), `${sources.lines[0]}\n`);
  assert.ok(lines.includes('Setting up jq (1) ...'), 'progress is told line by line (L9)');

  const again = await build(recipe({ other: ['poppler-utils', 'jq'] }));
  assert.deepEqual([again.status, again.path], ['kept', first.path]);
  const other = await build(recipe({ parcels: ['jq'] }));
  assert.equal(other.status, 'built');
  assert.deepEqual(trees(), [path.basename(other.path)], 'the old one is removed');
  const fresh = await build(recipe({ parcels: ['jq'] }), { fresh: true });
  assert.equal(fresh.status, 'built');
  assert.deepEqual(trees(), [path.basename(fresh.path)]);
});

test('R6 a tree holds nothing setuid and no devices, and has the folders that a sandbox mounts on', async (t) => {
  const { build } = open(t);
  const { path: tree } = await build(recipe({}));
  assert.equal(statSync(path.join(tree, 'usr/bin/tool')).mode & 0o7777, 0o755);
  assert.deepEqual(readdirSync(path.join(tree, 'dev')), []);
  assert.match(readFileSync(path.join(tree, 'etc/hosts'), 'utf8'), /^127\.0\.0\.1 localhost$/m);
  for (const name of ['skill', 'scratch', 'chat', 'proc', 'tmp'])
    assert.ok(statSync(path.join(tree, name)).isDirectory());
});

test('R6 a build that fails leaves the tree in use and nothing else, and says what to do', async (t) => {
  const { build, trees, follow } = open(t);
  const { path: before } = await build(recipe({ parcels: ['jq'] }));
  const unknown = standInRootTool('echo "E: Unable to locate package jqq" >&2; exit 100');
  await assert.rejects(build(recipe({ parcels: ['jqq'] }), { tool: unknown }), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(
      error.message,
      /no package jqq in bookworm, which parcels asks for: .*\[skills\.parcels\] enabled = false/,
    );
    return true;
  });
  const away = standInRootTool('echo "E: Temporary failure resolving deb.example" >&2; exit 100');
  await assert.rejects(
    build(recipe({ parcels: ['xq'] }), { tool: away }),
    /could not be reached[^]*deb\.example/,
  );
  const forgetful: RootTool = {
    name: 'forgetful',
    command: (made, work) => standInRootTool().command({ ...made, packages: ['bash'] }, work),
  };
  await assert.rejects(build(recipe({ parcels: ['xq'] }), { tool: forgetful }), /without .*xq/);
  assert.equal(follow()?.path, before);
  assert.deepEqual(trees(), [path.basename(before)]);
});

test('R6 a build that is stopped leaves the tree in use, and its tool does not go on', async (t) => {
  const { build, trees, folder } = open(t);
  const { path: before } = await build(recipe({ parcels: ['jq'] }));
  const stopping = new AbortController();
  const pid = path.join(folder, 'pid');
  const slow = standInRootTool(`echo $$ > ${pid}; echo "I: waiting" >&2; exec sleep 600`);
  await assert.rejects(
    build(recipe({ parcels: ['xq'] }), {
      tool: slow,
      signal: stopping.signal,
      onLine: (line) => void (line === 'I: waiting' && stopping.abort(new OperatorError('stopped'))),
    }),
    /stopped/,
  );
  assert.deepEqual(trees(), [path.basename(before)]);
  assert.throws(() => process.kill(Number(readFileSync(pid, 'utf8')), 0), { code: 'ESRCH' });
});

test('R6 what a build that died has left is removed by the next, but no tree that a command still runs in', async (t) => {
  const { build, trees, folder, follow } = open(t);
  await build(recipe({ parcels: ['jq'] }));
  for (const left of ['.building/made/usr', '0123456789abcdef/usr']) {
    mkdirSync(path.join(folder, left), { recursive: true });
  }
  const user = await mount(t, path.join(folder, '0123456789abcdef'));
  if (user === undefined) t.diagnostic('no mount namespaces here: only what nothing uses was looked at');
  await build(recipe({ parcels: ['xq'] }));
  const kept = path.basename(follow()?.path ?? '');
  assert.deepEqual(trees(), user === undefined ? [kept] : ['0123456789abcdef', kept].toSorted());
  await user?.end();
  await build(recipe({ parcels: ['xq'] }));
  assert.deepEqual(trees(), [kept]);
});

test('R6 two builds at a time do not meet, and the second one says so', async (t) => {
  const { build } = open(t);
  const second = Promise.withResolvers<unknown>();
  await build(recipe({ parcels: ['jq'] }), {
    onLine: () => second.resolve(build(recipe({ parcels: ['jq'] })).catch((error: unknown) => error)),
  });
  const refused = await second.promise;
  assert.ok(refused instanceof OperatorError);
  assert.match(refused.message, new RegExp(`in use by process ${process.pid}`));
});

test('R6 no name of a package becomes an option or a wish to remove', () => {
  for (const name of [
    '--foo',
    '-o',
    'jq-',
    'a b',
    'a,b',
    'jq=1',
    'jq/sid',
    '~nfoo',
    './x.deb',
    'Jq',
    'a;b',
    '',
  ]) {
    assert.throws(() => recipe({ bad: [name] }), OperatorError, name);
  }
  assert.deepEqual(recipe({ good: ['g++', 'libstdc++6', 'python3.11'] }).asked.length, 3);
});

test('R6 a manifest that is damaged counts as none and is replaced, and a build elsewhere is noticed at the next look', async (t) => {
  const { build, follow, folder } = open(t);
  assert.equal(follow(), undefined);
  await build(recipe({ parcels: ['jq'] }));
  assert.ok(follow()?.installed.has('jq'));
  writeFileSync(path.join(folder, 'manifest.json'), '{"version": 1, "tree": "../../etc"}');
  assert.equal(follow(), undefined);
  assert.equal((await build(recipe({ parcels: ['jq'] }))).status, 'built');
  assert.ok(follow()?.installed.has('jq'));
});

function recipe(skills: Readonly<Record<string, readonly string[]>>): RootRecipe {
  return rootRecipe(
    Object.entries(skills).map(([name, packages]) => ({ name, packages })),
    sources,
  );
}

function open(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-root-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let now = 1_000;
  return {
    folder,
    follow: followRootFileSystem(folder),
    trees: () =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .toSorted(),
    build: (
      made: RootRecipe,
      more: Readonly<{
        tool?: RootTool;
        fresh?: boolean;
        lines?: string[];
        onLine?: (line: string) => void;
        signal?: AbortSignal;
      }> = {},
    ): Promise<BuiltRoot> =>
      buildRoot(
        {
          folder,
          recipe: made,
          fresh: more.fresh ?? false,
          now: (now += 1_000),
          signal: more.signal ?? new AbortController().signal,
        },
        {
          tool: more.tool ?? standInRootTool(),
          lock: lockOwner,
          // The disk of a busy machine takes seconds to say yes.
          flush: async () => undefined,
          onLine: more.onLine ?? ((line) => void more.lines?.push(line)),
        },
      ),
  };
}

/** A process of its own mount namespace that has `folder` mounted; nothing where that is not allowed. */
async function mount(t: TestContext, folder: string): Promise<{ end(): Promise<void> } | undefined> {
  const child = spawn(
    'unshare',
    ['--mount', '--map-root-user', 'sh', '-euc', 'mount --bind "$1/usr" /mnt; echo ready; cat', 'sh', folder],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async (): Promise<void> => {
    child.stdin.end();
    await closed;
  };
  t.after(end);
  const ready = new Promise<boolean>((resolve) => child.stdout.once('data', () => resolve(true)));
  return (await Promise.race([ready, closed.then(() => false)])) ? { end } : undefined;
}
