import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { openCliHome } from '../support/run-cli.ts';

test('H5 M1 L1 chat --once asks the offline model, runs a script and leaves with 0', async (t) => {
  const { run, runAlone } = await openCliHome(t);
  const { code, stdout, stderr } = await runAlone(['chat', '--once', 'roll 2d6+1 for me']);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^No language model is connected[^]*To connect one: skillet init\./);
  assert.match(stdout, /2d6\+1: \d \+ \d \+ 1 = \d+/);
  const again = await run(['chat', '--once', '/dice d20']);
  assert.match(again.stdout, /^d20: \d+ = \d+\n$/, 'the conversation goes on: the notice was given');
});

test('T5 T2 a bundled skill that lists web_search warns of nothing where no search is configured', async (t) => {
  const { runAlone } = await openCliHome(t);
  const { code, stdout, stderr } = await runAlone(['chat', '--once', '/research the oldest bridge of Paris']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /none is connected/);
});

test('H5 L1 start without a channel is a chat that says how to connect one, a command a line', async (t) => {
  const { runAlone, write } = await openCliHome(t);
  const { code, stdout } = await runAlone(['start'], { input: '/whoami\n/status\n/skills\n/nonsense\n' });
  assert.equal(code, 0);
  for (const words of [
    'To connect Slack, Telegram or a language model:\n  skillet init\n',
    'terminal:owner (owner)',
    'Model: none is connected',
    '/dice',
  ]) {
    assert.ok(stdout.includes(words), words);
  }
  const connected = '[models.default]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\n';
  await write('config.toml', connected);
  const further = await runAlone(['start'], { input: '/status\n/exit\n' });
  assert.match(further.stdout, /^Model: m \(default\)$/m);
  assert.match(further.stdout, /To connect Slack or Telegram:\n {2}skillet init\n/);
});

test('H5 A9 A11 --user and --as try the access rules: a stranger is not answered, a sensitive skill is not for groups', async (t) => {
  const { run, write } = await openCliHome(t);
  const stranger = await run(['chat', '--user', 'bob', '--once', 'let me in']);
  assert.match(stranger.stdout, /pairing code is [A-Z2-9]{8}/);
  await write('config.toml', '[access]\nusers = ["terminal:bob"]\n[skills.dice]\nsensitive = true\n');
  const refused = await run(['chat', '--user', 'bob', '--as', 'group', '--once', '/dice 2d6']);
  assert.match(refused.stdout, /direct message only/);
  assert.match((await run(['chat', '--user', 'bob', '--once', '/dice 2d6'])).stdout, /2d6: /);
  const silent = await run(['chat', '--user', 'eve', '--as', 'group', '--once', 'hi']);
  assert.match(
    silent.stdout,
    /Not heard: terminal:eve may not talk to the bot in terminal:group until \[access\] users lists "terminal:eve"/,
  );
  assert.equal(silent.code, 1);
  for (const nothing of [
    ['--once', ' '],
    ['--user', '', '--once', 'hi'],
  ])
    assert.equal((await run(['chat', ...nothing])).code, 2);
  const wrong = await run(['chat', '--as', 'party', '--once', 'hi']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /private, group, channel/);
});

test('G2 Q8 a broken config or store ends with 1 and the fix, not with a stack', async (t) => {
  const { run, write } = await openCliHome(t);
  await write('config.toml', '[acces]\nusers = []\n[agent]\nmax_turns = "many"\n');
  const broken = await run(['start']);
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /config\.toml:1[^]*access/);
  assert.match(broken.stderr, /config\.toml:4[^]*max_turns/);
  await write('config.toml', '[store]\nurl = "sqlite:./note.txt"\n');
  await write(
    'note.txt',
    'this is no database, whatever its name says, and it is long enough to be read as one'.repeat(20),
  );
  const store = await run(['chat', '--once', 'hi']);
  assert.equal(store.code, 1);
  assert.match(store.stderr, /note\.txt can't be used as the store/);
  assert.doesNotMatch(broken.stderr + store.stderr, /^\s+at /m);
});

test('H5 M4 chat --once with a model that is away says so in a sentence and ends with 1', async (t) => {
  const { run, write } = await openCliHome(t);
  await write(
    'config.toml',
    '[models.default]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\napi_key = "key-0123456789"\n',
  );
  const { code, stdout } = await run(['chat', '--once', 'hello']);
  assert.equal(code, 1);
  assert.match(stdout, /\S+ \S+/);
  assert.match((await run(['inbox', 'list'])).stdout, /No dead letters/);
  assert.match((await run(['inbox', 'list', '--waiting'])).stdout, /There are no unanswered messages/);
});

test('H5 M4 L1 chat --once ends with 1 when the model refuses for good, and with 0 when it answers', async (t) => {
  const home = await openCliHome(t);
  const messages = await startMessagesServer({
    script: () => ({ content: [{ type: 'text', text: 'Fine.' }] }),
    apiKey: 'key-right',
  });
  t.after(() => messages.close());
  for (const [key, code, said] of [
    ['key-wrong', 1, /can.t reach my language model/],
    ['key-right', 0, /Fine\./],
  ] as const) {
    await home.write(
      'config.toml',
      `[models.default]\nmodel = "m"\nbase_url = "${messages.url}"\napi_key = "${key}"\n`,
    );
    const ran = await home.run(['chat', '--once', 'hello']);
    assert.deepEqual([ran.code, said.test(ran.stdout)], [code, true], ran.stdout);
  }
});
