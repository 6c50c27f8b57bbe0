import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { startBotProcess } from '../support/crash/bot-process.ts';
import { killingAt } from '../support/crash/kill-points.ts';
import { openCliHome } from '../support/run-cli.ts';

/** A process that dies as soon as a press on a stop button is stored, before the turn has ended. */
const whenStopped = killingAt({ at: 'UPDATE inbox SET stopped_at', when: 'committed' });

/** A bot whose model begins an answer and never ends it; asked something else it answers. */
async function setUp(t: TestContext, channel: string) {
  const { write, folder } = await openCliHome(t);
  const held = Promise.withResolvers<void>();
  const messages = await startMessagesServer({
    script: (body) =>
      /is it so/.test(JSON.stringify(body.messages.at(-1)))
        ? { content: [{ type: 'text', text: 'I guess so.' }], wire: { hold: held.promise } }
        : 'As I said.',
  });
  t.after(() => {
    held.resolve();
    return messages.close();
  });
  await write(
    'config.toml',
    `[bot]\nshutdown_seconds = 1\n${channel}[access]\nusers = ["slack:*", "telegram:1001"]\n[sandbox]\nmode = "virtual"\n[log]\nlevel = "info"\nformat = "json"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  const start = (options: Pick<Parameters<typeof startBotProcess>[0], 'preload'> = {}) => {
    const bot = startBotProcess({ folder, config: 'config.toml', ...options });
    t.after(() => bot.kill());
    return bot;
  };
  const seen = () => JSON.stringify(messages.requests.at(-1)?.body.messages);
  return { start, seen, requests: messages.requests };
}

test('U15 Q5 killed between a press on a draft’s stop button and the end, the turn ends with its words after the restart', async (t) => {
  const telegram = await startTelegramServer({ privacy: false });
  t.after(() => telegram.close());
  const { start, seen, requests } = await setUp(
    t,
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n`,
  );
  const ann = telegram.person({ name: 'Ann', id: 1001 });
  const first = start({ preload: whenStopped });
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

test('U15 Q5 killed between a press on Slack’s stop button and the end, the turn ends with its words after the restart', async (t) => {
  const slack = await startSlackServer();
  t.after(() => slack.close());
  const { start, seen, requests } = await setUp(
    t,
    `[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${slack.url}"\nagent_view = true\n`,
  );
  const anna = slack.workspace.addUser('anna');
  const first = start({ preload: whenStopped });
  await slack.socket.greeted.untilCount(1);
  const asked = slack.people.dm(anna, 'is it so?');
  const words = await slack.posted(({ text }) => text.startsWith('I guess so'));
  void slack.people.stop(anna, asked);
  assert.equal((await first.exited).signal, 'SIGKILL');
  const second = start();
  const ended = await slack.posted(({ text }) => text === 'I guess so.\n\nStopped.');
  assert.equal(ended.ts, words.ts);
  assert.equal(requests.length, 1, 'the model was not asked again');
  slack.people.dm(anna, 'and now?', { thread: asked.ts });
  await slack.posted(({ text }) => text === 'As I said.');
  assert.match(seen(), /I guess so\..*The work was stopped in the middle of the answer above/);
  await second.stop();
  assert.equal([...slack.workspace.sessions.values()][0]?.status, 'active');
});
