import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { skilletHere } from '../../src/core/skillet-here.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';

const root = path.join(import.meta.dirname, '../..');
const noNpm = spawnSync('npm', ['--version']).status === 0 ? false : 'npm is not here';

type Way = Readonly<{ says: string; command: string; args: readonly string[]; cwd: string }>;

/** `node_modules/.bin` has the Node of the clone, as npm has it in its own PATH. */
function envOf({ folder }: CliHome): NodeJS.ProcessEnv {
  const { PATH = '', ...env } = childEnv(folder);
  const bin = path.dirname(process.execPath);
  return { ...env, PATH: [bin, PATH].join(path.delimiter), npm_config_update_notifier: 'false' };
}

/** All of its output; a problem that was found is no failure. */
function run(home: CliHome, { command, args, cwd }: Way, more: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd, env: envOf(home), timeout: 60_000 };
    execFile(command, [...args, ...more], options, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    ).stdin?.end();
  });
}

async function ways(home: CliHome): Promise<readonly Way[]> {
  const bin = path.join(home.folder, 'bin');
  await mkdir(bin);
  await symlink(cliPath, path.join(bin, 'skillet'));
  const installed = { says: 'skillet', command: path.join(bin, 'skillet'), args: [], cwd: home.folder };
  const modules = path.join(home.folder, 'node_modules/.bin');
  await mkdir(modules, { recursive: true });
  await symlink(cliPath, path.join(modules, 'skillet'));
  const npx = { says: 'npx skillet', command: 'npx', args: ['--offline', 'skillet'], cwd: home.folder };
  const script = {
    ...{ says: 'npx skillet', command: 'npm', cwd: root },
    args: ['run', '-s', 'skillet', '--'],
  };
  const clone = { says: 'npx skillet', command: process.execPath, args: ['bin/skillet.js'], cwd: root };
  return [installed, npx, script, clone];
}

/** What is printed and names a command: help, a finding, a wrong key, a refusal, a hint, a page of a bundled skill. */
const shown: readonly (readonly [readonly string[], string])[] = [
  [['--help'], 'doctor --online'],
  [['backup', '--help'], 'backup /backups/monday.tar'],
  [['routine', 'pause', '--help'], 'routines'],
  [['doctor'], 'init'],
  [['config', 'check'], 'pair list'],
  [['inbox', 'retry', 'k'], 'inbox list'],
  [['skill', 'show', 'nothing-like-it'], 'skill list'],
  [['init', '--yes'], 'doctor'],
  [['chat', '--once', '/skillet-help how do I set up Telegram?'], 'init'],
  [['chat', '--once', '/skillet-help which command shows the audit?'], 'audit tail'],
];

async function wrongHome(
  t: TestContext,
): Promise<Readonly<{ home: CliHome; files: Readonly<Record<string, string>> }>> {
  const home = await openCliHome(t);
  const plain = await home.write('plain.toml', `[bot]\ndata_dir = "${home.folder}/data"\n`);
  const wrong = await home.write('wrong.toml', '[access]\nusers = ["telegram:@ada"]\n');
  return { home, files: { plain, wrong } };
}

test('L1 every command that is printed begins as the command line was called', { skip: noNpm }, async (t) => {
  const { home, files } = await wrongHome(t);
  for (const way of await ways(home)) {
    for (const [args, command] of shown) {
      const config = args.includes('--help')
        ? []
        : ['--config', String(args[0] === 'config' ? files['wrong'] : files['plain'])];
      const said = await run(home, way, [...args, ...config]);
      // Lines are broken at the width of a terminal.
      const text = said.replaceAll(/\s+/g, ' ');
      assert.ok(text.includes(`${way.says} ${command}`), `${way.says} ${args.join(' ')}: ${said}`);
      const other = text.match(/(?<!npx |-s )(?<![-/.\w])skillet (?!--)[a-z]+/g) ?? [];
      if (way.says !== 'skillet') assert.deepEqual(other, [], `${way.says} ${args.join(' ')}`);
    }
  }
});

test('L1 a process that is not the command line, or was started otherwise, names it by its plain name', () => {
  const argv = ['node', '/srv/bin/skillet'];
  const npx = { npm_command: 'exec', npm_lifecycle_event: 'npx' };
  const cwd = (): string => '/srv';
  assert.equal(skilletHere({ argv, env: {}, cwd }), 'skillet');
  assert.equal(skilletHere({ argv: ['node', '/a/bin/skillet.js'], env: npx, cwd }), 'npx skillet');
  assert.equal(skilletHere({ argv: ['node', '/a/other.test.ts'], env: npx, cwd }), 'skillet');
  const start = { npm_command: 'run', npm_lifecycle_event: 'start' };
  assert.equal(skilletHere({ argv, env: start, cwd }), 'npx skillet');
  const inClone = ['node', '/srv/bin/skillet.js'];
  assert.equal(skilletHere({ argv: inClone, env: {}, cwd }), 'npx skillet');
  assert.equal(skilletHere({ argv: inClone, env: {}, cwd: () => '/' }), 'skillet');
});

/** Where a plain `skillet` stays: examples and reasons, which are put as called when they are shown, and what is written into files. */
const plainFiles = [
  /^src\/cli\/(commands|main|completion)\b/,
  /^src\/operator\/doctor\/(start-)?reasons\.ts$/,
  /^src\/features\/mcp\/bundle-settings\.ts$/,
  /^src\/config\/id\.ts$/,
  /^src\/operator\/health\/open-metrics\.ts$/,
  /^src\/skills\/(prepare-draft|install\/lock-file)\.ts$/,
  /^src\/cli\/init\/config-text\.ts$/,
];

test('L1 no text for people names a command by a name that may not work here', () => {
  const words = new Set(commands.map(({ name }) => name.split(' ')[0]));
  const found = globSync('src/**/*.{ts,js,json}', { cwd: root }).flatMap((file) =>
    readFileSync(path.join(root, file), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line))
      .filter((line) => Array.from(line.matchAll(/\bskillet ([a-z-]+)/g)).some(([, word]) => words.has(word)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(
    found.filter((line) => !plainFiles.some((file) => file.test(line.split(':')[0] ?? ''))),
    [],
  );
});
