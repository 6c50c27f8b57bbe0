import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openPlugins } from '../../src/features/plugins/plugins.ts';
import { readConfigFile } from '../../src/config/load-config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { OpenCall } from '../../src/features/plugins/define-tool.ts';
import { blocksOf } from '../support/documents.ts';
import { openDoor } from '../support/call-one-tool.ts';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { childEnv } from '../support/child-env.ts';
import { quietLog } from '../support/quiet-log.ts';
import { cliPath } from '../support/cli-path.ts';
import { startWholeBot } from '../support/whole-bot.ts';
import { pluginContext } from '../support/plugin-context.ts';

const root = path.join(import.meta.dirname, '../..');
const noNpm = spawnSync('npm', ['--version']).status === 0 ? false : 'npm is not here';

/** What `skillet config check` would say. */
async function problemsOf(file: string): Promise<readonly unknown[]> {
  const parsed = await readConfigFile({ file, env: {} });
  if (!parsed.ok) return parsed.problems;
  const plugins = await openPlugins(parsed.config, {
    builtInTools: allTools(),
    clock: systemClock,
    log: quietLog(),
  });
  plugins.close();
  return plugins.diagnostics;
}

/** A folder where `skillet` and `node` are this bot's, and `sh` runs a command there. */
async function openFolder(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-docs-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const bin = path.join(folder, '.bin');
  await mkdir(bin);
  await writeFile(path.join(bin, 'skillet'), `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`);
  await chmod(path.join(bin, 'skillet'), 0o755);
  const env = {
    ...childEnv(folder),
    PATH: [bin, path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
  return {
    folder,
    sh(command: string, cwd = folder): string {
      const { status, stdout, stderr } = spawnSync('sh', ['-euc', command], { cwd, env, encoding: 'utf8' });
      assert.equal(status, 0, `${command}\n${stdout}\n${stderr}`);
      return stdout;
    },
    async put(name: string, text: string): Promise<void> {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    },
  };
}

test(
  'X1 X2 every file and command of docs/plugin-authors.md works as it is written there',
  { skip: noNpm },
  async (t) => {
    const blocks = blocksOf(readFileSync(path.join(root, 'docs/plugin-authors.md'), 'utf8'));
    const { folder, put, sh } = await openFolder(t);
    for (const { file, text } of blocks) if (file !== undefined) await put(file, text);
    const counts = { toml: 0, sh: 0 };
    for (const { language, file, text } of blocks) {
      if (file !== undefined) continue;
      if (language === 'toml') {
        await put('config.toml', text);
        assert.deepEqual(await problemsOf(path.join(folder, 'config.toml')), [], text);
        counts.toml++;
      } else if (language === 'sh') {
        sh(text);
        counts.sh++;
      } else {
        assert.equal(language, 'json', 'only tsconfig.json is neither a file here nor run');
        assert.ok(JSON.parse(text));
      }
    }
    assert.deepEqual(counts, { toml: 4, sh: 3 });
  },
);

test('X1 X4 X5 the tools of docs/plugin-authors.md do what is said there', async (t) => {
  const blocks = blocksOf(readFileSync(path.join(root, 'docs/plugin-authors.md'), 'utf8'));
  const { folder, put } = await openFolder(t);
  for (const { file, text } of blocks) if (file !== undefined) await put(file, text);
  const listed = ['days', 'digest'].map(
    (name) => `[[plugins]]\npath = "${path.join(folder, 'plugins', name)}"\n`,
  );
  const calls = [
    { name: 'days_until', input: { date: '2001-01-01' } },
    {
      name: 'days_until',
      input: { date: new Date(Date.now() + 3.5 * 86_400_000).toISOString().slice(0, 10) },
    },
    { name: 'write_file', input: { path: '/chat/report.md', content: 'many words in here' } },
    { name: 'digest_file', input: { path: '/chat/report.md' } },
  ];
  const bot = await startWholeBot(t, {
    toml: `[access]\ndm = "open"\n[skills]\nbundled = false\n[agent]\ntools = ["use_skill", "write_file"]\n${listed.join('')}`,
    script(request) {
      if (JSON.stringify(request.system).includes('Shorten to at most 200 words')) return 'few words';
      assert.ok(!isRun(request));
      const done = resultsIn(request).length;
      const call = calls[done];
      if (call === undefined) return 'All done.';
      return { content: [{ type: 'tool_use', id: `toolu_${done}`, ...call }] };
    },
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('do it all');
  assert.equal((await ann.dm.nextFile('short.md')).file.bytes.toString(), 'few words');
  await ann.dm.nextMessage('All done.');
  const results = resultsIn(bot.messages.requests.at(-1)!.body).map((result) => result.replaceAll('\\n', ''));
  assert.match(results[0]!, /TOOL_FAILED: days_until failed: 2001-01-01 is past: ask which date is meant/);
  assert.match(results[1]!, /"days\\": [34]/);
  assert.match(results[3]!, /"words\\": 4, *\\"shortened_to\\": 2/);
});

/** The code of an `@example` in the comments of a source file. */
function exampleIn(file: string): string {
  const source = readFileSync(path.join(root, 'src', file), 'utf8');
  return (/@example\n([^]*?)\n \*\//.exec(source)?.[1] ?? '').replace(/^ \* ?/gm, '');
}

test('X1 X2 the examples in the comments of what authors import can be loaded and called', async (t) => {
  const { folder, put } = await openFolder(t);
  await put('greet/plugin.ts', exampleIn('features/plugins/define-plugin.ts'));
  await put('dice/roll.ts', exampleIn('features/plugins/define-tool.ts'));
  const whole = "import { definePlugin } from 'skillet/plugin';\nimport { roll } from './roll.ts';\n";
  await put(
    'dice/plugin.ts',
    `${whole}export default definePlugin({ name: 'dice', tools: () => [roll] });\n`,
  );
  await put(
    'config.toml',
    '[[plugins]]\npath = "greet"\nconfig = { greeting = "Good day" }\n[[plugins]]\npath = "dice"\n',
  );
  const parsed = await readConfigFile({ file: path.join(folder, 'config.toml'), env: {} });
  assert.ok(parsed.ok);
  const plugins = await openPlugins(parsed.config, {
    builtInTools: allTools(),
    clock: systemClock,
    log: quietLog(),
  });
  plugins.close();
  assert.deepEqual(plugins.diagnostics, []);
  const context = pluginContext();
  const over = new AbortController().signal;
  const open = (): OpenCall => async () => ({ context, over, close: async () => undefined });
  const tools = plugins
    .source(() => parsed.config, open)()
    .map(({ tool }) => tool);
  const door = openDoor(tools);
  const call = async (name: string, input: object): Promise<string> =>
    (await door({ id: 'toolu_1', name, input }, new AbortController().signal)).content;
  assert.equal(await call('greet', { name: 'Ann' }), 'Good day, Ann!');
  const { sum } = JSON.parse(await call('roll_dice', { dice: 3 })) as { sum: number };
  assert.ok(sum >= 3 && sum <= 18);
});

test(
  'X1 the example as npm packs it, unpacked as a package into a folder, is loaded there by its name',
  { skip: noNpm },
  async (t) => {
    const { folder, sh, put } = await openFolder(t);
    await cp(path.join(root, 'examples/expenses'), path.join(folder, 'source'), {
      recursive: true,
      filter: (file) => !file.endsWith('plugin.js'),
    });
    sh('npm pack ./source --silent');
    await put(
      'home/config.toml',
      '[[plugins]]\npackage = "skillet-plugin-expenses"\n[bot]\ndata_dir = "data"\n',
    );
    const home = path.join(folder, 'home');
    const installed = path.join(home, 'node_modules/skillet-plugin-expenses');
    await mkdir(installed, { recursive: true });
    sh(`tar -xzf skillet-plugin-expenses-0.1.0.tgz --strip-components=1 -C "${installed}"`);
    assert.match(
      sh('ls node_modules/skillet-plugin-expenses', home),
      /^package\.json\nplugin\.js\nskills\n$/,
    );
    assert.deepEqual(await problemsOf(path.join(home, 'config.toml')), []);
  },
);
