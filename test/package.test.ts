import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { startMessagesServer, type MessagesServer } from './servers/messages/messages-server.ts';
import { callSteps } from './support/call-steps.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { files: string[] };
const noNpm = spawnSync('npm', ['--version']).status === 0 ? false : 'npm is not here';
const noInstall =
  process.env['SKILLET_TEST_INSTALL'] === '1' ? false : 'it asks the registry: set SKILLET_TEST_INSTALL=1';

type Packed = Readonly<{ filename: string; unpackedSize: number; files: readonly { path: string }[] }>;

/** Packed from a copy, so that this checkout stays as it is. */
async function pack(t: TestContext): Promise<Packed & { folder: string; env: NodeJS.ProcessEnv }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-package-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const copy = path.join(folder, 'copy');
  const made = ['dist', 'npm-shrinkwrap.json'];
  const sources = ['src', 'package.json', 'package-lock.json', 'README.md', 'LICENSE'];
  const packed = manifest.files
    .map((file) => file.split('/')[0] ?? '')
    .filter((file) => !made.includes(file));
  for (const name of new Set([...sources, ...packed]))
    await cp(path.join(root, name), path.join(copy, name), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  const { PATH } = process.env;
  const env = { HOME: folder, PATH: [path.dirname(process.execPath), PATH].join(path.delimiter) };
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: copy, env });
  const [result] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [Packed];
  assert.equal(existsSync(path.join(copy, 'npm-shrinkwrap.json')), false, 'what was made is removed');
  return { ...result, folder, env };
}

/** A model that rolls with the bundled skill. */
async function startDiceModel(t: TestContext, home: string): Promise<MessagesServer> {
  const roll = { name: 'skills_run_script', input: { path: 'scripts/roll.sh', args: ['2d6'] } };
  const inRun = callSteps([roll], 'Rolled.');
  const messages = await startMessagesServer({ script: inRun });
  t.after(() => messages.close());
  // The one sandbox that needs nothing of the system, and starts programs of its own from the package.
  const config = `[models.default]\nmodel = "m"\nbase_url = "${messages.url}"\napi_key = "key-0123456789"\n[sandbox]\nmode = "virtual"\n`;
  await mkdir(home, { recursive: true });
  await writeFile(path.join(home, 'config.toml'), config, { mode: 0o600 });
  return messages;
}

function assertRolled({ requests }: MessagesServer): void {
  assert.match(JSON.stringify(requests.at(-2)?.body), /2d6: [1-6] \+ [1-6] = \d/);
}

test(
  'L11 S5 npm pack makes a package of JavaScript that answers below a node_modules, with a script of a bundled skill',
  { skip: noNpm },
  async (t) => {
    const { folder, env, filename, unpackedSize, files } = await pack(t);
    const names = files.map((file) => file.path);
    assert.ok(unpackedSize < 5_000_000, `${unpackedSize} bytes`);
    for (const name of [
      'LICENSE',
      'README.md',
      'config.example.toml',
      'app-manifest.yaml',
      'npm-shrinkwrap.json',
    ])
      assert.ok(names.includes(name), name);
    const sources = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'));
    assert.deepEqual(
      sources.filter((name) => !/^(?:examples\/expenses|providers\/notes)\//.test(name)),
      [],
    );
    assert.deepEqual(
      names.filter((name) => /^(?:test|bench|src|node_modules)\/|\.test\.|(?:^|\/)\./.test(name)),
      [],
    );
    assert.deepEqual([...new Set(names.map((name) => name.replace(/\/.*/, '/')))].sort(), [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'SUPPORT.md', 'app-manifest.yaml', 'bin/'],
      ...['config.example.toml', 'dist/', 'docs/', 'examples/', 'npm-shrinkwrap.json', 'package.json'],
      ...['providers/', 'skills/'],
    ]);
    assert.ok(names.includes('docs/reference/config.schema.json'), 'the first line of a config leads there');

    // What it depends on is as `npm ci` put it into this checkout.
    const home = path.join(folder, 'home');
    const installed = path.join(home, 'node_modules/skillet');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', path.join(folder, filename), '--strip-components=1', '-C', installed]);
    await symlink(path.join(root, 'node_modules'), path.join(installed, 'node_modules'));
    for (const file of globSync('dist/**/*.{js,d.ts}', { cwd: installed })) {
      const text = readFileSync(path.join(installed, file), 'utf8');
      for (const [, target = ''] of text.matchAll(/(?:\bfrom |\bimport\()'(\.[^']+)'/g)) {
        const there = path.join(installed, path.dirname(file), target);
        // A `.ts` in a description stands for the description.
        assert.ok(
          existsSync(there) || existsSync(there.replace(/\.ts$/, '.d.ts')),
          `${file} imports ${target}`,
        );
      }
    }
    const messages = await startDiceModel(t, home);
    const skillet = path.join(installed, 'bin/skillet.js');
    const chat = [skillet, 'chat', '--once', '/dice 2d6'];
    const { stdout } = await run(process.execPath, chat, { cwd: home, env });
    assert.match(stdout, /Rolled\./);
    assertRolled(messages);
    const version = await run(process.execPath, [skillet, '--version'], { cwd: home, env });
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
    const door = "console.log(Object.keys(await import('skillet/plugin')).join())";
    const plugin = await run(process.execPath, ['--input-type=module', '-e', door], { cwd: home, env });
    assert.equal(plugin.stdout, 'definePlugin,defineTool\n');
  },
);

