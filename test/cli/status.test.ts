import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { sinceWhen } from '../../src/cli/audit.ts';
import { duration } from '../../src/cli/status.ts';
import type { BotStatus } from '../../src/operator/status-of.ts';
import { openStore } from '../../src/store/open-store.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { makeMessage } from '../support/make-message.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';

const storeUrl = ({ folder }: CliHome): string => `sqlite:${path.join(folder, 'data/skillet.db')}`;

test('L12 status of a bot that runs, and of one that does not', async (t) => {
  const home = await openCliHome(t);
  const bot = await openRunningBot(t, home, '[bot]\nowner = ["telegram:42"]\n');
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  ann.says('/whoami');
  await ann.dm.nextMessage();
  const running = await home.run(['status', '--json']);
  const now = JSON.parse(running.stdout) as BotStatus;
  assert.equal(running.code, 0);
  assert.equal(now.process?.readiness.ready, true);
  assert.equal(now.process.readiness.channels['telegram']?.state, 'started');
  assert.notEqual(now.process.readiness.channels['telegram'].lastEventSeconds, null);
  const screen = await home.run(['status']);
  assert.match(screen.stdout, /^bot +Skillet [\d.]+, process \d+, up .*, ready\n/);
  assert.match(screen.stdout, /^telegram +started, last event \d+ s ago$/m);
  assert.match(screen.stdout, /^failed +0 messages/m);
  await bot.end();
  const stopped = await home.run(['status']);
  assert.equal(stopped.code, 1);
  assert.match(stopped.stdout, /^bot +Skillet [\d.]+ is not running\n/);
  assert.doesNotMatch(stopped.stdout, /telegram/);
});

test('G6 status shows what this month cost, its budget, and a forecast of its end', async (t) => {
  const home = await openCliHome(t);
  await home.write(
    'config.toml',
    '[bot]\ntimezone = "UTC"\n[models.default]\nmodel = "m"\nprice_in = 0\nprice_out = 1\n[limits.global]\nusd_per_month = 50\n',
  );
  const none = await home.run(['status']);
  assert.match(none.stdout, /^month +0\.00 dollars, of 50 by \[limits\.global\] usd_per_month$/m);
  const store = await openStore(storeUrl(home));
  const now = Date.now();
  const dayBefore = (days: number): string => new Date(now - days * 86_400_000).toISOString().slice(0, 10);
  const tokens = { input: 0, output: 3_000_000, cacheRead: 0, cacheWrite: 0 };
  for (const skill of ['dice', ''])
    for (const day of [dayBefore(0), dayBefore(1)])
      await store.commit({
        usage: [{ day, sender: 'telegram:42', conversation: 'telegram:42', skill, model: 'default', tokens }],
      });
  await store.close();
  const { stdout } = await home.run(['status']);
  const { month, today } = { month: dayBefore(0).slice(0, 7), today: new Date(now) };
  const spent = dayBefore(1).startsWith(month) ? 12 : 6;
  const [, shown, atEnd] =
    /^month +([\d.]+) dollars, of 50 by .+, about ([\d.]+) by its end at this rate$/m.exec(stdout) ?? [];
  assert.equal(Number(shown), spent, stdout);
  const left = (Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1) - now) / 86_400_000;
  assert.ok(Math.abs(Number(atEnd) - (spent + 6 * left)) < 0.1, `${atEnd} with ${left} days left`);
});

test('L12 U9 tasks are listed for every chat, with who waits for what', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '');
  assert.equal((await home.run(['tasks'])).stdout, 'There are no background runs.\n');
  const store = await openStore(storeUrl(home));
  const conversation = { channel: 'telegram', chat: '-100' };
  const message = makeMessage({
    id: 'task:abcdef123',
    conversation,
    chatType: 'group',
    sender: { id: 'telegram:42', name: 'Ann', kind: 'person' },
    task: {
      kind: 'run',
      id: 'abcdef123',
      skill: 'dice',
      tool: 'use_skill',
      input: {},
      by: 'person',
      parent: 'p',
      toolUseId: 't',
    },
  });
  await store.commit({ work: [{ queue: 'telegram:-100~1', message }] });
  await store.close();
  const { stdout } = await home.run(['tasks']);
  assert.match(stdout, /^abcdef {2}dice {2}for telegram:42 in telegram:-100 {2}waits since .* UTC\n$/);
  const status = JSON.parse((await home.run(['status', '--json'])).stdout) as BotStatus;
  assert.equal(status.tasks.length, 1);
});

