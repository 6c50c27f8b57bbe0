import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sayIn } from '../../src/core/texts/say.ts';
import { neededScopes } from '../../src/channels/slack/identify.ts';
import type { OnEvent } from '../../src/core/channel.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';

/** As if everything were stored to be answered, but for what asks for silence. */
const store: OnEvent = async (event) => {
  if (event.type === 'message' && event.message.text !== 'hush') event.stored?.();
};

test('H13 the reaction is set on what was stored to be answered, and on nothing else', async (t) => {
  const { slack } = await connectSlackChannel(t, { channel: { reaction: 'eyes' }, onEvent: store });
  const anna = slack.workspace.addUser('anna');
  await slack.people.dm(anna, 'hush').delivered;
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  await slack.people.slash(anna, room, 'dice');
  const asked = slack.people.dm(anna, 'hello');
  const reaction = await slack.shown.until(({ kind }) => kind === 'reaction');
  assert.deepEqual(
    [reaction['name'], reaction['channel'], reaction['ts'], reaction['change']],
    ['eyes', asked.channel, asked.ts, 'added'],
  );
  const calls = slack.calls.all().filter(({ method }) => method === 'reactions.add');
  assert.equal(calls.length, 1);
});

test('H13 without the option nothing reacts, and nobody is asked for the scope', async (t) => {
  const scopes = [...neededScopes.keys()].filter((scope) => scope !== 'reactions:write');
  const { slack, log, events } = await connectSlackChannel(t, { server: { scopes }, onEvent: store });
  await slack.people.dm(slack.workspace.addUser('anna'), 'hello').delivered;
  assert.equal(slack.calls.all().filter(({ method }) => method === 'reactions.add').length, 0);
  assert.ok(events.all().every(({ type }) => type !== 'notice'));
  assert.ok(log.all().every(({ level }) => level !== 'warn'));
});

test('H13 a reaction that Slack refuses costs nothing: the next message is taken as ever', async (t) => {
  const scopes = [...neededScopes.keys()].filter((scope) => scope !== 'reactions:write');
  const connected = await connectSlackChannel(t, {
    server: { scopes },
    channel: { reaction: 'eyes' },
    onEvent: store,
  });
  const { slack, log } = connected;
  const anna = slack.workspace.addUser('anna');
  const said = await slack.people.dm(anna, 'hello').delivered;
  assert.ok(said.every(({ acked }) => acked));
  const refused = await log.until(({ message }) => message === 'a reaction could not be set');
  assert.deepEqual([refused.level, (refused.fields as { code: string }).code], ['debug', 'missing_scope']);
  await slack.people.dm(anna, 'again').delivered;
  await connected.message(({ text }) => text === 'again');
  const notice = await connected.events.until((event) => event.type === 'notice');
  const words = notice.type === 'notice' ? sayIn(undefined)(notice.markdown) : '';
  assert.match(words, /`reactions:write`: the reaction on a message/);
});
