import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import type { Config } from '../../../src/config/complete-config.ts';
import { checkPluginConfig } from '../../../src/config/plugin-config.ts';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import { definePlugin } from '../../../src/features/plugins/define-plugin.ts';
import { loadPlugin } from '../../../src/features/plugins/load-plugin.ts';
import { namedLog } from '../../../src/features/plugins/tool-context.ts';
import { openPluginImports } from '../../../src/features/plugins/plugin-imports.ts';
import { partOf } from '../../support/app-of.ts';
import { makePlugin, onePlugin } from '../../support/make-plugin.ts';
import { quietLog } from '../../support/quiet-log.ts';

let close = (): void => undefined;
before(() => (close = openPluginImports()));
after(() => close());

type Given = Readonly<{ config?: object; folder?: string; clock?: Clock; log?: ReturnType<typeof quietLog> }>;

async function load(address: Readonly<{ path?: string; package?: string }>, given: Given = {}) {
  const { config = {}, folder, clock = systemClock, log = quietLog() } = given;
  const entry = {
    ...address,
    enabled: true,
    main: true,
    config: config as Readonly<Record<string, unknown>>,
  };
  return loadPlugin({
    address,
    folder,
    checkConfig: (schema) =>
      checkPluginConfig(partOf<Config>({ plugins: [entry], fromEnvironment: [] }), 0, schema),
    botName: 'Botty',
    log: (plugin) => namedLog(log, { plugin }),
    clock,
  });
}

/** What is said of a plugin with this source; the folder stands as DIR. */
async function faultsOf(t: TestContext, source: string, given: Given & { name?: string } = {}) {
  const folder = await makePlugin(t, source, given.name);
  const outcome = await load({ path: folder }, given);
  assert.ok(!outcome.ok, 'it was loaded');
  return outcome.faults.map(({ code, message }) => `${code} ${message.replaceAll(folder, 'DIR')}`);
}

test('X1 a folder with plugin.ts is loaded from anywhere: it gets the bot itself as skillet/plugin, and zod from the bot', async (t) => {
  const log = quietLog();
  const source = onePlugin("name: 'one_' + config.suffix + (log.info(`for ${bot.name}`), '')", {
    more: "config: z.object({ suffix: z.string() }), skills: './skills',",
  });
  const folder = await makePlugin(t, source);
  await mkdir(path.join(folder, 'skills'));
  const outcome = await load({ path: folder }, { config: { suffix: 'x' }, log });
  assert.ok(outcome.ok, JSON.stringify(outcome));
  const { name, file, tools, skills } = outcome.plugin;
  assert.deepEqual(
    [name, file, tools.map((tool) => tool.name), skills],
    ['one', path.join(folder, 'plugin.ts'), ['one_x'], path.join(folder, 'skills')],
  );
  assert.deepEqual(log.lines, [{ level: 'info', fields: { plugin: 'one' }, message: 'for Botty' }]);
});

test('X1 plugin.js, a file by its name, a package beside the config file or above it, and its main', async (t) => {
  const js = onePlugin("name: 'one'");
  const folder = await makePlugin(t, js, 'plugin.js');
  assert.ok((await load({ path: folder })).ok);
  assert.ok((await load({ path: path.join(folder, 'plugin.js') })).ok);
  const inner = path.join(folder, 'deep', 'er');
  const scoped = path.join(folder, 'node_modules', '@me', 'thing');
  const other = path.join(folder, 'deep', 'node_modules', 'with-main', 'dist');
  for (const each of [inner, scoped, other]) await mkdir(each, { recursive: true });
  await writeFile(path.join(scoped, 'package.json'), '{"type":"module"}');
  await writeFile(path.join(scoped, 'plugin.js'), js);
  await writeFile(path.join(other, '..', 'package.json'), '{"type":"module","main":"dist/own.js"}');
  await writeFile(path.join(other, 'own.js'), js);
  assert.ok((await load({ package: '@me/thing' }, { folder: inner })).ok);
  const found = await load({ package: 'with-main' }, { folder: inner });
  assert.ok(found.ok && found.plugin.file.endsWith('with-main/dist/own.js'));
});

