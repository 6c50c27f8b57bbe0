import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { secretForms } from '../../src/lib/redaction/redact.ts';
import { childEnv } from '../support/child-env.ts';
import { isRun, resultsIn } from '../support/call-steps.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { cliPath } from '../support/cli-path.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

/** A secret for every place where one lives; nothing of its two ends may be found anywhere either. */
const canary = (name: string): string => `${name}9f3b-canary "ü"/+ ${name}-7c1e0d`;
const plain = (name: string): string => `${name}9f3b-canary-${name}-7c1e0d`;
const secrets = {
  model: plain('model'),
  other: plain('alias'),
  signing: plain('signing'),
  webhook: plain('webhook'),
  search: plain('search'),
  mcpEnv: canary('mcpenv'),
  mcpHeader: plain('mcpheader'),
  mcpQuery: plain('mcpquery'),
  mail: canary('mail'),
  notes: canary('notes'),
  proxy: plain('proxy'),
};
const quoted = (text: string): string => JSON.stringify(text);

const skill = (name: string) =>
  `---\nname: ${name}\ndescription: Does ${name}.\nenv: [${name.toUpperCase()}_KEY]\nallowed_tools: [Bash, send_file]\n---\nDo ${name}.\n`;

/** What a command of a skill may do with its secret: print it in every way, over every cut, and hand it on in a file. */
const leaks = [
  `printenv MAIL_KEY; env; for x in '' a aa; do printf '%s%s' "$x" "$MAIL_KEY" | base64; done; printf %s "$MAIL_KEY" | base64 -w 7; printf %s "$MAIL_KEY" | od -An -tx1 | tr -d ' '`,
  `i=0; while [ $i -lt 3000 ]; do printf '%s ' "$MAIL_KEY"; i=$((i+1)); done`,
  `i=0; while [ $i -lt 900 ]; do printf '%s' "$MAIL_KEY"; i=$((i+1)); done; echo "no: $MAIL_KEY" >&2; exit 3`,
  `printf 'key: %s.' "$MAIL_KEY" > /chat/key.txt; printf %s "$MAIL_KEY"; echo "$MAIL_KEY" > "/scratch/$NAME"`,
];
const look = 'printenv NOTES_KEY; cat /proc/self/environ /proc/[0-9]*/environ 2>/dev/null';

