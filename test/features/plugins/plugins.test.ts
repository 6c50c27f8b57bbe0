import assert from 'node:assert/strict';
import { allTools } from '../../../src/features/list.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openPlugins } from '../../../src/features/plugins/plugins.ts';
import { readConfigFile } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { openCliHome } from '../../support/run-cli.ts';
import { makePlugin, onePlugin } from '../../support/make-plugin.ts';
import { quietLog } from '../../support/quiet-log.ts';

/** Opens the plugins of a config with these lines. */
async function open(t: TestContext, toml: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-config-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'config.toml');
  await writeFile(file, toml);
  const parsed = await readConfigFile({ file, env: {} });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const log = quietLog();
  const plugins = await openPlugins(parsed.config, { builtInTools: allTools(), clock: systemClock, log });
  t.after(() => plugins.close());
  return { plugins, log, config: parsed.config };
}

const listed = (folder: string): string => `[[plugins]]\npath = "${folder}"\n`;

test('X6 a tool that is built in, or another plugin’s, is refused with both names, and so is a second plugin of one name', async (t) => {
  const first = await makePlugin(t, onePlugin("name: 'mine'", { name: 'first' }));
  const same = await makePlugin(t, onePlugin("name: 'mine'", { name: 'second' }));
  const builtIn = await makePlugin(t, onePlugin("name: 'web_search'", { name: 'third' }));
  const twice = await makePlugin(t, onePlugin("name: 'other'", { name: 'first' }));
  const { plugins, log } = await open(t, [first, same, builtIn, twice].map(listed).join(''));
  assert.deepEqual(
    plugins.diagnostics.map(({ level, code, message, path: file }) => [level, code, message, file]),
    [
      [
        'error',
        'PLUGIN_TOOL_TAKEN',
        'the plugin second is not loaded: the plugin first has a tool mine already: give it another name, or list one of them only',
        `${same}/plugin.ts`,
      ],
      [
        'error',
        'PLUGIN_TOOL_TAKEN',
        'the plugin third is not loaded: this bot has a tool web_search already: give it another name, or list one of them only',
        `${builtIn}/plugin.ts`,
      ],
      [
        'error',
        'PLUGIN_NAME_TAKEN',
        `the plugin first is not loaded: ${first}/plugin.ts is a plugin first, too: keep one of them`,
        `${twice}/plugin.ts`,
      ],
    ],
  );
  assert.deepEqual(plugins.loaded, [{ name: 'first', tools: ['mine'] }]);
  assert.equal(log.lines.filter(({ level }) => level === 'error').length, 3);
});

test('X1 X6 two plugins that bring capabilities of one namespace, and a provider that is none', async (t) => {
  const bringing = (name: string, provider: string): Promise<string> =>
    makePlugin(t, onePlugin(`name: '${name}'`, { name, more: `capabilities: [${provider}],` }));
  const first = await bringing('first', "{ namespace: 'notes', command: ['a', 'b'], timeoutSeconds: 5 }");
  const second = await bringing('second', "{ namespace: 'notes', command: ['c'] }");
  const wrong = await bringing('third', "{ namespace: 'No Tes', command: [] }");
  const { plugins, config } = await open(t, [first, second, wrong].map(listed).join(''));
  const told = plugins.diagnostics.map(({ code, message }) => `${code} ${message}`);
  assert.equal(told.length, 2);
  assert.match(
    told[0]!,
    /^PLUGIN_CAPABILITY_TAKEN the plugin second .*the plugin first brings capabilities notes/,
  );
  assert.match(
    told[1]!,
    /^PLUGIN_BROKEN the plugin .*the plugin third can't be used: capabilities\.0\.namespace: write small letters/,
  );
  assert.deepEqual(plugins.providers(config), [
    { namespace: 'notes', command: ['a', 'b'], timeoutSeconds: 5 },
  ]);
  assert.deepEqual(plugins.providers({ ...config, plugins: [] }), []);
});

test('X1 what is not enabled is not even imported, and where nothing is listed there is nothing', async (t) => {
  const folder = await makePlugin(t, "globalThis.wasImported = true;\nthrow new Error('no');");
  const { plugins } = await open(t, `${listed(folder)}enabled = false\n`);
  assert.deepEqual([plugins.loaded, plugins.diagnostics, plugins.skillFolders], [[], [], []]);
  assert.equal('wasImported' in globalThis, false);
});

