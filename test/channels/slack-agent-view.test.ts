import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import type { SlackServerOptions } from '../servers/slack/start-slack-server.ts';
import { equalData } from '../support/equal-data.ts';

const prompts = [
  { title: 'What can you do?', say: 'What can you do?' },
  { title: 'dig: Digs.', start: 'dig' },
] as const;

/** Who opens the Messages tab is suggested two things. */
async function withAgentView(
  t: Parameters<typeof connectSlackChannel>[0],
  agentView = true,
  server: SlackServerOptions = {},
) {
  const connected = await connectSlackChannel(t, {
    server,
    channel: { agentView },
    async onEvent(event) {
      if (event.type === 'opened') event.suggest(prompts);
      if (event.type === 'message') event.stored?.();
    },
  });
  const { slack } = connected;
  const anna = slack.workspace.addUser('anna');
  const dm = slack.workspace.dmWith(anna.id);
  const ofKind = (kind: string) => slack.shown.until((shown) => shown['kind'] === kind);
  return { ...connected, anna, dm, ofKind };
}

test('H4 who opens the direct message is suggested what they may ask', async (t) => {
  const { slack, events, anna, dm, ofKind } = await withAgentView(t);
  await slack.people.openMessages(anna);
  const shown = await ofKind('prompts');
  assert.equal(shown['channel'], dm.id);
  assert.deepEqual(shown['prompts'], [
    { title: 'What can you do?', message: 'What can you do?' },
    { title: 'dig: Digs.', message: '!dig' },
  ]);
  const [opened] = events.all();
  assert.ok(opened?.type === 'opened');
  assert.deepEqual([opened.visit.chatType, opened.visit.sender.id], ['private', `slack:${anna.id}`]);
});

test('H4 with the agent view each message begins a thread, named after it, and its status shows there', async (t) => {
  const { slack, channel, message, anna, dm, ofKind } = await withAgentView(t);
  const said = slack.people.dm(anna, `Where is *the map*?\n${'x'.repeat(300)}`);
  const first = await message();
  const { conversation } = first;
  assert.deepEqual(conversation, { channel: 'slack', chat: dm.id, thread: said.ts });
  channel.showWork?.(conversation, 'working', first);
  const named = await ofKind('session');
  assert.deepEqual(
    [named['thread'], named['title'], named['status']],
    [said.ts, 'Where is *the map*?', 'processing'],
  );
  await channel.status(conversation, { kind: 'typing' }, keptPlaceholder());
  const status = await ofKind('status');
  assert.deepEqual([status['channel'], status['thread'], status['status']], [dm.id, said.ts, 'is thinking…']);
  slack.people.dm(anna, 'and the key?', { thread: said.ts });
  const next = await message(({ text }) => text === 'and the key?');
  assert.deepEqual(next.conversation, conversation);
  slack.people.dm(anna, '!status');
  const command = await message(({ text }) => text === '!status');
  assert.notEqual(command.conversation.thread, said.ts);
  channel.showWork?.(conversation, 'asking');
  channel.showWork?.(conversation, 'asking');
  channel.showWork?.(conversation, 'idle');
  await slack.shown.until(({ kind, status: now }) => kind === 'session' && now === 'active');
  const sessions = slack.shown.all().filter(({ kind }) => kind === 'session');
  assert.deepEqual([sessions.at(-1)?.['title'], sessions.length <= 3], [undefined, true]);
});

test('U15 H4 owners are told once that Slack shows no stop button while its event is missing', async (t) => {
  const events = ['message.im'];
  const { slack, channel, message, events: heard, anna } = await withAgentView(t, true, { events });
  slack.people.dm(anna, 'hello');
  const asked = await message();
  channel.showWork?.(asked.conversation, 'working', asked);
  const notice = await heard.until(({ type }) => type === 'notice');
  assert.ok(notice.type === 'notice' && notice.key === 'slack:stop');
  assert.match(String(notice.markdown), /agent_session_stopped/);
});

test('H4 without the agent view a direct message is one conversation, and nothing is suggested', async (t) => {
  const { slack, events, message, anna, dm } = await withAgentView(t, false);
  await slack.people.openMessages(anna);
  slack.people.dm(anna, 'hello');
  equalData((await message()).conversation, { channel: 'slack', chat: dm.id });
  assert.deepEqual(slack.shown.all(), []);
  assert.equal(events.all().length, 1);
});

test('H4 an app without the scope or the view costs nothing but the suggestion', async (t) => {
  const { slack, channel, message, log, anna } = await withAgentView(t);
  slack.faults.next('assistant.threads.setSuggestedPrompts', { kind: 'error', error: 'missing_scope' });
  slack.faults.next('agents.sessions.setStatus', { kind: 'error', error: 'not_authorized' });
  assert.equal((await slack.people.openMessages(anna))[0]?.acked, true);
  await slack.people.dm(anna, 'hello').delivered;
  const asked = await message();
  channel.showWork?.(asked.conversation, 'working', asked);
  const refused = await log.until(({ message }) => message === 'the agent view could not be changed');
  assert.equal(refused.level, 'debug');
});
