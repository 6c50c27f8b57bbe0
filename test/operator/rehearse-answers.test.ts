import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { after, before, test, type TestContext } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import type { Entry } from '../../src/core/entry.ts';
import { notInRecord } from '../../src/operator/rehearse/answer-from-record.ts';
import { userContent } from '../../src/runs/user-content.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startMessagesServer, type Script } from '../servers/messages/messages-server.ts';
import { resultsIn, type ScriptedCall } from '../support/call-steps.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { startWholeBot } from '../support/whole-bot.ts';

let postgres: PostgresServer | undefined;
before(async () => {
  postgres = await startPostgres();
});
after(() => postgres?.close());

type Planted = Readonly<{
  chat: string;
  text: string;
  answer?: string;
  calls?: readonly (ScriptedCall & Readonly<{ result?: string }>)[];
  joined?: string;
  taint?: string;
  person?: number;
}>;

const tokens = { input: 1_000, output: 100, cacheRead: 2_000, cacheWrite: 0 };

/** Plants turns as a bot would have stored them, an hour ago. */
async function plant(url: string, turns: readonly Planted[]): Promise<void> {
  const store = await openStore(url);
  let at = Date.now() - 3_600_000;
  for (const [n, turn] of turns.entries()) {
    const { chat, text, answer, calls = [], joined, taint, person = 1 } = turn;
    const transcript = `telegram:${chat}`;
    const said = (words: string, id: string) =>
      makeMessage({
        ...{ id, text: words, conversation: { channel: 'telegram', chat } },
        chatType: chat.startsWith('-') ? 'group' : 'private',
        sender: { id: `telegram:${person}`, name: 'Ann', kind: 'person' },
      });
    const user = (words: string, id: string, joins?: string): Entry => ({
      ...{ kind: 'user', item: id, sender: `telegram:${person}`, joins, taint, at: (at += 1_000) },
      content: userContent(said(words, id), { background: [] }),
    });
    const model = (content: object, stopReason: 'tool_use' | 'end_turn'): Entry =>
      ({
        kind: 'assistant',
        content: [content],
        stopReason,
        tokens,
        model: 'claude-haiku-4-5',
        at: (at += 1),
      }) as Entry;
    const item = `${transcript}:${n}`;
    const entries = [
      user(text, item),
      ...calls.flatMap(({ name, input, result = '' }, of): readonly Entry[] => [
        model({ type: 'tool_use', id: `t${n}-${of}`, name, input, caller: { type: 'direct' } }, 'tool_use'),
        { kind: 'tool_started', toolUseId: `t${n}-${of}`, at },
        { kind: 'tool_result', toolUseId: `t${n}-${of}`, content: result, isError: false, at },
      ]),
      ...(joined === undefined ? [] : [user(joined, `${item}-more`, item)]),
      ...(answer === undefined ? [] : [model({ type: 'text', text: answer, citations: null }, 'end_turn')]),
    ];
    await store.commit({ entries: entries.map((entry) => ({ transcript, entry })) });
  }
  await store.close();
}