test('X1 tools come with who brings them and whom they are for, as config says it now', async (t) => {
  const folder = await makePlugin(t, onePlugin("name: 'mine'"));
  const { plugins, config } = await open(t, listed(folder));
  let now = config.plugins;
  const source = plugins.source(
    () => ({ ...config, plugins: now }),
    () => () => Promise.reject(new Error('nobody calls it')),
  );
  const [given] = source();
  assert.deepEqual(
    { ...given, tool: given?.tool.name },
    {
      tool: 'mine',
      from: 'plugin one',
      main: true,
      access: { chatTypes: ['private', 'group', 'channel'], users: 'everybody' },
    },
  );
  assert.equal(source()[0]?.tool, given?.tool, 'the same tool each time');
  now = [{ ...config.plugins[0]!, main: false, users: [], chatTypes: ['private'] }];
  assert.deepEqual(
    source().map(({ main, access }) => [main, access]),
    [[false, { chatTypes: ['private'], users: [] }]],
  );
  now = [{ ...config.plugins[0]!, enabled: false }];
  assert.deepEqual(source(), []);
  now = [];
  assert.deepEqual(source(), []);
});

test('X6 config check says what start would say of plugins, skill list has their skills as integration', async (t) => {
  const cli = await openCliHome(t);
  const broken = await makePlugin(t, 'export default 1;');
  const example = path.join(import.meta.dirname, '../../../examples/expenses');
  const check = async (toml: string, ...args: readonly string[]) => {
    await cli.write('config.toml', toml);
    return cli.run([...args, '--config', 'config.toml']);
  };
  const wrong = `${listed(example)}config = { largest = "x" }\n${listed(broken)}`;
  const told = await check(wrong, 'config', 'check', '--json');
  assert.equal(told.code, 1);
  const { ok, diagnostics } = JSON.parse(told.stdout) as { ok: boolean; diagnostics: { message: string }[] };
  assert.equal(ok, false);
  assert.match(
    diagnostics[0]!.message,
    /^the plugin expenses is not loaded: .*config\.toml:3:12: plugins\[0\]\.config\.largest is text of 1 characters: write a number\.$/,
  );
  assert.match(diagnostics[1]!.message, /is no plugin: write export default definePlugin/);
  const skills = await check(listed(example), 'skill', 'list', '--json');
  const rows = (JSON.parse(skills.stdout) as { skills: { name: string; origin: string }[] }).skills;
  assert.equal(rows.find(({ name }) => name === 'settle-up')?.origin, 'integration');
});

test('X3 X6 a check of a setting that throws refuses the value, and keeps no bot from starting', async (t) => {
  const settings =
    "z.object({ bridge: z.string().refine((value) => new URL(value).protocol === 'https:').optional() })";
  const folder = await makePlugin(t, onePlugin(`name: 'mine', settings: ${settings}`));
  const { plugins } = await open(t, `${listed(folder)}[tools.mine]\nbridge = "no address"\n`);
  const told = plugins.diagnostics.map(({ code, message }) => `${code} ${message}`);
  assert.equal(told.length, 1);
  assert.match(told[0]!, /^TOOL_SETTING_INVALID .*tools\.mine\.bridge is text of 10 characters: write text/);
  assert.deepEqual(plugins.loaded, [{ name: 'one', tools: ['mine'] }]);
});

test('X6 what a plugin leaves open keeps no command from ending', async (t) => {
  const cli = await openCliHome(t);
  const folder = await makePlugin(t, `setInterval(() => undefined, 1000);\n${onePlugin("name: 'mine'")}`);
  await cli.write('config.toml', listed(folder));
  const { code, stdout } = await cli.run(['config', 'check', '--config', 'config.toml']);
  assert.equal(code, 0);
  assert.match(stdout, /^plugin one: mine\n.*is fine\.\n$/);
});

test('X6 a plugin that throws where nobody can catch it ends the process, and the log says which one and what to do', async (t) => {
  const cli = await openCliHome(t);
  const fine = await makePlugin(t, onePlugin("name: 'mine'"));
  const late =
    "setTimeout(() => {\n  throw new Error('the socket fell off');\n}, 0);\nawait new Promise((resolve) => setTimeout(resolve, 1_000));";
  const folder = await makePlugin(t, `${late}\n${onePlugin("name: 'other'", { name: 'two' })}`);
  await cli.write('config.toml', listed(fine) + listed(folder));
  const { code, stderr } = await cli.runAlone(['chat', '--once', 'hello', '--config', 'config.toml']);
  assert.equal(code, 1);
  assert.match(stderr, /the socket fell off/);
  const said = stderr.split('\n').find((line) => line.includes('PLUGIN_CRASHED')) ?? '';
  assert.match(
    said,
    new RegExp(`file://${folder}/plugin\\.ts:2".*the plugin ${folder} threw outside of any call`),
  );
  assert.match(said, /await its promises.*enabled = false/);
});
