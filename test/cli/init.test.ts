import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { sandboxHere } from '../support/bubblewrap-here.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { noTerminal, openTerminal } from '../support/shell-at-terminal.ts';

/** The wizard in a process of its own, whose words can be waited for. */
function startInit(t: TestContext, home: CliHome, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [cliPath, 'init', ...args], {
    cwd: home.folder,
    env: { ...childEnv(home.folder), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close').then(([code]) => code as number);
  return {
    async until(pattern: RegExp): Promise<string> {
      for (;;) {
        const found = pattern.exec(said);
        if (found !== null) return found[1] ?? found[0];
        const gone = ended.then(() => 'gone' as const);
        const next = Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), gone]);
        if ((await next) === 'gone' && !pattern.test(said))
          throw new Error(`it ended before ${pattern}: ${said}`);
      }
    },
    ended,
    said: () => said,
  };
}

const file = (home: CliHome, name: string): Promise<string> => readFile(path.join(home.folder, name), 'utf8');

async function pleasesDoctor(home: CliHome, env: Readonly<Record<string, string>>): Promise<void> {
  await home.write('config.toml', `${await file(home, 'config.toml')}${sandboxHere}`);
  const doctor = await home.run(['doctor', '--online'], { env });
  assert.equal(doctor.code, 0, doctor.stdout);
}

