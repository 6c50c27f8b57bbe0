import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { commands, commandGroups } from '../../src/cli/commands.ts';
import { childEnv } from '../support/child-env.ts';
import { openCliHome } from '../support/run-cli.ts';

test('L1 every command says what it, its arguments and its options are about', async (t) => {
  const { run } = await openCliHome(t);
  const names = commands.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const parents = names.flatMap((name) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : []));
  assert.deepEqual([...new Set(parents)].sort(), Object.keys(commandGroups).sort());
  for (const { name, about, args, options, examples, json } of commands) {
    const { code, stdout } = await run([...name.split(' '), '--help']);
    assert.equal(code, 0, name);
    const help = stdout.replace(/\s+/g, ' ');
    assert.ok(help.includes(about), name);
    assert.equal(help.includes('--json'), json || about.includes('--json'), name);
    for (const [word, one] of Object.entries({ ...args, ...options })) {
      assert.ok(one.about !== '' && help.includes(one.about), `${name} ${word}`);
      assert.ok(!(word in args && word in options), `${name} ${word}`);
    }
    for (const example of examples) assert.ok(`${example} `.startsWith(`skillet ${name} `), example);
  }
});

/** Files that a command loads, however it ends: of `src` by their paths, packages by their names. */
async function loadedBy(...args: readonly string[]) {
  const watch = `
    import { registerHooks } from 'node:module';
    const used = [];
    registerHooks({ load: (url, context, next) => (used.push(url), next(url, context)) });
    process.on('exit', () => process.stderr.write(used.join('\\n')));`;
  const root = path.join(import.meta.dirname, '../..');
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(watch)}`, 'bin/skillet.js', ...args],
    { cwd: root, env: childEnv(root) },
  ).catch((ended: Readonly<{ stdout: string; stderr: string }>) => ended);
  const files = stderr.split('\n').flatMap((url) => /\/src\/(.*)$/.exec(url)?.[1] ?? []);
  const packages = stderr.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g).map(([, name]) => name);
  return { stdout, files, packages: [...new Set(packages)] };
}

test('B3 the help loads no more than what declares the commands', async () => {
  const { stdout, files, packages } = await loadedBy('--help');
  assert.match(stdout, /skillet skill add owner\/name/);
  assert.ok(files.includes('cli/commands/people.ts'));
  const others = files.filter(
    (file) => !/^cli\/(main|commands?|ask-bot|console|compile-cache)\.|^cli\/commands\//.test(file),
  );
  assert.deepEqual(others.sort(), [
    'core/conversation.ts',
    'core/errors.ts',
    'core/skillet-here.ts',
    'core/version.ts',
    'lib/files/changeable-by-others.js',
    'lib/files/installation.js',
    'lib/text/text.ts',
  ]);
  assert.deepEqual(packages, ['commander']);
});

/** What reads the front matter of skills. */
const ofSkills =
  'esprima extend-shallow gray-matter is-extendable js-yaml kind-of section-matter strip-bom-string'.split(
    ' ',
  );

test('L2 B3 the doctor loads no platform, no model and no question to be quick', async () => {
  const { packages } = await loadedBy('doctor');
  assert.deepEqual(packages.sort(), ['commander', 'smol-toml', 'zod', ...ofSkills].sort());
});
