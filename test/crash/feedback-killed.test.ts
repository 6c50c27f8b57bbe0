import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { startBotProcess } from '../support/crash/bot-process.ts';
import { killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { knowPeople } from '../support/known-people.ts';
import { openCliHome } from '../support/run-cli.ts';

const server = await startPostgres();
after(() => server?.close());

async function setUp(t: TestContext, channel: string, store = '') {
  const { write, folder, run } = await openCliHome(t);
  const messages = await startMessagesServer({ script: () => 'At noon.' });
  t.after(() => messages.close());
  await write(
    'config.toml',
    `[bot]\nshutdown_seconds = 1\n${store}${channel}[access]\nusers = ["slack:*", "telegram:1001"]\n[sandbox]\nmode = "virtual"\n[log]\nlevel = "info"\nformat = "json"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  await knowPeople(/url = "(.*)"/.exec(store)?.[1] ?? `sqlite:${folder}/data/skillet.db`);
  const start = (kill?: KillAt) => {
    const { file, env } = killingAt(kill ?? { at: 'never', when: 'before' });
    const preload = { file, env: { ...env, SKILLET_KILL_PG: store === '' ? '' : '1' } };
    const bot = startBotProcess({ folder, config: 'config.toml', preload });
    t.after(() => bot.kill());
    return bot;
  };
  const thumbs = async (): Promise<readonly string[]> => {
    const { stdout, stderr } = await run(['feedback', 'export']);
    assert.equal(stderr, '');
    const rows = stdout.split('\n').filter((line) => line !== '');
    return rows.map((line) => (JSON.parse(line) as { thumb: string }).thumb);
  };
  return { start, thumbs };
}

const write = 'INSERT INTO (skillet\\.)?feedback';

for (const when of ['before', 'committed'] as const)
  for (const kind of ['SQLite', 'PostgreSQL'] as const) {
    const skip = kind === 'PostgreSQL' && server === undefined ? noPostgres : false;
    test(
      `U17 Q1 on ${kind} a process that dies ${when === 'before' ? 'before' : 'after'} a thumb is stored loses none, and asks once`,
      { skip },
      async (t) => {
        const telegram = await startTelegramServer({ privacy: false });
        t.after(() => telegram.close());
        const url = kind === 'PostgreSQL' ? await server?.database() : undefined;
        const { start, thumbs } = await setUp(
          t,
          `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n`,
          url === undefined ? '' : `[store]\nurl = "${url}"\n`,
        );
        const ann = telegram.person({ name: 'Ann', id: 1001 });
        const first = start({ at: write, when });
        ann.says('when?');
        const answer = await ann.dm.nextMessage('At noon.');
        // Its next message comes after the receipt of the answer is stored.
        ann.says('and then?');
        await ann.dm.nextMessage('At noon.');
        ann.reacts(answer.id, ['👎']);
        assert.equal((await first.exited).signal, 'SIGKILL');
        const second = start();
        await ann.dm.nextMessage('What was wrong?');
        await telegram.until('the acknowledgement', () => telegram.queue.waiting().length === 0);
        await second.stop();
        assert.deepEqual(await thumbs(), ['down']);
        assert.equal(ann.dm.sent().filter(({ text }) => text.startsWith('What was wrong?')).length, 1);
      },
    );
  }
