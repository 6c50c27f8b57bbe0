import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');
const noGit = spawnSync('git', ['--version']).status === 0 ? false : 'git is not here';
const noNpm = spawnSync('npm', ['--version']).status === 0 ? false : 'npm is not here';
const { files: packed } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  files: readonly string[];
};

/** What operators, editors and the bot itself leave in a clone. */
const secretNames = [
  ...['.env', '.env.local', '.env.production', '.env.new', '.env.old', 'bot.env', '.npmrc', '.netrc'],
  ...['config.toml', 'config.toml.old', 'config.toml.bak', 'config.toml~', 'skillet.toml.old'],
  ...[
    'monday.tar',
    'monday.tar.gz',
    'backups/monday.tar',
    'backups/2026/all',
    'skillet-0.1.0.tgz',
    'all.zip',
  ],
  ...['data/skillet.db', 'data/capability.key', 'data/audit/1.jsonl', 'skillet.db', 'skillet.db-wal'],
  ...[
    'skillet.db.restoring-1-wal',
    'store.sqlite3',
    'keys/token',
    'secrets/telegram',
    'server.key',
    'ca.pem',
  ],
  ...['id_rsa', 'id_ed25519.pub', 'workspace/skills/own/SKILL.md', 'bot.log'],
];
const places = [
  ...['', 'bin', 'docs', 'docs/how-to', 'docs/pictures', 'examples', 'examples/deploy', 'examples/expenses'],
  ...['examples/skills/notes', 'examples/skills/notes/scripts', 'providers', 'providers/notes', 'skills'],
  ...[
    'skills/dice',
    'skills/dice/scripts',
    'skills/dice/tests',
    'src',
    'src/core/texts',
    'src/config',
    'test',
  ],
];
const secrets = places.flatMap((place) => secretNames.map((name) => path.join(place, name)));

async function plant(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-secrets-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const secret of secrets) {
    await mkdir(path.join(folder, path.dirname(secret)), { recursive: true });
    await writeFile(path.join(folder, secret), 'TELEGRAM_BOT_TOKEN=1:CANARY\n');
  }
  return folder;
}

test('S2 git adds no secret that lies about in a clone', { skip: noGit }, async (t) => {
  const folder = await plant(t);
  const git = (...args: readonly string[]) =>
    run('git', args, { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } });
  await cp(path.join(root, '.gitignore'), path.join(folder, '.gitignore'));
  await git('init', '--quiet');
  await git('add', '--all');
  assert.equal((await git('ls-files')).stdout, '.gitignore\n');
});

test(
  'S2 nothing of the repository is ignored, and documents, examples and skills are in the package',
  { skip: noGit },
  (t) => {
    const listed = (...args: readonly string[]) =>
      spawnSync('git', ['ls-files', ...args], { cwd: root, encoding: 'utf8' });
    const ignored = listed('--cached', '--ignored', '--exclude-standard');
    if (ignored.status !== 0) return t.skip('this is no clone');
    assert.equal(ignored.stdout, '');
    const folders = [
      'docs',
      'examples/deploy',
      'examples/expenses',
      'examples/skills',
      'providers/notes',
      'skills',
    ];
    for (const file of listed(...folders)
      .stdout.split('\n')
      // Screenshots are large, and pages show them from the repository. The last two folders are for its developers.
      .filter((line) => line !== '' && !/^docs\/(?:pictures\/.*\.png$|decisions\/|spec\/)/.test(line)))
      assert.ok(
        packed.some((pattern) => path.matchesGlob(file, pattern)),
        `${file}: see "files" of package.json`,
      );
  },
);

test('S2 the package holds no secret that lies about in a clone', { skip: noNpm }, async (t) => {
  const folder = await plant(t);
  const copied = ['bin', 'docs', 'examples', 'providers', 'skills', 'src'];
  const files = ['package.json', 'package-lock.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md'];
  for (const name of [...copied, ...files])
    await cp(path.join(root, name), path.join(folder, name), { recursive: true });
  // As the build leaves it, if it copied all there is.
  await cp(path.join(folder, 'src'), path.join(folder, 'dist/src'), { recursive: true });
  const { PATH } = process.env;
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder,
    env: { PATH: [path.dirname(process.execPath), PATH].join(path.delimiter), HOME: folder },
  });
  const [result] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }];
  const names = result.files.map((file) => file.path);
  assert.ok(names.includes('examples/deploy/compose.yaml') && names.includes('dist/src/core/texts/de.json'));
  assert.deepEqual(
    names.filter((name) => readFileSync(path.join(folder, name), 'utf8').includes('1:CANARY')),
    [],
  );
});

test('S2 the builder of the image gets no secret, and all that the package is made of', () => {
  const lines = readFileSync(path.join(root, 'examples/deploy/Dockerfile.dockerignore'), 'utf8').split('\n');
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(
    secrets.filter((file) => isSent(file)),
    [],
  );
  const made = /^dist\/|^npm-shrinkwrap/;
  const parts = packed.filter((file) => !made.test(file)).flatMap((file) => globSync(file, { cwd: root }));
  assert.ok(parts.length > 100);
  const sources = globSync('{src,providers,bin}/**/*.{ts,js,json,css}', { cwd: root });
  for (const file of [...parts, ...sources, 'package-lock.json', 'package.json', 'LICENSE', 'README.md'])
    assert.ok(isSent(file), file);

  /** As Docker reads the list: the last line that matches a path or a folder above it decides. */
  function isSent(file: string): boolean {
    const above = file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
    const last = patterns.findLast((line) =>
      above.some((one) => path.matchesGlob(one, line.replace(/^!/, ''))),
    );
    return last === undefined || last.startsWith('!');
  }
});