test('L1 A10 H13 init by flags: tokens tried, the owner found by a code, a group by adding the bot', async (t) => {
  const home = await openCliHome(t);
  const telegram = await startTelegramServer({ privacy: false });
  t.after(() => telegram.close());
  const model = await startMessagesServer({ script: () => 'ok', apiKey: 'sk-canary-1' });
  t.after(() => model.close());
  await home.write('.env', '# mine\nOTHER=1\nMODEL_API_KEY=old\n');
  const [ann, eve] = [telegram.person({ name: 'Ann Lee' }), telegram.person({ name: 'Eve' })];
  const init = startInit(
    t,
    home,
    [
      ...['--base-url', model.url, '--model', 'claude-haiku-5-5', '--api-key', 'sk-canary-1'],
      ...['--telegram-token', '$BOT_TOKEN', '--telegram-api-root', telegram.url],
      ...['--find-owner', '--find-group'],
    ],
    { BOT_TOKEN: telegram.token },
  );
  const code = await init.until(/^ {2}([A-Z0-9]{10})$/m);
  eve.says('is this the code: AAAAAAAAAA');
  const group = telegram.group({ title: 'Friends' });
  group.setBot('absent');
  ann.says(`/start ${code}`);
  assert.match((await ann.dm.nextMessage()).text, /You are my owner now/);
  await init.until(/Add the bot to the group/);
  group.setBot('member', { id: eve.id, first_name: 'Eve' });
  group.setBot('absent', { id: ann.id, first_name: 'Ann' });
  group.setBot('member', { id: ann.id, first_name: 'Ann' });
  assert.equal(await init.ended, 0, init.said());
  assert.doesNotMatch(init.said(), /sk-canary|AAtest/);
  const config = await file(home, 'config.toml');
  assert.match(config, new RegExp(`owner = \\[\\n {2}"telegram:${ann.id}", # Ann Lee\\n\\]`));
  assert.match(config, new RegExp(`groups = \\[\\n {2}"telegram:${group.id}", # Friends\\n\\]`));
  assert.match(config, /# @test_bot\ntoken = "\$BOT_TOKEN"/);
  assert.doesNotMatch(config, /sk-canary|AAtest/);
  assert.equal(await file(home, '.env'), '# mine\nOTHER=1\nMODEL_API_KEY=sk-canary-1\n');
  for (const name of ['config.toml', '.env'])
    assert.equal((await stat(path.join(home.folder, name))).mode & 0o777, 0o600, name);
  await pleasesDoctor(home, { BOT_TOKEN: telegram.token });
  // What was said to the wizard is not said to the bot again.
  assert.equal(telegram.queue.waiting().length, 0);
});

test('L1 init for Slack: the owner by a code over Socket Mode', async (t) => {
  const home = await openCliHome(t);
  const slack = await startSlackServer();
  t.after(() => slack.close());
  const anna = slack.workspace.addUser('anna');
  const init = startInit(t, home, [
    ...['--slack-bot-token', slack.tokens.bot, '--slack-app-token', slack.tokens.app],
    ...['--slack-api-url', slack.url, '--find-owner'],
  ]);
  const code = await init.until(/^ {2}([A-Z0-9]{10})$/m);
  slack.people.dm(anna, code.toLowerCase());
  assert.equal(await init.ended, 0, init.said());
  assert.match(
    await file(home, 'config.toml'),
    new RegExp(`owner = \\[\\n {2}"slack:${anna.id}", # anna\\n\\]`),
  );
  assert.match(await file(home, '.env'), /^SLACK_BOT_TOKEN=xoxb-.*\nSLACK_APP_TOKEN=xapp-.*\n$/);
  await pleasesDoctor(home, {});
});

test('L1 init writes nothing if a token is refused, a code never comes, or a config is there', async (t) => {
  const home = await openCliHome(t);
  const telegram = await startTelegramServer();
  t.after(() => telegram.close());
  const root = ['--telegram-api-root', telegram.url];
  const wrong = '123456789:AAwrongwrongwrongwrongwrongwrongwrong';
  const refused = await home.run(['init', '--yes', '--telegram-token', wrong, ...root]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /Telegram does not know this bot token\. Copy it again from @BotFather \(\/mybots, API Token\)\. --offline/,
  );
  const good = ['init', '--yes', '--telegram-token', telegram.token, ...root];
  const late = await home.run([...good, '--find-owner', '--wait', '1']);
  assert.match(late.stderr, /^Nobody sent the code within 1 s\.\n$/);
  const unset = await home.run(['init', '--yes', '--telegram-token', '$NO_SUCH']);
  assert.match(unset.stderr, /The environment has no NO_SUCH/);
  await assert.rejects(file(home, 'config.toml'), /ENOENT/);
  await assert.rejects(file(home, '.env'), /ENOENT/);
  assert.equal((await home.run([...good, '--owner', 'telegram:7'])).code, 0);
  const before = await file(home, 'config.toml');
  const again = await home.run([...good, '--owner', 'telegram:8']);
  assert.match(again.stderr, /config\.toml exists already: .*--replace/);
  assert.equal(await file(home, 'config.toml'), before);
  assert.equal((await home.run([...good, '--owner', 'telegram:8', '--replace'])).code, 0);
  assert.equal(await file(home, 'config.toml.old'), before);
  assert.match(await file(home, 'config.toml'), /"telegram:8"/);
  assert.equal((await home.run(['init', '--owner', 'Ann'])).code, 2);
});

test('L1 init without an account: what no flag says is left out, and chat answers', async (t) => {
  const home = await openCliHome(t);
  const { code, stdout } = await home.run(['init', '--name', 'Bo "the bot"', '--config', 'deep/config.toml']);
  assert.equal(code, 0);
  assert.match(stdout, /skillet start --config .*deep\/config\.toml/);
  await assert.rejects(file(home, 'deep/.env'), /ENOENT/);
  const checked = await home.run(['config', 'check', '--config', 'deep/config.toml']);
  assert.equal(checked.code, 0, checked.stdout);
  const chat = await home.run(['chat', '--config', 'deep/config.toml', '--once', '/start']);
  assert.match(chat.stdout, /I am Bo "the bot"/);
});

test(
  'L1 init at a terminal asks step by step, and asks again what was refused',
  { skip: noTerminal },
  async (t) => {
    const home = await openCliHome(t);
    const telegram = await startTelegramServer({ privacy: false });
    t.after(() => telegram.close());
    const ann = telegram.person({ name: 'Ann' });
    const wrong = '123456789:AAwrongwrongwrongwrongwrongwrongwrong';
    const args = ['init', '--telegram-api-root', telegram.url];
    const terminal = await openTerminal(t, home, args, { TELEGRAM_BOT_TOKEN: wrong }, 120);
    await terminal.until(/What is the bot called/);
    terminal.type('\r');
    await terminal.until(/Which language model/);
    terminal.type(`${'\u001b[B'.repeat(5)}\r`);
    await terminal.until(/Connect Telegram/);
    terminal.type('\r');
    await terminal.until(/TELEGRAM_BOT_TOKEN is in the environment/);
    terminal.type('\r');
    await terminal.until(/does not know this bot token\. Copy it again from @BotFather/);
    await terminal.until(/Bot token/);
    terminal.type(`${telegram.token}\r`);
    await terminal.until(/Telegram knows the bot: @test_bot/);
    await terminal.until(/Connect Slack/);
    terminal.type('\r');
    await terminal.until(/become its owner/);
    const code = /[A-Z0-9]{10}/.exec(await terminal.until(/[A-Z0-9]{10}/))?.[0] ?? '';
    await terminal.until(/t\.me\/test_bot\?start=/);
    ann.says(code);
    await terminal.until(/The owner is Ann/);
    await terminal.until(/Use it in a group/);
    terminal.type('\r');
    assert.equal(await terminal.ended, 0);
    assert.doesNotMatch(terminal.seen(), /AAtest/);
    assert.match(await file(home, 'config.toml'), /# Ann\n/);
    assert.match(await file(home, '.env'), new RegExp(`TELEGRAM_BOT_TOKEN=${telegram.token}\n`));
  },
);

test(
  'L1 init at a terminal says in the field what is wrong, takes a swapped token for none, and goes back one question by Esc',
  { skip: noTerminal },
  async (t) => {
    const home = await openCliHome(t);
    const model = await startMessagesServer({ script: () => 'ok', apiKey: 'sk-canary-1' });
    t.after(() => model.close());
    const args = ['init', '--telegram-api-root', 'http://127.0.0.1:1'];
    const erase = '\u007f'.repeat(20);
    const terminal = await openTerminal(t, home, args, { TERM: 'xterm', NO_COLOR: '1' }, 120);
    await terminal.until(/Esc goes back one question/);
    await terminal.until(/What is the bot called/);
    terminal.type('Bo\r');
    await terminal.until(/Which language model/);
    terminal.type('\u001b[B\u001b[B\r');
    await terminal.until(/Address of the server/);
    terminal.type('localhost:9\r');
    await terminal.until(/That is not the address of a server/);
    terminal.type(`${erase}${model.url}\r`);
    await terminal.until(/Model/);
    terminal.type('m\u001b');
    await terminal.until(/Address of the server/);
    terminal.type(`${model.url}\r`);
    await terminal.until(/Model/);
    terminal.type('claude-haiku-5-5\r');
    await terminal.until(/want a key/);
    terminal.type('y');
    await terminal.until(/Key of that server/);
    terminal.type('sk-canary-1\r');
    await terminal.until(/The model \S+ answers/);
    await terminal.until(/Connect Telegram/);
    terminal.type('\r');
    await terminal.until(/Bot token/);
    terminal.type('xapp-1-canary\r');
    await terminal.until(/Slack app-level token \(xapp-…\)\. Wanted is a Telegram bot token/);
    terminal.type(`${erase}\r`);
    await terminal.until(/Connect Telegram/);
    terminal.type('n');
    await terminal.until(/Connect Slack/);
    terminal.type('y');
    await terminal.until(/From a manifest and a workspace/);
    await terminal.until(/app-manifest\.yaml/);
    await terminal.until(/Bot token \(xoxb/);
    terminal.type('\u001b');
    await terminal.until(/Connect Slack/);
    terminal.type('n');
    await terminal.until(/Start the bot: skillet start/);
    assert.equal(await terminal.ended, 0);
    assert.doesNotMatch(terminal.seen(), /canary|%20%20/);
    const config = await file(home, 'config.toml');
    assert.match(config, /name = "Bo"/);
    assert.match(config, new RegExp(`base_url = "${model.url}"`));
    assert.match(config, /model = "claude-haiku-5-5"/);
  },
);

test('L1 A10 init with both channels finds an owner on each', async (t) => {
  const home = await openCliHome(t);
  const telegram = await startTelegramServer();
  const slack = await startSlackServer();
  t.after(() => Promise.all([telegram.close(), slack.close()]));
  const ann = telegram.person({ name: 'Ann' });
  const anna = slack.workspace.addUser('anna');
  const init = startInit(t, home, [
    ...['--telegram-token', telegram.token, '--telegram-api-root', telegram.url],
    ...['--slack-bot-token', slack.tokens.bot, '--slack-app-token', slack.tokens.app],
    ...['--slack-api-url', slack.url, '--find-owner'],
  ]);
  const code = await init.until(/on Telegram or Slack:\n {2}([A-Z0-9]{10})$/m);
  ann.says(code);
  slack.people.dm(anna, await init.until(/on Slack:\n {2}([A-Z0-9]{10})\nOn Slack/m));
  assert.equal(await init.ended, 0, init.said());
  const config = await file(home, 'config.toml');
  assert.match(config, new RegExp(`"telegram:${ann.id}", # Ann\n +"slack:${anna.id}", # anna\n`));
});

test('L1 S2 init refuses a swapped token by its flag, and never prints it', async (t) => {
  const home = await openCliHome(t);
  const bot = 'xoxb-1-canary';
  const app = 'xapp-1-canary';
  const telegram = '123456:canary';
  for (const [flags, why] of [
    [['--telegram-token', bot], /TELEGRAM_BOT_TOKEN: That is a Slack bot token/],
    [
      ['--slack-bot-token', app, '--slack-app-token', app],
      /SLACK_BOT_TOKEN: That is a Slack app-level token/,
    ],
    [['--slack-bot-token', bot, '--slack-app-token', bot], /SLACK_APP_TOKEN: That is a Slack bot token/],
    [['--slack-bot-token', 'xoxp-canary'], /That is another token of Slack/],
    [['--telegram-token', 'canary'], /That is no token of this kind\. .*@BotFather/],
    [['--api-key', telegram], /ANTHROPIC_API_KEY: That is a Telegram bot token/],
  ] as const) {
    const { code, stderr, stdout } = await home.run(['init', '--yes', '--offline', ...flags]);
    assert.equal(code, 1, stdout);
    assert.match(stderr, why);
    assert.doesNotMatch(stderr + stdout, /canary/);
  }
});

test('L1 without a channel the first screen names the guided set-up, and so does the help', async (t) => {
  const home = await openCliHome(t);
  const { stdout } = await home.run(['start'], { input: '/skillet-help how do I connect telegram\n/exit\n' });
  assert.match(stdout, /To connect Slack, Telegram or a language model:\n {2}skillet init\n/);
  assert.match(stdout, /skillet init[^]*skillet init/);
});

test('H4 L1 the manifest of the Slack app, and the page that makes one of it', async (t) => {
  const { run } = await openCliHome(t);
  const { stdout } = await run(['manifest', 'slack']);
  const own = await readFile(path.join(import.meta.dirname, '../../app-manifest.yaml'), 'utf8');
  assert.equal(stdout, own);
  const { stdout: link } = await run(['manifest', 'slack', '--link']);
  const asked = new URL(link.trim()).searchParams.get('manifest_yaml') ?? '';
  assert.match(asked, /^ {6}- im:history$/m);
  assert.doesNotMatch(asked, /#/);
});

test('S2 L1 init writes no secret into a git work tree that would track it, and says what to do', async (t) => {
  const home = await openCliHome(t);
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: home.folder, env: { PATH: process.env['PATH'], HOME: home.folder } });
  git('init', '--quiet');
  const token = ['--telegram-token', '123456789:AAtesttesttesttesttesttesttesttesttest'];
  const flags = ['init', '--yes', '--offline', ...token];
  for (const config of ['config.toml', 'bots/one/config.toml']) {
    const refused = await home.run([...flags, '--config', config]);
    assert.equal(refused.code, 1, config);
    assert.match(refused.stderr, /\.env would hold your tokens, .* git work tree .*Nothing was written/);
    assert.match(refused.stderr, /Add a line `\.env` to .*\.gitignore/);
    await assert.rejects(file(home, path.join(path.dirname(config), '.env')), /ENOENT/);
    await assert.rejects(file(home, config), /ENOENT/);
  }
  // The variable is set already, so no secret is written.
  const named = ['init', '--yes', '--offline', '--telegram-token', '$BOT_TOKEN', '--config', 'named.toml'];
  const set = await home.run(named, { env: { BOT_TOKEN: token[1] ?? '' } });
  assert.equal(set.code, 0, set.stderr);
  // A file that is committed is tracked, whatever is ignored now.
  await home.write('.env', 'A=1\n');
  git('add', '.env');
  await home.write('.gitignore', '.env\n');
  assert.equal((await home.run(flags)).code, 1);
  git('rm', '--quiet', '--cached', '.env');
  const done = await home.run(flags);
  assert.equal(done.code, 0, done.stderr);
  assert.match(await file(home, '.env'), /TELEGRAM_BOT_TOKEN=/);
});