test(
  'L11 npm installs the package into an empty folder, and it answers there',
  { skip: noNpm || noInstall },
  async (t) => {
    const { folder, env, filename } = await pack(t);
    const home = path.join(folder, 'home');
    const messages = await startDiceModel(t, home);
    // As its user has set npm up: which registry, by which way.
    const { NODE_OPTIONS: _options, ...own } = process.env;
    await run('npm', ['install', '--no-audit', '--no-fund', path.join(folder, filename)], {
      cwd: home,
      env: { ...own, PATH: env.PATH },
    });
    const { stdout } = await run('npx', ['skillet', 'chat', '--once', '/dice 2d6'], { cwd: home, env });
    assert.match(stdout, /Rolled\./);
    assertRolled(messages);
  },
);

test('L11 S5 npm would publish it, in public, with its provenance and without a key in the way', () => {
  const whole = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  assert.equal(whole['private'], undefined);
  assert.deepEqual(whole['publishConfig'], {
    access: 'public',
    provenance: true,
    registry: 'https://registry.npmjs.org/',
  });
  for (const key of ['description', 'license', 'author', 'homepage', 'repository', 'bugs', 'keywords'])
    assert.ok(whole[key] !== undefined, key);
  const lock = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  assert.doesNotMatch(lock, /"resolved"/, 'whoever installs asks the registry that they chose');
  assert.equal((JSON.parse(lock) as { version: string }).version, whole['version']);
});

test('L11 no source file looks for what is outside of src by its own place, which is another one in a package', () => {
  for (const file of globSync('src/**/*.{ts,js}', { cwd: root })) {
    if (file === 'src/lib/files/installation.js') continue;
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [, line = ''] of text.matchAll(/^(.*import\.meta\.(?:dirname|url|filename|resolve).*)$/gm)) {
      for (const [, up = ''] of line.matchAll(/['"`]((?:\.\.\/?)+)/g)) {
        const reached = path.join(path.dirname(file), up);
        assert.match(reached, /^src(?:\/|$)/, `${file}: ${line.trim()} (use lib/files/installation.js)`);
      }
    }
  }
});

test('L11 on an older Node the program says what to do', async (t) => {
  const old = ['/usr/bin/node', '/usr/local/bin/node'].find((node) => {
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    return stdout !== null && Number(/^v(\d+)/.exec(stdout)?.[1] ?? 99) < 24;
  });
  if (old === undefined) return t.skip('no older Node is here');
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-old-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await cp(path.join(root, 'bin/skillet.js'), path.join(folder, 'bin/skillet.mjs'));
  // What tests add to NODE_OPTIONS an old Node can't read.
  const plain = { encoding: 'utf8', env: {} } as const;
  const asClone = spawnSync(old, [path.join(root, 'bin/skillet.js'), '--version'], plain);
  assert.equal(asClone.status, 2);
  assert.match(
    asClone.stderr,
    /^Skillet needs Node 24 or newer; this is \d+\.\d+\.\d+\.\nIn a clone, `npm install`/,
  );
  const packed = spawnSync(old, [path.join(folder, 'bin/skillet.mjs'), '--version'], plain);
  assert.equal(packed.status, 2);
  assert.match(packed.stderr, /needs Node 24[^]*`npx -p node@24 skillet COMMAND`, in the folder/);
});