test('X6 what is not there is told with where it was looked for and what to do', async (t) => {
  const folder = await makePlugin(t, '', 'other.txt');
  const said = async (address: Parameters<typeof load>[0]) => {
    const outcome = await load(address, { folder });
    assert.ok(!outcome.ok);
    return outcome.faults[0]!.message.replaceAll(folder, 'DIR');
  };
  assert.equal(
    await said({ path: `${folder}/none` }),
    'there is no folder DIR/none: fix the path, or remove the plugin',
  );
  assert.equal(await said({ path: folder }), 'DIR has neither plugin.ts nor plugin.js');
  assert.equal(
    await said({ package: 'no-such-package' }),
    'the package no-such-package is not installed: run npm install no-such-package in DIR',
  );
  assert.match(await said({ package: '../../etc' }), /"\.\.\/\.\.\/etc" is no name of an npm package/);
  assert.match(
    await said({ path: path.join(folder, 'x'.repeat(300)) }),
    /can't be read \(ENAMETOOLONG.*\): fix the path$/,
  );
  assert.match(await said({ path: '/dev/null' }), /it is neither file nor folder/);
  assert.match(await said({ path: path.join(folder, 'other.txt') }), /is no TypeScript or JavaScript/);
  await symlink('loop', path.join(folder, 'loop'));
  assert.match(await said({ path: path.join(folder, 'loop') }), /can't be read \(ELOOP/);
  await mkdir(path.join(folder, 'odd', 'plugin.ts'), { recursive: true });
  assert.match(await said({ path: path.join(folder, 'odd') }), /has neither plugin\.ts nor plugin\.js$/);
  const torn = path.join(folder, 'node_modules', 'torn');
  await mkdir(torn, { recursive: true });
  await writeFile(path.join(torn, 'package.json'), '{ torn');
  assert.match(
    await said({ package: 'torn' }),
    /^the package\.json of torn can't be read \(.*JSON.*\): install it again$/,
  );
  await writeFile(path.join(torn, 'package.json'), '{"main":"."}');
  assert.match(await said({ package: 'torn' }), /names no main file that is there/);
  const typed = path.join(folder, 'node_modules', 'typed');
  await mkdir(typed, { recursive: true });
  await writeFile(path.join(typed, 'package.json'), '{}');
  assert.match(await said({ package: 'typed' }), /has no plugin\.js, and its package\.json names no main/);
  await writeFile(path.join(typed, 'plugin.ts'), '');
  assert.match(
    await said({ package: 'typed' }),
    /has plugin\.ts only, and packages have to bring JavaScript/,
  );
});

test('X6 a plugin that can not be imported is told with file and line and what to write', async (t) => {
  const broken = async (source: string) => (await faultsOf(t, source))[0]!;
  assert.match(
    await broken('const a = 1;\nconst b: = 3;'),
    /^PLUGIN_BROKEN DIR\/plugin\.ts:2: syntax error: Unexpected token/,
  );
  assert.match(
    await broken('\nenum A { B }\nexport default A;'),
    /DIR\/plugin\.ts:2: TypeScript enum is not supported.*leaving the types out.*erasableSyntaxOnly/,
  );
  assert.match(
    await broken('export default class { constructor(private a: string) {} }'),
    /parameter property is not supported/,
  );
  assert.match(
    await broken("\n\nthrow new Error('no key is set');"),
    /DIR\/plugin\.ts:3: it threw as it was loaded: no key is set$/,
  );
  assert.match(await broken("throw 'words';"), /it threw "words" as it was loaded/);
  assert.match(
    await broken("import x from 'no-such-package';\nexport default x;"),
    /Cannot find package 'no-such-package' imported from DIR\/plugin\.ts: install it there with npm install/,
  );
  assert.match(
    await broken("import { x } from './weather';\nexport default x;"),
    /Cannot find module .*relative ones carry the ending of the file/,
  );
  assert.match(
    await broken("import { definePlugin, ToolContext } from 'skillet/plugin';\nexport default definePlugin;"),
    /does not provide an export named 'ToolContext'\. Where ToolContext is a type, write import type \{ ToolContext \}/,
  );
});

test('X6 a plugin of the wrong shape, with a wrong name, tools or folder of skills', async (t) => {
  const broken = async (source: string) => (await faultsOf(t, source))[0]!;
  const shape = /DIR\/plugin\.ts is no plugin: write export default definePlugin/;
  assert.match(await broken('export const a = 1;'), shape);
  assert.match(await broken("export default { name: 'x', tools: () => [] };"), shape);
  assert.match(
    await broken(onePlugin("name: 'a'", { name: 'One Two' })),
    /DIR\/plugin\.ts:\d+: .*the plugin One Two can't be used: name: write lower-case/,
  );
  assert.match(
    await broken(onePlugin("name: 'a'", { more: "skills: './none'," })),
    /there is no folder DIR\/none, which it names as skills/,
  );
  assert.match(
    await broken(onePlugin("name: 'Bad-Name'")),
    /DIR\/plugin\.ts:\d+: it threw as it was loaded: the tool Bad-Name can't be used/,
  );
  const own =
    "import { definePlugin } from 'skillet/plugin';\nexport default definePlugin({ name: 'x', tools: () =>";
  assert.match(await broken(`${own} [{ name: 'a' }] });`), /its tools are no list of what defineTool gives/);
  assert.match(await broken(`${own} null });`), /its tools are no list/);
  const two = onePlugin("name: 'same'").replace('tools: ({ config, bot, log }) => [', (line) => {
    const one = "defineTool({ name: 'same', description: 'One.', input: z.object({}), run: () => '' }),";
    return `${line} ${one}`;
  });
  assert.match(await broken(two), /two of its tools are called same/);
});

test('X6 whatever an author leaves out, misspells or throws is told, and loading goes on', async (t) => {
  const told = async (options: string) => {
    const source = `import { definePlugin, defineTool } from 'skillet/plugin';\nimport { z } from 'zod';\nexport default definePlugin(${options});`;
    return (await faultsOf(t, source))[0]!.replace(
      /^PLUGIN_BROKEN DIR\/plugin\.ts:3: it threw as it was loaded: /,
      '',
    );
  };
  const tools = 'tools: () => []';
  for (const [options, said] of [
    ['undefined', /^the plugin \? can't be used: /],
    [`{ ${tools} }`, /^the plugin \? can't be used: name: /],
    ["{ name: 'x' }", /^the plugin x can't be used: tools: write a function that gives a list of tools$/],
    ["{ name: 'x', tools: [] }", /tools: write a function that gives a list of tools$/],
    [`{ name: 'x', ${tools}, skill: './skills' }`, /: skill is no option: did you mean skills\?$/],
    [`{ name: 'x', ${tools}, skills: 5 }`, /: skills: /],
    [`{ name: 'x', ${tools}, config: { a: 1 } }`, /: config: make it with zod 4$/],
    [`{ name: 'x', ${tools}, capabilities: null }`, /: capabilities: /],
    ["{ name: 'x', tools: () => { throw null } }", /it threw null as it was loaded$/],
    ["{ name: 'x', tools: () => { throw { a: 1n } } }", /it threw \{ a: 1n \} as it was loaded$/],
    ["{ name: 'x', tools: () => { throw Object.assign(new Error(), { message: 7 }) } }", /^7$/],
    [
      "{ name: 'x', tools: () => [{ kind: 'skillet tool', name: 'a' }] }",
      /no list of what defineTool gives: write tools: /,
    ],
    [
      `{ name: 'x', ${tools}, config: z.object({ a: z.string().default('y').transform(() => { throw new Error('no a') }) }) }`,
      /^PLUGIN_BROKEN its config could not be checked: DIR\/plugin\.ts:3: .*no a$/,
    ],
    [
      "{ name: 'x', tools: () => [defineTool({ name: 'a', description: 'A.', input: z.object({}), run: () => '', sideEffect: false })] }",
      /the tool a can't be used: sideEffect is no option: did you mean sideEffects\?$/,
    ],
  ] as const)
    assert.match(await told(options), said, options);
});

test('X6 a plugin that never ends being loaded, or making its tools, is given up after 20 s', async (t) => {
  /** Its time is over at once, but for the first so many waits. */
  const overAfter = (waits: number): Clock => {
    const slept: number[] = [];
    return {
      now: () => 0,
      sleep: (ms) => (slept.push(ms) > waits ? Promise.resolve() : new Promise(() => undefined)),
    };
  };
  const hangs = 'await new Promise(() => undefined);\nexport default 1;';
  assert.deepEqual(await faultsOf(t, hangs, { clock: overAfter(0) }), [
    'PLUGIN_BROKEN it was not loaded within 20 s',
  ]);
  const idle =
    "import { definePlugin } from 'skillet/plugin';\nexport default definePlugin({ name: 'x', tools: () => new Promise(() => undefined) });";
  assert.deepEqual(await faultsOf(t, idle, { clock: overAfter(1) }), [
    'PLUGIN_BROKEN it did not make its tools within 20 s',
  ]);
});

test('X1 a plugin is named with hyphens or underscores, and nothing that could be mistaken', () => {
  const named = (name: string) => definePlugin({ name, tools: () => [] }).name;
  for (const name of ['my_plugin', 'my-plugin2', 'x']) assert.equal(named(name), name);
  for (const name of ['my__plugin', '_x', 'x_', 'My', 'a b', '']) assert.throws(() => named(name), /single/);
});

test('X2 X4 the public door has definePlugin, defineTool and types, and nothing else', async () => {
  assert.deepEqual(Object.keys(await import('../../../src/plugin.ts')).sort(), [
    'definePlugin',
    'defineTool',
  ]);
});