test('S2 S3 canaries in every place where secrets live: none leaves, on Telegram and Slack, whatever fails', async (t) => {
  const stage = await openStage(t);
  const { telegram, slack, messages, bot, all } = stage;
  const ann = telegram.person({ name: 'Ann' });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });

  ann.says('use mail');
  await ann.dm.nextMessage(/All done/);
  ann.says('use notes');
  await ann.dm.nextMessage(/All done/);
  const runs = messages.requests.map(({ body }) => body).filter(isRun);
  const printed = (name: string): string =>
    resultsIn(runs.findLast((body) => JSON.stringify(body.system).includes(`"${name}\\`))!).join('\n');
  assert.match(printed('mail'), /\[redacted MAIL_KEY\]/);
  assert.match(printed('notes'), /\[redacted NOTES_KEY\]/);
  assert.doesNotMatch(printed('notes'), /MAIL_KEY/, 'another skill saw it in /proc');

  telegram.faults.add({ method: 'sendMessage', cut: 'before' });
  telegram.faults.add({ method: 'sendMessage', badGateway: true });
  ann.says(`my keys are ${secrets.model} and ${telegram.token}: leak`);
  await ann.dm.nextMessage(/it is \[redacted/);
  ann.says('refuse');
  await ann.dm.nextMessage(/can't reach my language model/);
  ann.says('/status');
  await ann.dm.nextMessage();

  slack.faults.next('chat.postMessage', { kind: 'status', status: 503 });
  slack.people.mention(anna, room, `use mail ${slack.tokens.bot}`);
  await slack.posted(({ text }) => /All done/.test(text));
  slack.people.mention(anna, room, 'leak');
  await slack.posted(({ text }) => /it is \[redacted/.test(text));
  const isPost = ({ method }: { method: string }): boolean => method === 'chat.postMessage';
  const posts = slack.calls.all().filter(isPost).length;
  slack.faults.next('chat.postMessage', { kind: 'error', error: 'token_revoked' });
  slack.people.mention(anna, room, 'leak again');
  await slack.calls.untilCount(posts + 1, isPost);

  const file = 'key: [redacted MAIL_KEY].';
  const documents = JSON.stringify(telegram.calls('sendDocument').map(({ answer }) => answer));
  assert.ok(documents.includes(createHash('sha1').update(file).digest('hex')), documents);
  const uploads = slack.calls
    .all()
    .flatMap(({ args }) => [...JSON.stringify(args).matchAll(/F[0-9A-Z]{6,}/g)]);
  const uploaded = uploads.map(([id]) => slack.bytesOf(id)?.toString()).filter((text) => text !== undefined);
  assert.ok(uploaded.length > 0 && uploaded.every((text) => text === file), JSON.stringify(uploaded));

  const health = await bot.health();
  await bot.stop();
  const left = [...(await all()), { where: 'health and metrics', text: health }];
  const planted = {
    ...secrets,
    telegram: telegram.token,
    slackBot: slack.tokens.bot,
    slackApp: slack.tokens.app,
  };
  const flat = left.map(({ where, text }) => ({ where, text: text.replace(/[\r\n]/g, '') }));
  for (const [name, value] of Object.entries(planted)) {
    const pieces = value.includes('canary') ? [value.slice(0, 10), value.slice(-10)] : [];
    for (const form of new Set([...secretForms(value), ...pieces]))
      for (const { where, text } of flat) {
        const at = text.indexOf(form);
        const around = text.slice(Math.max(0, at - 80), at + 120);
        assert.equal(at, -1, `${name} as ${form} in ${where}: …${around}…`);
      }
  }
  assert.ok(left.length > 8, 'looked at too little');
  assert.match(left.map(({ text }) => text).join(''), /redacted MAIL_KEY/);
});

/** Does what is said; what it says itself holds secrets that it was never told, as if it had worked them out. */
function script(tokens: () => readonly string[]) {
  return (body: MessagesRequest) => {
    // Without what was said in the channel before.
    const last = JSON.stringify(body.messages.at(-1)?.content).replace(/<background.*<\/background>/, '');
    const call = (name: string, input: object, thinking?: string) => ({
      content: [
        ...(thinking === undefined ? [] : [{ type: 'text' as const, text: thinking }]),
        { type: 'tool_use' as const, id: `toolu_${name}_${body.messages.length}`, name, input },
      ],
    });
    if (isRun(body)) {
      const done = resultsIn(body).length;
      if (JSON.stringify(body.system).includes('"notes\\'))
        return done === 0 ? call('bash', { command: look }) : `Notes: ${secrets.notes}`;
      const command = leaks[done];
      if (command !== undefined) return call('bash', { command }, `I know ${secrets.mail}`);
      if (done === leaks.length) return call('send_file', { path: '/chat/key.txt', caption: secrets.mail });
      return `Mail: ${secrets.mail}, ${Buffer.from(`::${secrets.mail}`).toString('base64')}`;
    }
    if (/tool_result/.test(last)) return `All done: ${secrets.mail}`;
    const name = /use (mail|notes)/.exec(last)?.[1];
    if (name !== undefined)
      return call('use_skill', {
        skill: name,
        message: `go with ${secrets.mail}`,
        context: tokens().join(' '),
      });
    if (/refuse/.test(last))
      return { status: 401, message: `invalid x-api-key ${secrets.model} for ${tokens().join(' ')}` };
    return `it is ${tokens().join(' and ')}, ${secrets.model}, ${encodeURIComponent(secrets.mail)}`;
  };
}

async function openStage(t: TestContext) {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-canaries-'));
  const telegram = await startTelegramServer({ privacy: false, flood: false });
  const slack = await startSlackServer();
  const tokens = () => [telegram.token, slack.tokens.bot, slack.tokens.app];
  const messages = await startMessagesServer({ script: script(tokens) });
  const servers = [telegram, slack, messages];
  t.after(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await rm(home, { recursive: true, force: true });
  });
  for (const name of ['mail', 'notes']) {
    const folder = path.join(home, 'workspace', 'skills', name);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'SKILL.md'), skill(name));
  }
  const toml = `
[bot]
shutdown_seconds = 2
[log]
level = "debug"
format = "json"
[audit]
arguments = true
[server]
listen = "127.0.0.1:0"
[access]
dm = "open"
groups_mode = "open"
group_users = ["*"]
[telegram]
token = ${quoted(telegram.token)}
api_root = ${quoted(telegram.url)}
webhook_secret = ${quoted(secrets.webhook)}
paced = false
[slack]
bot_token = ${quoted(slack.tokens.bot)}
app_token = ${quoted(slack.tokens.app)}
signing_secret = ${quoted(secrets.signing)}
api_url = ${quoted(slack.url)}
[models.default]
model = "claude-sonnet-5-5"
base_url = ${quoted(messages.url)}
api_key = "$CANARY_MODEL_KEY"
[models.second]
model = "claude-haiku-5-5"
base_url = "http://someone:${secrets.other}@127.0.0.1:1"
[policy]
moderate = "allow"
dangerous = "allow"
[skills]
bundled = false
[skills.mail]
MAIL_KEY = "$CANARY_MAIL_KEY"
[skills.notes]
NOTES_KEY = ${quoted(secrets.notes)}
[tools.web_search]
provider = "brave"
api_key = ${quoted(secrets.search)}
[mcp.broken]
command = "sh"
args = ["-c", "env >&2; i=0; while [ $i -lt 300 ]; do printf %s \\"$MCP_TOKEN\\" >&2; i=$((i+1)); done; echo \\"$MCP_TOKEN\\"; exit 1"]
env = { MCP_TOKEN = ${quoted(secrets.mcpEnv)} }
[mcp.away]
url = "http://127.0.0.1:1/mcp?token=${secrets.mcpQuery}"
headers = { Authorization = "Bearer ${secrets.mcpHeader}" }
`;
  await writeFile(path.join(home, 'config.toml'), toml, { mode: 0o600 });
  const child = spawn(process.execPath, [cliPath, 'start'], {
    cwd: home,
    env: {
      ...childEnv(home),
      CANARY_MODEL_KEY: secrets.model,
      CANARY_MAIL_KEY: secrets.mail,
      HTTPS_PROXY: `http://me:${secrets.proxy}@127.0.0.1:1`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => said.push(text));
  t.after(() => child.kill('SIGKILL'));
  await Promise.race([
    telegram.until('the menus', () => telegram.calls('setMyCommands').length > 1),
    ended.then(() => assert.fail(said.join(''))),
  ]);
  const bot = {
    async health() {
      const url = /"url":"(http:[^"]+)"[^\n]*serving health and metrics/.exec(said.join(''))?.[1] ?? '';
      const pages = await Promise.all(
        ['/readyz', '/metrics'].map(async (page) => (await fetch(`${url}${page}`)).text()),
      );
      return pages.join('\n');
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
  const all = async (): Promise<readonly Readonly<{ where: string; text: string }>[]> => {
    const files = await readdir(path.join(home, 'data'), { recursive: true, withFileTypes: true });
    const stored = files
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name));
    return [
      ...(await Promise.all(
        stored.map(async (file) => ({ where: file, text: await readFile(file, 'utf8') })),
      )),
      { where: 'what was printed', text: said.join('') },
      { where: 'requests to models', text: JSON.stringify(messages.requests.map(({ body }) => body)) },
      { where: 'refused requests to models', text: JSON.stringify(messages.refused) },
      ...telegram
        .calls()
        .map(({ method, args }) => ({ where: `Telegram ${method}`, text: JSON.stringify(args) })),
      ...slack.calls
        .all()
        .map((call) => ({ where: `Slack ${call.method}`, text: JSON.stringify(call.args) })),
    ];
  };
  return { telegram, slack, messages, bot, all };
}
