import assert from 'node:assert/strict';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { openRunningBot, startRunningBot } from '../support/running-bot.ts';

type Chat = Readonly<{
  process: ChildProcessWithoutNullStreams;
  type(line: string): void;
  /** Everything that was printed, once that matches. */
  prints(pattern: RegExp): Promise<string>;
  errors(): string;
}>;

/** `skillet chat` with its input open. */
function openChat(t: TestContext, { folder }: CliHome, ...args: readonly string[]): Chat {
  const child = spawn(process.execPath, [cliPath, 'chat', ...args], {
    cwd: folder,
    env: childEnv(folder),
  });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return {
    process: child,
    type: (line) => void child.stdin.write(`${line}\n`),
    async prints(pattern) {
      while (!pattern.test(printed)) {
        const ended = once(child.stdout, 'end').then(() =>
          Promise.reject(new Error(`${pattern} in: ${printed}`)),
        );
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
      return printed;
    },
    errors: () => errors,
  };
}

async function exitOf({ process: child }: Chat): Promise<unknown> {
  return child.exitCode ?? (await once(child, 'exit'))[0];
}

test('Q9 H5 chat --once becomes a terminal of the bot that runs, with --user, --as and its access rules', async (t) => {
  const home = await openCliHome(t);
  const bot = await startRunningBot(
    t,
    home,
    '[access]\nusers = ["terminal:bob"]\n[skills.dice]\nsensitive = true\n',
  );
  const { run, runAlone } = home;
  const first = await runAlone(['chat', '--once', '/dice d20']);
  assert.deepEqual([first.code, first.stderr], [0, '']);
  assert.match(first.stdout, /^No language model[^]*\nd20: \d+ = \d+\n$/);
  assert.match(
    (await run(['chat', '--once', '/dice d8'])).stdout,
    /^d8: \d+ = \d+\n$/,
    'it is the same conversation',
  );
  assert.match((await run(['chat', '--once', '/whoami'])).stdout, /terminal:owner\W+\(owner\)/);
  assert.match(
    (await run(['chat', '--user', 'eve', '--once', 'let me in'])).stdout,
    /pairing code is [A-Z2-9]{8}/,
  );
  const refused = await run(['chat', '--user', 'bob', '--as', 'group', '--once', '/dice 2d6']);
  assert.match(refused.stdout, /direct message only/);
  assert.match(
    (await run(['chat', '--user', 'bob', '--once', '/dice 2d6'])).stdout,
    /^No language[^]*\n2d6: /,
  );
  const lines = await run(['chat'], { input: '/dice 1d4\n/skills\n' });
  assert.match(lines.stdout, /^1d4: [^]*Skills you can use here/);
  assert.match(
    (await run(['pair', 'list'])).stdout,
    /^pending .* terminal:eve /,
    'nobody at a terminal owns a bot that has platforms',
  );
  assert.equal(bot.process.exitCode, null);
  assert.equal(await bot.end(), 0);
  assert.match(
    (await runAlone(['chat', '--once', '/dice d6'])).stdout,
    /^d6: /,
    'without a bot it is one itself',
  );
});

test('Q9 H5 two terminals at once do not mix, of one person neither, and leaving one leaves the other', async (t) => {
  const home = await openCliHome(t);
  await openRunningBot(t, home);
  const [one, two, bob] = [openChat(t, home), openChat(t, home), openChat(t, home, '--as', 'group')];
  const rounds = [1, 2, 3];
  for (const n of rounds) {
    one.type(`/dice 1d6+${n}0`);
    two.type(`/dice 2d6+${n}0`);
    bob.type(`/dice 3d6+${n}0`);
  }
  for (const [chat, own] of [
    [one, '1d6'],
    [two, '2d6'],
    [bob, '3d6'],
  ] as const) {
    const printed = await chat.prints(new RegExp(`${own}\\+30: .*\\n`));
    assert.deepEqual(
      [...printed.matchAll(/^(\dd6.*):/gm)].map(([, what]) => what),
      rounds.map((n) => `${own}+${n}0`),
    );
  }
  two.process.stdin.end();
  assert.equal(await exitOf(two), 0);
  one.type('/dice 4d6');
  await one.prints(/4d6: /);
});

test('Q9 Q7 when the bot ends its terminals say so and end with 1', async (t) => {
  const home = await openCliHome(t);
  const bot = await openRunningBot(t, home);
  const chat = openChat(t, home);
  chat.type('/dice 1d6');
  await chat.prints(/1d6: /);
  await bot.end();
  assert.equal(await exitOf(chat), 1);
  assert.match(chat.errors(), /^The bot has ended\./);
});

test('Q9 H5 a chat that is the bot itself takes other terminals, and ends them with itself', async (t) => {
  const home = await openCliHome(t);
  const host = openChat(t, home);
  host.type('/dice 1d6');
  await host.prints(/1d6: /);
  const guest = openChat(t, home, '--user', 'bob');
  guest.type('hello');
  await guest.prints(/pairing code/);
  host.process.stdin.end();
  assert.equal(await exitOf(host), 0);
  assert.equal(await exitOf(guest), 1);
});

test('H5 M4 a terminal of a running bot whose model is away says so at once, ends with 1 and leaves nothing set aside', async (t) => {
  const home = await openCliHome(t);
  await openRunningBot(
    t,
    home,
    '[models.default]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\napi_key = "key-0123456789"\n',
  );
  const { code, stdout } = await home.run(['chat', '--once', 'hello']);
  assert.equal(code, 1);
  assert.match(stdout, /\S+ \S+/);
  assert.match((await home.run(['inbox', 'list'])).stdout, /No dead letters/);
  assert.match((await home.run(['inbox', 'list', '--waiting'])).stdout, /There are no unanswered messages/);
});
