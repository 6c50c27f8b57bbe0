import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { startMessagesServer } from './servers/messages/messages-server.ts';
import { bubblewrapHere, sandboxHere } from './support/bubblewrap-here.ts';
import { callSteps, resultsIn } from './support/call-steps.ts';
import { blocksOf, root } from './support/documents.ts';
import { openCliHome, type CliHome } from './support/run-cli.ts';

const examples = path.join(root, 'examples/skills');
const readme = readFileSync(path.join(root, 'examples/README.md'), 'utf8');
const names = readdirSync(examples);
const tested = names.filter((name) => existsSync(path.join(examples, name, 'tests')));
const configs = blocksOf(readme)
  .filter(({ language }) => language === 'toml')
  .map(({ text }) => text);

/** The examples in a workspace, with the config that examples/README.md shows. */
async function openGallery(t: TestContext, more: string): Promise<CliHome> {
  const home = await openCliHome(t);
  await cp(examples, path.join(home.folder, 'workspace/skills'), { recursive: true });
  await cp(path.join(root, 'examples/rota-server.mjs'), path.join(home.folder, 'rota-server.mjs'));
  await home.write('config.toml', [...configs, more, sandboxHere].join('\n'));
  return home;
}

test('L17 the gallery lists every example, and each but the one with accounts has tests', () => {
  assert.deepEqual(
    names.filter((name) => !readme.includes(`](skills/${name})`)),
    [],
  );
  assert.deepEqual(
    names.filter((name) => !tested.includes(name)),
    ['notes'],
  );
});

test('L3 L17 every skill of the gallery is valid, and passes its own tests', bubblewrapHere, async (t) => {
  const home = await openGallery(t, '');
  for (const name of names) {
    const { code, stdout } = await home.run(['skill', 'validate', `workspace/skills/${name}`]);
    assert.equal(code, 0, stdout);
  }
  for (const name of tested) {
    const { code, stdout, stderr } = await home.run(['skill', 'test', name]);
    assert.equal(code, 0, `${name}\n${stdout}${stderr}`);
    assert.match(stdout, /^[1-9]\d* passed, 0 failed$/m);
  }
});

test('L3 the tests of the gallery fail when a skill is broken', bubblewrapHere, async (t) => {
  const home = await openGallery(t, '');
  for (const name of ['standup', 'expenses', 'release-notes'])
    await home.write(
      path.join(
        'workspace/skills',
        name,
        'scripts',
        readdirSync(path.join(examples, name, 'scripts'))[0] ?? '',
      ),
      'console.log("something else");\n',
    );
  await home.write('config.toml', sandboxHere);
  for (const name of ['standup', 'expenses', 'release-notes', 'incident']) {
    const { code, stdout } = await home.run(['skill', 'test', name]);
    // Without the rule of the page nobody is asked before a restart.
    assert.equal(code, 1, `${name}\n${stdout}`);
  }
});

test('X1 the skill of the gallery asks its MCP server who is on call', async (t) => {
  const call = { name: 'mcp_rota_who', input: { service: 'shop' } };
  const model = await startMessagesServer({ script: callSteps([call], 'Cleo is on call.'), apiKey: 'sk-1' });
  t.after(() => model.close());
  const models = `[models.default]\nmodel = "m"\nbase_url = "${model.url}"\napi_key = "sk-1"\n`;
  const home = await openGallery(t, models);
  const { code, stdout, stderr } = await home.run(['chat', '--once', '/on-call shop']);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /Cleo is on call/);
  const heard = model.requests.flatMap(({ body }) => resultsIn(body)).join('\n');
  assert.match(heard, /\+41 44 000 00 01/);
});
