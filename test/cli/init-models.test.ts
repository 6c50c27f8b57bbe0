import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { startChatServer } from '../servers/chat/chat-server.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { noTerminal, openTerminal } from '../support/shell-at-terminal.ts';

const model = 'gpt-5.4';

async function serve(t: TestContext) {
  const server = await startChatServer({ script: () => 'ok', apiKey: 'sk-good-1', models: [model] });
  t.after(() => server.close());
  return server;
}

const config = (home: CliHome): Promise<string> => readFile(path.join(home.folder, 'config.toml'), 'utf8');
const yes = ['init', '--yes', '--owner', 'telegram:1'];

test('M17 L1 init asks a server of Chat Completions, and writes its kind', async (t) => {
  const home = await openCliHome(t);
  const server = await serve(t);
  const place = ['--base-url', server.url, '--model', model, '--api-key', 'sk-good-1'];
  const { code, stdout, stderr } = await home.run([...yes, ...place]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /The model gpt-5\.4 answers\./);
  const written = `[models.default]\nmodel = "gpt-5.4"\napi = "openai"\nbase_url = "${server.url}"\napi_key = "$MODEL_API_KEY"\n`;
  assert.ok((await config(home)).includes(written), await config(home));
  assert.equal((await home.run(['config', 'check'])).code, 0);
});

test('M17 L1 a bad key, a wrong address and a wrong name are told with the fix', async (t) => {
  const home = await openCliHome(t);
  const server = await serve(t);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['--base-url', server.url, '--model', model, '--api-key', 'sk-bad'],
      /\(401\): Incorrect API key.*Check the API key/,
    ],
    [
      [
        '--api',
        'openai',
        '--base-url',
        server.url.replace('/v1', ''),
        '--model',
        model,
        '--api-key',
        'sk-good-1',
      ],
      /\(404\): Invalid URL.*most servers of Chat Completions want \/v1 at its end/,
    ],
    [
      ['--base-url', server.url, '--model', 'gpt-9', '--api-key', 'sk-good-1'],
      /\(404\): The model `gpt-9` does not exist.*Check the name of the model \("gpt-9"\)/,
    ],
    [
      ['--base-url', 'http://127.0.0.1:1/v1', '--model', model],
      /fetch failed.*Check that a server answers at http:\/\/127\.0\.0\.1:1\/v1/,
    ],
    [
      ['--api', 'opanai', '--model', model],
      /--api is one of anthropic, openai, bedrock, vertex, not "opanai"/,
    ],
    [
      ['--api', 'openai', '--api-key', 'sk-ant-api03-x'],
      /That is an API key of Anthropic.*Wanted is an API key of OpenAI/,
    ],
  ];
  for (const [args, expected] of cases) {
    const { code, stderr } = await home.run([...yes, ...args]);
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, expected);
  }
});

test('M17 L1 init writes region and project of the clouds', async (t) => {
  const home = await openCliHome(t);
  const cloud = [
    '--api',
    'vertex',
    '--region',
    'europe-west1',
    '--project',
    'p',
    '--model',
    'claude-sonnet-5-5',
  ];
  const { code, stderr } = await home.run([...yes, ...cloud, '--offline']);
  assert.equal(code, 0, stderr);
  assert.match(await config(home), /api = "vertex"\nregion = "europe-west1"\nproject = "p"\n/);
});

test('M17 L1 at a terminal the address says which kind of server it is', { skip: noTerminal }, async (t) => {
  const home = await openCliHome(t);
  const server = await serve(t);
  const terminal = await openTerminal(t, home, ['init'], { TERM: 'xterm', NO_COLOR: '1' }, 120);
  await terminal.until(/What is the bot called/);
  terminal.type('\r');
  await terminal.until(/Which language model/);
  terminal.type('\u001b[B\u001b[B\r');
  await terminal.until(/Address of the server/);
  terminal.type(`${server.url}\r`);
  await terminal.until(/Model/);
  terminal.type(`${model}\r`);
  await terminal.until(/want a key/);
  terminal.type('y');
  await terminal.until(/Key of that server/);
  terminal.type('sk-good-1\r');
  await terminal.until(/The model gpt-5\.4 answers/);
  assert.equal(server.bodies.length, 1);
});
