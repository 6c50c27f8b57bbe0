import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Bot } from 'grammy';
import { webApi } from '@slack/bolt';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { watchLog } from '../servers/slack/connected-slack.ts';

/** Slack's own client at a server, in a thread that Anna began. */
async function slackThread(t: TestContext, events?: readonly string[]) {
  const slack = await startSlackServer(events === undefined ? {} : { events });
  t.after(() => slack.close());
  const client = new webApi.WebClient(slack.tokens.bot, {
    slackApiUrl: slack.url,
    retryConfig: { retries: 0 },
    logger: { ...watchLog().log, setLevel() {}, setName() {}, getLevel: () => webApi.LogLevel.ERROR },
  });
  const codeOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'ok',
      (error: unknown) => (error instanceof webApi.WebAPIPlatformError ? error.data.error : String(error)),
    );
  const anna = slack.workspace.addUser('anna');
  const dm = slack.workspace.dmWith(anna.id);
  const { ts } = slack.people.dm(anna, 'go');
  const place = { channel_id: dm.id, thread_ts: ts };
  return { slack, client, codeOf, anna, dm, thread: { channel: dm.id, ts }, place };
}

test('U15 H9 Slack keeps the status of a session and the title that it began with', async (t) => {
  const { slack, client, codeOf, place } = await slackThread(t);
  const set = (args: object) => client.agents.sessions.setStatus({ ...place, status: 'active', ...args });
  const { ok, response_metadata } = await set({ title: 'First', status: 'processing' });
  assert.deepEqual([ok, response_metadata?.warnings], [true, undefined]);
  await set({ title: 'Second', status: 'suspended' });
  assert.deepEqual([...slack.workspace.sessions.values()], [{ status: 'suspended', title: 'First' }]);
  assert.equal(await codeOf(set({ status: 'busy' })), 'invalid_status');
  assert.equal(await codeOf(set({ thread_ts: '1.1' })), 'invalid_thread_ts');
  assert.equal(await codeOf(set({ thread_ts: undefined })), 'thread_ts_required');
  assert.equal(await codeOf(set({ title: 'x'.repeat(201) })), 'invalid_arguments');
  assert.equal(await codeOf(set({ channel_id: 'C404' })), 'channel_not_found');
});

test('U15 H9 Slack shows a stop button while a session is processing, and tells the app whose streams it ended', async (t) => {
  const { slack, client, codeOf, anna, dm, thread, place } = await slackThread(t);
  slack.knobs.held = true;
  assert.throws(() => void slack.people.stop(anna, thread), /no stop button/);
  await client.agents.sessions.setStatus({ ...place, status: 'processing' });
  const stream = { channel: dm.id, thread_ts: thread.ts, markdown_text: 'I guess' };
  const { ts } = (await client.apiCall('chat.startStream', stream)) as unknown as { ts: string };
  assert.throws(() => void slack.people.stop(slack.workspace.addUser('eve'), thread), /no stop button/);
  void slack.people.stop(anna, thread);
  const more = { channel: dm.id, ts, markdown_text: ' so' };
  assert.equal(await codeOf(client.apiCall('chat.appendStream', more)), 'stopped_by_user');
  assert.equal(await codeOf(client.chat.update({ channel: dm.id, ts, text: 'I guess. Stopped.' })), 'ok');
  assert.equal([...slack.workspace.sessions.values()][0]?.status, 'processing');
  await client.agents.sessions.setStatus({ ...place, status: 'active' });
  assert.throws(() => void slack.people.stop(anna, thread), /no stop button/);
});

test('U15 H9 Slack warns an app that does not hear of stops, and shows nothing to press', async (t) => {
  const { slack, client, anna, thread, place } = await slackThread(t, ['message.im']);
  const { response_metadata } = await client.agents.sessions.setStatus({ ...place, status: 'processing' });
  assert.deepEqual(response_metadata?.warnings, ['missing_agent_session_stopped_event_subscription']);
  assert.throws(() => void slack.people.stop(anna, thread), /no stop button/);
});

test('U15 H9 Telegram tells of the stop button of a draft, to a bot that asks for such updates', async (t) => {
  const server = await startTelegramServer();
  t.after(() => server.close());
  const bot = new Bot(server.token, { client: { apiRoot: server.url } });
  const ann = server.person({ name: 'Ann Lee' });
  ann.says('hi');
  const draft = (more: object = {}) => bot.api.sendMessageDraft(ann.id, 7, 'I guess', more);
  assert.throws(() => ann.stops(), /no draft/);
  await draft();
  assert.throws(() => ann.stops(), /no draft with a stop button/);
  await draft({ can_stop: true, keep_on_stop: true });
  ann.stops();
  const updates = await bot.api.getUpdates({ offset: 1 });
  assert.deepEqual(updates.at(-1)?.stopped_message_generation, {
    chat: { id: ann.id, type: 'private', first_name: 'Ann', last_name: 'Lee' },
    draft_id: 7,
  });
  await bot.api.getUpdates({ offset: 1, allowed_updates: ['message'] });
  const before = server.queue.waiting().length;
  ann.stops();
  assert.equal(server.queue.waiting().length, before, 'it no longer asks for them');
  await bot.api.sendMessage(ann.id, 'I guess so.');
  assert.throws(() => ann.stops(), /no draft/);
});
