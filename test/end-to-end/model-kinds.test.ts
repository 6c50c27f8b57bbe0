import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { ModelApi } from '../../src/core/model.ts';
import { chatFolder } from '../../src/tools/built-in/run-folders.ts';
import type { Loose } from '../servers/chat/chat-chunks.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import { type Script } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startTelegramServer, type TelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { startBotProcess } from '../support/bot-process.ts';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { kinds, serverOf, signIn } from '../support/model-kinds.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const open = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 3600\n';
const secret = 'canary-value-0123456789';
const command = 'echo mark >> /chat/marks && echo marks: $(cat /chat/marks)';
const skill = '---\nname: mark\ndescription: Makes a mark.\nallowed-tools: bash\n---\nMake one mark.\n';
const asked = /wants to use.*bash/s;
const call = (name: string, input: object) => ({ content: [{ type: 'tool_use' as const, name, input }] });

/** A model whose run makes a mark by a command, and which passes on what it was shown. */
function marker(body: MessagesRequest) {
  const last = JSON.stringify(body.messages.at(-1));
  const told = /marks: ([a-z ]+)/.exec(last)?.[1] ?? /error [A-Z_]+: [^"\\]*/.exec(last)?.[0];
  if (resultsIn(body).length > 0) return isRun(body) ? `marks: ${told ?? last}` : `It says ${told ?? last}`;
  return isRun(body) ? call('bash', { command }) : call('use_skill', { skill: 'mark', message: 'Make it.' });
}

/** A folder with the config of a bot on Telegram whose model is of this kind. */
async function homeOf(t: TestContext, model: string, more = '') {
  const home = await openCliHome(t);
  const telegram = await startTelegramServer();
  t.after(() => telegram.close());
  await home.write(
    'config.toml',
    `${open}${more}[telegram]
token = "${telegram.token}"
api_root = "${telegram.url}"
paced = false
[server]
listen = "127.0.0.1:0"
[log]
format = "json"
[sandbox]
mode = "virtual"
[models.default]
${model}
`,
  );
  await mkdir(path.join(home.folder, 'workspace/skills/mark'), { recursive: true });
  await writeFile(path.join(home.folder, 'workspace/skills/mark/SKILL.md'), skill);
  return { telegram, folder: home.folder };
}

async function serveChat(t: TestContext, script: Script) {
  const server = await startChatServer({ script, like: 'openai' });
  t.after(() => server.close());
  const model = `api = "openai"\nmodel = "gpt-5.4"\nbase_url = "${server.url}"\napi_key = "test-key-0123456789"`;
  return { server, model };
}

const marksIn = (folder: string, chat: number): Promise<string> =>
  readFile(
    path.join(
      chatFolder(path.join(folder, 'workspace'), { channel: 'telegram', chat: String(chat) }),
      'marks',
    ),
    'utf8',
  ).catch(() => '');

test('M17 Q13 T8 a turn with a skill and an approval on Chat Completions, killed while it waits for the person', async (t) => {
  const { server, model } = await serveChat(t, marker);
  const { telegram, folder } = await homeOf(t, model, '[policy]\nmoderate = "confirm"\n');
  const first = startBotProcess(t, folder);
  const ann = telegram.person({ name: 'Ann' });
  ann.says('make a mark');
  const question = await ann.dm.nextMessage(asked);
  const ended = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await ended;
  const second = startBotProcess(t, folder);
  await second.line(({ msg }) => msg === 'Skillet is ready');
  assert.equal(await marksIn(folder, ann.dm.id), '');
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage('It says mark');
  assert.deepEqual(await second.stop(), [0, null]);
  assert.equal(await marksIn(folder, ann.dm.id), 'mark\n', 'it was done once');
  assert.equal(ann.dm.sent().filter(({ text }) => text === 'It says mark').length, 1);
  assert.deepEqual(server.refused, [], 'each request after the kill was one that OpenAI takes');
});

test('M17 a bot that is killed while Chat Completions stream asks again, and answers once', async (t) => {
  const streaming = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  const { server, model } = await serveChat(t, (_, index) => {
    if (index > 0) return 'A whole answer.';
    streaming.resolve();
    return { content: [{ type: 'text', text: 'Half an answer.' }], wire: { hold: gate.promise } };
  });
  const { telegram, folder } = await homeOf(t, model);
  const first = startBotProcess(t, folder);
  const ann = telegram.person({ name: 'Ann' });
  ann.says('hello');
  await streaming.promise;
  const ended = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await ended;
  const second = startBotProcess(t, folder);
  await ann.dm.nextMessage('A whole answer.');
  assert.deepEqual(await second.stop(), [0, null]);
  assert.equal(ann.dm.sent().filter(({ text }) => text === 'A whole answer.').length, 1);
  assert.equal(server.requests.length, 2);
});

const servers: Readonly<Record<string, Loose>> = {
  'counts no tokens': { noUsage: true },
  'leaves out ids, indexes, counts and the end': {
    noUsage: true,
    noDone: true,
    noIds: true,
    noIndexes: true,
    saysStop: true,
  },
  'answers whole, with objects as arguments and thinking between tags': {
    noStream: true,
    objects: true,
    thinking: 'tags',
  },
};

for (const [differs, loose] of Object.entries(servers))
  test(`M19 G4 a turn with a skill is answered and counted by a server that ${differs}`, async (t) => {
    const bot = await startWholeBot(t, {
      api: 'openai',
      loose,
      toml: open,
      script: marker,
      skills: { mark: skill },
    });
    const ann = bot.telegram.person({ name: 'Ann' });
    ann.says('make a mark');
    await ann.dm.nextMessage('It says mark');
    ann.says('/status');
    await ann.dm.nextMessage(/Your tokens today: [1-9],\d{3} of/);
  });

test('M17 S2 G4 on Chat Completions secrets stay out, tokens and dollars count, and limits hold', async (t) => {
  const bot = await startWholeBot(t, {
    api: 'openai',
    toml: `${open}[tools.web_search]\nprovider = "brave"\napi_key = "${secret}"\n[limits]\ntokens_per_day = 3000\n`,
    skills: { mark: skill },
    script(body) {
      const last = JSON.stringify(body.messages.at(-1));
      const limit = /LIMIT_REACHED: ([^"\\<]*)/.exec(last)?.[1];
      if (limit !== undefined) return `Not now: ${limit}`;
      return last.includes('mark') ? marker(body) : `The value is ${secret}. ${'word '.repeat(500)}`;
    },
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('tell me');
  await ann.dm.nextMessage(/The value is \[redacted/);
  for (const { text } of [...ann.dm.sent(), ...ann.dm.drafts()])
    assert.doesNotMatch(text, new RegExp(secret));
  ann.says('/status');
  await ann.dm.nextMessage(/Your tokens today: \d,\d{3} of 3,000, 0\.\d\d of 10\.00 US dollars/);
  ann.says('make a mark');
  await ann.dm.nextMessage(/Not now: Your budget of 3,000 tokens a day is used up/);
});

/** Packages and own files that a bot has loaded when it has answered once and stopped. */
async function loadedBy(t: TestContext, folder: string, telegram: TelegramServer) {
  const list = path.join(folder, 'loaded.txt');
  const watch = `
    import { registerHooks } from 'node:module';
    import { writeFileSync } from 'node:fs';
    const used = [];
    registerHooks({ load: (url, context, next) => (used.push(url), next(url, context)) });
    process.on('exit', () => writeFileSync(${JSON.stringify(list)}, used.join('\\n')));`;
  const hook = `data:text/javascript,${encodeURIComponent(watch)}`;
  const child = spawn(process.execPath, ['--import', hook, cliPath, 'start'], {
    cwd: folder,
    env: { ...childEnv(folder), ...cloudEnv() },
    stdio: 'ignore',
  });
  t.after(() => child.kill('SIGKILL'));
  const ann = telegram.person({ name: 'Ann' });
  ann.says('hello');
  await ann.dm.nextMessage('Hello.');
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  const urls = (await readFile(list, 'utf8')).split('\n');
  const packages = urls.flatMap(
    (url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url)?.[1] ?? [],
  );
  const files = urls.flatMap((url) => /\/src\/agent\/models\/(.*)$/.exec(url)?.[1] ?? []);
  return { packages: new Set(packages), files: new Set(files) };
}

function cloudEnv(): Readonly<Record<string, string>> {
  const names = Object.keys(process.env).filter((name) => /^(AWS|GOOGLE|METADATA)_/.test(name));
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
}

/** What belongs to one kind. All that a kind does not name must not be there. */
const own: Readonly<Record<ModelApi, readonly string[]>> = {
  anthropic: ['@anthropic-ai/sdk', 'anthropic-api.ts'],
  openai: ['chat-api.ts', 'chat-request.ts', 'chat-answer.ts'],
  bedrock: ['@anthropic-ai/bedrock-sdk', '@anthropic-ai/sdk', 'anthropic-api.ts', 'cloud-apis.ts'],
  vertex: [
    '@anthropic-ai/vertex-sdk',
    '@anthropic-ai/sdk',
    'google-auth-library',
    'anthropic-api.ts',
    'cloud-apis.ts',
  ],
};
const all = [...new Set([...Object.values(own).flat(), 'openai'])];

for (const { api, model } of kinds)
  test(`M17 B3 a bot on ${api} answers, and loads nothing of the other kinds`, async (t) => {
    const server = await serverOf(api, { script: () => 'Hello.' });
    t.after(() => server.close());
    await signIn(t);
    const key =
      api === 'anthropic' || api === 'openai' ? 'api_key = "test-key-0123456789"' : 'region = "eu-central-1"';
    const more = api === 'vertex' ? 'project = "p"' : '';
    const place = `api = "${api}"\nmodel = "${model}"\nbase_url = "${server.url}"\n${key}\n${more}`;
    const { telegram, folder } = await homeOf(t, place);
    const { packages, files } = await loadedBy(t, folder, telegram);
    assert.ok(packages.has('grammy'), 'what is loaded is seen');
    const loaded = all.filter((name) => packages.has(name) || files.has(name));
    assert.deepEqual(loaded.sort(), [...own[api]].sort());
  });
