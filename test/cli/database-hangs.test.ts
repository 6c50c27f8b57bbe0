import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { startLine } from '../support/held-line.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { openCliHome } from '../support/run-cli.ts';
import { openRunningBot, startRunningBot } from '../support/running-bot.ts';

/** What asks a running bot, and what it asks the store for. */
const commands = [
  ['status'],
  ['tasks'],
  ['inbox', 'list'],
  ['inbox', 'retry', 'k'],
  ['outbox', 'list'],
  ['pair', 'list'],
  ['pair', 'claim'],
  ['pair', 'revoke', 'telegram:42'],
  ['policy', 'list'],
  ['routines'],
  ['memory', 'list', 'telegram:42'],
  ['stats'],
  ['forget', 'telegram:42', '--yes'],
] as const;

const server = await startPostgres();
if (server === undefined) {
  test('L1 Q11 commands end while the database hangs', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  const database = async (t: Parameters<typeof startLine>[0]) => {
    const url = new URL(await server.database());
    const line = await startLine(t, `${url.searchParams.get('host')}/.s.PGSQL.5432`);
    return { line, toml: `[store]\nurl = "postgres://skillet@127.0.0.1:${line.port}${url.pathname}"\n` };
  };

  test('L1 Q11 every question to a running bot ends with a sentence and 1 while its database hangs, and works after it', async (t) => {
    const { line, toml } = await database(t);
    const home = await openCliHome(t);
    const bot = await openRunningBot(t, home, `${toml}[sandbox]\nmode = "virtual"\n`);
    line.hold(true);
    const ended = await Promise.all(
      commands.map(async (args) => {
        const { code, stderr } = await home.run([...args]);
        return [args.join(' '), code, /[Tt]he (?:store|database)/.test(stderr) || stderr] as const;
      }),
    );
    assert.deepEqual(
      ended,
      commands.map((args) => [args.join(' '), 1, true]),
    );
    line.hold(false);
    await bot.end();
  });

  test('Q7 Q11 SIGTERM ends a bot whose database hangs', async (t) => {
    const { line, toml } = await database(t);
    const home = await openCliHome(t);
    const { process: child } = await startRunningBot(
      t,
      home,
      `[bot]\nshutdown_seconds = 1\n${toml}[sandbox]\nmode = "virtual"\n`,
    );
    line.hold(true);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null];
    assert.equal(signal, null);
    assert.ok(code === 0 || code === 1);
  });
}
