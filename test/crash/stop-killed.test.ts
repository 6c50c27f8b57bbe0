import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { startBotProcess } from '../support/crash/bot-process.ts';
import { killingAt } from '../support/crash/kill-points.ts';
import { knowPeople } from '../support/known-people.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { openCliHome } from '../support/run-cli.ts';

const server = await startPostgres();
after(() => server?.close());

/** A process that dies before a press on a stop button is stored, or as soon as it is and before the turn has ended. */
const dying = (when: 'before' | 'committed') =>
  killingAt({ at: 'UPDATE (skillet\\.)?inbox SET stopped_at', when });

/**
 * A bot whose model begins an answer and never ends it; asked something else it answers. `again`: asked the same once
 * more, it says nothing.
 */
async function setUp(t: TestContext, channel: string, url?: string, again?: true) {
  const { write, folder } = await openCliHome(t);
  const held = Promise.withResolvers<void>();
  const askedAgain = Promise.withResolvers<void>();
  const messages = await startMessagesServer({
    script: (body, index) => {
      if (!/is it so/.test(JSON.stringify(body.messages.at(-1)))) return 'As I said.';
      if (again !== true || index === 0)
        return { content: [{ type: 'text', text: 'I guess so.' }], wire: { hold: held.promise } };
      askedAgain.resolve();
      return held.promise.then(() => 'Yes.');
    },
  });
  t.after(() => {
    held.resolve();
    return messages.close();
  });
  await write(
    'config.toml',
    `[bot]\nshutdown_seconds = 1\n${url === undefined ? '' : `[store]\nurl = "${url}"\n`}${channel}[access]\nusers = ["slack:*", "telegram:1001"]\n[sandbox]\nmode = "virtual"\n[log]\nlevel = "info"\nformat = "json"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  await knowPeople(url ?? `sqlite:${folder}/data/skillet.db`);
  const start = (when?: 'before' | 'committed') => {
    const { file, env } = when === undefined ? killingAt({ at: 'never', when: 'before' }) : dying(when);
    const preload = { file, env: { ...env, SKILLET_KILL_PG: url === undefined ? '' : '1' } };
    const bot = startBotProcess({ folder, config: 'config.toml', preload });
    t.after(() => bot.kill());
    return bot;
  };
  const seen = () => JSON.stringify(messages.requests.at(-1)?.body.messages);
  return { start, seen, requests: messages.requests, askedAgain: askedAgain.promise };
}

test('U15 Q5 killed between a press on a draft’s stop button and the end, the turn ends with its words after the restart', async (t) => {
  const telegram = await startTelegramServer({ privacy: false });
  t.after(() => telegram.close());
  const { start, seen, requests } = await setUp(
    t,
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n`,
  );
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  const first = start('committed');
  ann.says('is it so?');
  await telegram.until('the draft', () => ann.dm.drafts().some(({ text }) => text === 'I guess so.'));
  ann.stops();
  assert.equal((await first.exited).signal, 'SIGKILL');
  assert.equal(ann.dm.sent().length, 0);
  const second = start();
  assert.equal((await ann.dm.nextMessage(/Stopped/)).text, 'I guess so.\n\nStopped.');
  assert.equal(requests.length, 1, 'the model was not asked again');
  ann.says('and now?');
  await ann.dm.nextMessage('As I said.');
  assert.match(seen(), /I guess so\..*The work was stopped in the middle of the answer above/);
  await second.stop();
});

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  const skip = kind === 'PostgreSQL' && server === undefined ? noPostgres : false;
  test(
    `U15 Q1 Q5 on ${kind} killed once a press on Slack’s stop button is stored, the turn ends with its words after the restart`,
    { skip },
    async (t) => {
      const slack = await startSlackServer({ retryDelaysMs: Array.from({ length: 600 }, () => 150) });
      t.after(() => slack.close());
      const url = kind === 'PostgreSQL' ? await server?.database() : undefined;
      const { start, seen, requests } = await setUp(
        t,
        `[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${slack.url}"\nagent_view = true\n`,
        url,
      );
      const anna = slack.workspace.addUser('anna');
      const first = start('committed');
      await slack.socket.greeted.untilCount(1);
      const asked = slack.people.dm(anna, 'is it so?');
      await slack.posted(({ text }) => text.startsWith('I guess so'));
      void slack.people.stop(anna, asked);
      assert.equal((await first.exited).signal, 'SIGKILL');
      const second = start();
      await slack.posted(({ text }) => text === 'I guess so.\n\nStopped.');
      assert.equal(requests.length, 1, 'the model was not asked again');
      slack.people.dm(anna, 'and now?', { thread: asked.ts });
      await slack.posted(({ text }) => text === 'As I said.');
      assert.match(seen(), /I guess so\..*The work was stopped in the middle of the answer above/);
      await second.stop();
      const own = slack.workspace
        .dmWith(anna.id)
        .messages.filter(({ user }) => user === slack.workspace.bot.user);
      assert.deepEqual(
        own.filter(({ deleted }) => !deleted).map(({ text }) => text),
        ['I guess so.\n\nStopped.', 'As I said.'],
      );
      assert.equal([...slack.workspace.sessions.values()][0]?.status, 'active');
    },
  );
}

for (const kind of ['SQLite', 'PostgreSQL'] as const)
  test(
    `U15 Q5 on ${kind} a stop that comes after a kill, before the turn has new words, keeps those that were shown`,
    { skip: kind === 'PostgreSQL' && server === undefined ? noPostgres : false },
    async (t) => {
      const telegram = await startTelegramServer({ privacy: false });
      t.after(() => telegram.close());
      const url = kind === 'PostgreSQL' ? await server?.database() : undefined;
      const { start, seen, requests, askedAgain } = await setUp(
        t,
        `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n`,
        url,
        true,
      );
      const ann = telegram.person({ name: 'Ann', id: 1001 });
      const first = start();
      ann.says('is it so?');
      await telegram.until('the first words', () =>
        ann.dm.drafts().some(({ text }) => text.includes('guess')),
      );
      await first.kill();
      const second = start();
      await askedAgain;
      ann.says('/stop');
      assert.equal((await ann.dm.nextMessage(/Stopped/)).text, 'I guess so.\n\nStopped.');
      assert.equal(requests.length, 2);
      ann.says('and now?');
      await ann.dm.nextMessage('As I said.');
      assert.match(seen(), /I guess so\..*The work was stopped in the middle of the answer above/);
      await second.stop();
    },
  );