test('L12 how long ago, in short', () => {
  assert.deepEqual([5, 300, 7_500, 200_000].map(duration), ['5 s', '5 min', '2 h 5 min', '2 d 7 h']);
});

test('L15 audit tail filters by person, kind and time', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '[bot]\nowner = ["telegram:1"]\n');
  const store = await openStore(storeUrl(home));
  for (const sender of ['telegram:7', 'telegram:8'])
    await store.keyed('people').set(`paired:${sender}`, { sender, name: 'Eve', since: 1 });
  await store.close();
  for (const sender of ['telegram:7', 'telegram:8'])
    assert.equal((await home.run(['pair', 'revoke', sender])).code, 0);
  const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await home.run(['audit', 'tail', ...args])).stdout.trim().split('\n');
  assert.equal((await lines()).length, 2);
  const [only, ...others] = await lines('--person', 'telegram:8', '--kind', 'pairing', '--since', '1h');
  assert.deepEqual(others, []);
  assert.match(only ?? '', /pairing {2}telegram:8 {2}revoked$/);
  assert.deepEqual(await lines('--kind', 'forgotten'), ['Nothing was recorded.']);
  const noon = Date.parse('2026-11-24T12:00Z');
  assert.equal(sinceWhen('2h', noon), '2026-11-24T10:00:00.000Z');
  assert.equal(sinceWhen('2026-11-24', noon), '2026-11-24T00:00:00.000Z');
  assert.equal(sinceWhen('2026-11-24T10:30', noon), '2026-11-24T10:30:00.000Z');
  assert.equal(sinceWhen('2026-11-24T10:30+02:00', noon), '2026-11-24T08:30:00.000Z');
});

test('L15 audit tail says of each wrong filter what to write', async (t) => {
  const home = await openCliHome(t);
  const cases = [
    [
      ['--since', 'soon'],
      '--since soon: write how long ago, such as 30m, 2h or 7d, or a day such as 2026-11-24.',
    ],
    [['--since', '5'], '--since 5: write how long ago, such as 30m, 2h or 7d, or a day such as 2026-11-24.'],
    [
      ['--since', '2026-02-30'],
      '--since 2026-02-30: write how long ago, such as 30m, 2h or 7d, or a day such as 2026-11-24.',
    ],
    [['--since', '2999-01-01'], '--since 2999-01-01: that is still to come.'],
    [['--person', '42'], '--person 42: write a whole id, such as telegram:42 or slack:U024BE7LH.'],
    [['--kind', 'pairings'], '--kind pairings: did you mean pairing?'],
  ] as const;
  for (const [args, said] of cases) {
    const { code, stderr } = await home.run(['audit', 'tail', ...args]);
    assert.deepEqual([code, stderr], [1, `${said}\n`]);
  }
  assert.match(
    (await home.run(['audit', 'tail', '--kind', 'zzz'])).stderr,
    /write one of approval, .*tool_call/,
  );
  const none = await home.run(['audit', 'tail', '-n', 'all']);
  assert.deepEqual([none.code, /Write a number from 1/.test(none.stderr)], [2, true]);
});

test('L15 audit tail --follow shows what is recorded from now on, each line once, until Ctrl-C', async (t) => {
  const home = await openCliHome(t);
  const bot = await openRunningBot(t, home, '[bot]\nowner = ["telegram:1"]\n');
  const bob = bot.telegram.person({ name: 'Bob', id: 8 });
  bob.says('hello');
  await bob.dm.nextMessage(/pairing code/);
  const child = spawn(process.execPath, [cliPath, 'audit', 'tail', '--follow'], {
    cwd: home.folder,
    env: childEnv(home.folder),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const until = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(said)) await once(child.stdout, 'data');
  };
  const eve = bot.telegram.person({ name: 'Eve', id: 7 });
  const revoke = async (): Promise<void> => {
    eve.says('hello');
    const code = /[A-Z0-9]{8}/.exec((await eve.dm.nextMessage(/pairing code/)).text)?.[0] ?? '';
    assert.equal((await home.run(['pair', 'approve', code])).code, 0);
    assert.equal((await home.run(['pair', 'revoke', 'telegram:7'])).code, 0);
  };
  await until(/message_refused +telegram:8/);
  await revoke();
  await until(/pairing +telegram:7 {2}revoked/);
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.match(/approved/g)?.length, 1);
  await bot.end();
});