/** A server that answers nothing and counts who comes. It takes the place of chats and pages. */
async function startTrap(t: TestContext): Promise<Readonly<{ url: string; visits(): number }>> {
  let visits = 0;
  const server = createServer((_, response) => {
    visits += 1;
    response.writeHead(500).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, visits: () => visits };
}

type Stage = Readonly<{
  home: CliHome;
  url: string;
  messages: Awaited<ReturnType<typeof startMessagesServer>>;
  trap: Awaited<ReturnType<typeof startTrap>>;
  run(...args: readonly string[]): ReturnType<CliHome['run']>;
}>;

async function stage(
  t: TestContext,
  turns: readonly Planted[],
  { script, on = 'sqlite', more = '' }: { script: Script; on?: 'sqlite' | 'postgres'; more?: string },
): Promise<Stage> {
  const home = await openCliHome(t);
  const url =
    on === 'postgres'
      ? ((await postgres?.database()) ?? '')
      : `sqlite:${path.join(home.folder, 'data/skillet.db')}`;
  const messages = await startMessagesServer({ script });
  t.after(messages.close);
  const trap = await startTrap(t);
  const toml = `[bot]
owner = ["telegram:1"]
[store]
url = "${url}"
[telegram]
token = "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
api_root = "${trap.url}"
[access]
dm = "open"
groups_mode = "open"
group_users = ["*"]
[sandbox]
mode = "virtual"
`;
  await home.write('config.toml', toml);
  await home.write(
    'new.toml',
    `${toml}${more}[models.fast]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\nprice_in = 10\nprice_out = 100\n`,
  );
  await plant(url, turns);
  const run = (...args: readonly string[]) => home.run(['rehearse', '--config', 'new.toml', ...args]);
  return { home, url, messages, trap, run };
}

/** All rows of the store, as far as a session of its own does not make some. */
async function rowsOf({ url }: Stage): Promise<string> {
  if (!url.startsWith('sqlite:')) {
    const tables =
      (await postgres?.run(
        url,
        `SELECT table_schema, table_name FROM information_schema.tables
      WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE' ORDER BY 1, 2`,
      )) ?? [];
    const rows: string[] = [];
    for (const { table_schema, table_name } of tables)
      if (!/process|signal/.test(String(table_name)))
        rows.push(
          JSON.stringify(
            await postgres?.run(
              url,
              `SELECT * FROM "${String(table_schema)}"."${String(table_name)}" AS one ORDER BY one::text`,
            ),
          ),
        );
    return rows.join('\n');
  }
  const db = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
  const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`).all();
  const rows = tables.map(({ name }) => JSON.stringify(db.prepare(`SELECT * FROM "${String(name)}"`).all()));
  db.close();
  return rows.join('\n');
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    files
      .filter(
        (one) => one.isFile() && !one.name.startsWith('skillet.db') && !one.parentPath.includes('.cache'),
      )
      .map(async (one) => {
        const file = path.join(one.parentPath, one.name);
        return `${file} ${createHash('sha256')
          .update(await readFile(file))
          .digest('hex')}`;
      }),
  );
}

const group = '-100';
const page = { url: 'https://example.com/plan' };
const rain = 'Is it raining?';
const turns: readonly Planted[] = [
  { chat: group, text: rain, answer: 'No, the sun shines.' },
  {
    ...{ chat: group, text: 'What does the plan say?', answer: 'It says lunch at noon.' },
    calls: [{ name: 'web_fetch', input: page, result: 'Lunch is at 12:00 (zebra-1).' }],
  },
  {
    ...{ chat: group, text: 'Roll two dice', answer: 'You rolled 7.' },
    calls: [
      { name: 'use_skill', input: { skill: 'dice', message: 'roll 2d6' }, result: 'Total 7 (zebra-2).' },
    ],
  },
  {
    ...{ chat: group, text: 'Call the moon', answer: 'It is up.' },
    calls: [{ name: 'mcp_sky_moon', input: { day: 1 }, result: 'The moon is up (zebra-3).' }],
  },
];

/** A new model that calls what the old one did, in words of its own, and one thing that nobody called before. */
const curious: Script = (body) => {
  const said = JSON.stringify(body.messages.at(-1));
  const all = JSON.stringify(body.messages);
  const results = said.includes('tool_result') ? resultsIn(body) : [];
  const call = (name: string, input: unknown) => ({
    content: [{ type: 'tool_use' as const, id: `new_${body.messages.length}`, name, input }],
    stopReason: 'tool_use' as const,
  });
  if (results.length > 0) return `I read ${results.at(-1)}`;
  if (said.includes('Roll two')) return call('use_skill', { skill: 'dice', message: 'please roll two dice' });
  if (said.includes('plan say')) return call('web_fetch', page);
  if (said.includes('the moon')) return call('mcp_sky_moon', { day: 1 });
  assert.ok(all.includes(rain));
  return call('web_fetch', { url: 'https://example.com/weather' });
};

const fetching = '[agent]\ntools = ["use_skill", "web_fetch"]\n';
const sky = '[mcp.sky]\nurl = "http://127.0.0.1:1/mcp"\n';

for (const on of ['sqlite', 'postgres'] as const)
  test(`L20 a sample is answered again with tools from the record, and nothing runs, is sent or stored, on ${on}`, async (t) => {
    if (on === 'postgres' && postgres === undefined) return t.skip(noPostgres);
    const set = await stage(t, turns, { script: curious, on, more: `${fetching}${sky}` });
    const [rows, files] = [await rowsOf(set), await filesIn(set.home.folder)];
    assert.match(rows, /zebra-1/);
    const { code, stdout, stderr } = await set.run('--model', 'fast', '--sample', '10', '--yes');
    assert.deepEqual([code, stderr], [3, ''], stdout);
    assert.match(stdout, /Chosen: 4 of 4 turns since/);
    assert.match(stdout, /No, the sun shines\. +│\n +│ I read /);
    assert.match(stdout, /It says lunch at noon\. +│ I read .*12:00/);
    for (const one of [1, 2, 3]) assert.match(stdout, new RegExp(`zebra-${one}`));
    assert.match(stdout, /calls: use_skill +│ calls: use_skill$/m);
    assert.match(stdout, /calls: web_fetch \(not in the record\)/);
    assert.match(
      stdout,
      /Answered again: 4 turns; 0 without a whole answer, 0 not asked\. 1 call was not in the record\./,
    );
    assert.match(
      stdout,
      /claude-haiku-4-5: 3100 tokens, \$0\.\d+ +│ claude-sonnet-5-5: \d+ tokens, \$0\.\d+/,
    );
    assert.match(stdout, /In all: 21700 tokens, \$\d\.\d+ then; \d+ tokens, \$\d\.\d+ now\./);
    assert.ok(set.messages.requests.some(({ body }) => JSON.stringify(body.messages).includes(notInRecord)));
    const [first] = set.messages.requests;
    assert.match(JSON.stringify(first?.body.system), /dice/, 'the prompt lists the skills of the new config');
    assert.ok(first?.body.tools?.some(({ name }) => name === 'web_fetch'));
    assert.equal(set.trap.visits(), 0);
    assert.equal(await rowsOf(set), rows);
    assert.deepEqual(await filesIn(set.home.folder), files);
  });

test('L20 what the new config does not offer is not answered from the record', async (t) => {
  const set = await stage(t, turns, { script: curious });
  const { code, stdout } = await set.run('--model', 'fast', '--sample', '10', '--yes');
  assert.equal(code, 3);
  const offered = set.messages.requests.flatMap(({ body }) => body.tools?.map(({ name }) => name) ?? []);
  assert.ok(!offered.includes('mcp_sky_moon') && !offered.includes('web_fetch'));
  assert.match(stdout, /3 calls were not in the record\./);
  assert.doesNotMatch(stdout, /I read .*zebra-[13]/);
  assert.match(stdout, /zebra-2/);
});

test('S8 S7 L20 words of direct messages and of conversations with private data need --private', async (t) => {
  const secret: readonly Planted[] = [
    { chat: '1', text: 'My door code is otter-1', answer: 'I keep otter-2.' },
    { chat: '-200', text: 'Show me the ledger', answer: 'The ledger says otter-3.', taint: 'ledger' },
  ];
  const set = await stage(t, [...turns.slice(0, 1), ...secret], { script: () => 'Fine.' });
  const args = ['--model', 'fast', '--sample', '10', '--yes'];
  const without = await set.run(...args);
  assert.equal(without.code, 0, without.stdout);
  assert.match(without.stdout, /Chosen: 1 of 1 turn since/);
  assert.match(without.stdout, /Left out: 2 turns of direct messages, or with private data: add --private\./);
  assert.doesNotMatch(without.stdout + JSON.stringify(set.messages.requests), /otter/);
  const whole = await set.run(...args, '--private');
  for (const one of [1, 2, 3]) assert.match(whole.stdout, new RegExp(`otter-${one}`));
});

test('L20 the same record gives the same sample, and a smaller one is a part of it', async (t) => {
  const many = Array.from({ length: 30 }, (_, n) => ({
    chat: group,
    text: `Question ${n}`,
    answer: `A${n}`,
  }));
  const set = await stage(t, many, { script: () => 'Fine.' });
  const sample = async (count: number): Promise<readonly string[]> => {
    const { stdout } = await set.run('--model', 'fast', '--sample', String(count), '--yes', '--json');
    const { turns: pairs } = JSON.parse(stdout) as { turns: readonly { question: string }[] };
    return pairs.map(({ question }) => question);
  };
  const [five, again, ten, all] = [await sample(5), await sample(5), await sample(10), await sample(99)];
  assert.deepEqual(five, again);
  assert.equal(five.length, 5);
  assert.ok(five.every((one) => ten.includes(one)));
  assert.equal(all.length, 30);
  assert.notDeepEqual(five, all.slice(0, 5));
});

test('L20 if the model fails for some turns, the others are still shown', async (t) => {
  const set = await stage(t, turns.slice(0, 3), {
    script: (body) => (JSON.stringify(body.messages.at(-1)).includes('plan say') ? { status: 401 } : 'Fine.'),
  });
  const { code, stdout } = await set.run('--model', 'fast', '--sample', '3', '--yes');
  assert.equal(code, 3);
  assert.match(stdout, /\[no whole answer: /);
  assert.equal(stdout.match(/│ Fine\.$/gm)?.length, 2);
  assert.match(stdout, /Answered again: 2 turns; 1 without a whole answer/);
  assert.match(stdout, /In all: /);
});

test('L20 what joined a turn joins it again, and what the new config refuses or the record lacks is said', async (t) => {
  const set = await stage(
    t,
    [
      { chat: group, text: 'Buy milk', joined: 'and bread', answer: 'Milk and bread.' },
      { chat: group, text: 'Nobody answered this' },
      { chat: group, text: 'Who am I?', answer: 'Bob.', person: 2 },
    ],
    { script: (body) => `Heard ${JSON.stringify(body.messages).includes('and bread') ? 'both' : 'one'}.` },
  );
  await set.home.write(
    'new.toml',
    (await readFile(path.join(set.home.folder, 'new.toml'), 'utf8')).replace('["*"]', '["telegram:1"]'),
  );
  const { code, stdout } = await set.run('--model', 'fast', '--sample', '9', '--yes');
  assert.equal(code, 3);
  assert.match(stdout, /Milk and bread\. +│ Heard both\./);
  assert.match(stdout, /Left out: 1 turns that no model answered\./);
  assert.match(stdout, /\[no whole answer: the new config refuses this message:\n +│ NOT_ALLOWED\]/);
});

test('L20 nothing is sent without a yes, and wrong options say what to write', async (t) => {
  const set = await stage(t, turns, { script: () => 'Fine.' });
  const unasked = await set.run('--model', 'fast', '--sample', '2');
  assert.deepEqual([unasked.code, /add --yes/.test(unasked.stderr)], [2, true]);
  assert.doesNotMatch(unasked.stdout, /raining|lunch|rolled/);
  const unknown = await set.run('--model', 'fastt', '--sample', '2', '--yes');
  assert.deepEqual([unknown.code, /--model fastt: .*did you mean fast\?/.test(unknown.stderr)], [1, true]);
  for (const args of [
    ['--model', 'fast'],
    ['--sample', '3'],
    ['--private'],
    ['--model', 'fast', '--sample', '3', '--version', '..'],
  ]) {
    const wrong = await set.run(...args);
    assert.deepEqual(
      [wrong.code, /needs --model ALIAS and --sample NUMBER/.test(wrong.stderr)],
      [1, true],
      args.join(' '),
    );
  }
  const later = await set.run('--model', 'fast', '--sample', '2', '--since', '1m', '--yes');
  assert.deepEqual([later.code, /No turn since .* can be answered again\./.test(later.stderr)], [1, true]);
  assert.equal(set.messages.requests.length, 0);

  const empty = await openCliHome(t);
  await empty.write(
    'new.toml',
    '[models.fast]\nmodel = "claude-sonnet-5-5"\napi_key = "test-key-0123456789"\n',
  );
  const args = ['--config', 'new.toml', '--model', 'fast', '--sample', '2', '--yes'];
  assert.equal((await empty.run(['rehearse', ...args])).code, 1);
  assert.deepEqual(await readdir(empty.folder), ['new.toml']);
});

test('L20 beside a running bot, its turns are answered again, and its chats hear nothing', async (t) => {
  const toml = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';
  const bot = await startWholeBot(t, { toml, script: (_, index) => `Answer ${index}.` });
  const room = bot.telegram.group({ title: 'Team' });
  bot.telegram.person({ name: 'Ann' }).says('@test_bot hello', { in: room });
  await room.nextMessage('Answer 0.');
  await bot.bot.idle();
  const heard = room.everSent().length;
  const args = ['rehearse', '--config', 'config.toml', '--model', 'default', '--sample', '3', '--yes'];
  const { stdout } = await promisify(execFile)(process.execPath, [cliPath, ...args], {
    ...{ cwd: bot.home, env: childEnv(bot.home) },
  });
  assert.match(stdout, /Answer 0\. +│ Answer 1\./);
  assert.equal(room.everSent().length, heard);
  const { turns } = await bot.bot.operate('rehearse sample', {
    ...{ since: new Date(Date.now() - 600_000).toISOString(), most: 9, private: true },
  });
  assert.equal(turns.length, 1, 'the rehearsal is no turn of its own');
  const bob = bot.telegram.person({ name: 'Bob' });
  bob.says('a word for you alone');
  await bob.dm.nextMessage(/^Answer/);
  await bot.bot.idle();
  const since = new Date(Date.now() - 600_000).toISOString();
  const all = await bot.bot.operate('rehearse sample', { since, most: 9, private: true });
  const shown = await Promise.all(
    all.turns.map(async ({ isPrivate, ...turn }) => [
      isPrivate,
      (await bot.bot.operate('rehearse turn', { ...turn, private: false })) !== undefined,
    ]),
  );
  assert.deepEqual(shown.sort(), [
    [false, true],
    [true, false],
  ]);
});
