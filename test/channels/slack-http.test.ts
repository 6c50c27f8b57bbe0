import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { signatureHeaders } from '../servers/slack/http-sender.ts';

const secret = 'test-signing-secret';

async function listening(t: TestContext, onEvent?: () => Promise<void>) {
  const connected = await connectSlackChannel(t, {
    server: { retryDelaysMs: [0, 0] },
    channel: { mode: 'http' },
    ...(onEvent === undefined ? {} : { onEvent }),
  });
  const line = await connected.log.until(({ message }) => message === 'listening for Slack events');
  const { url } = line.fields as { url: string };
  const post = (body: string, headers: Readonly<Record<string, string>> = signatureHeaders(secret, body)) =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  return { ...connected, url, post };
}

const hello = JSON.stringify({
  type: 'event_callback',
  event: {
    type: 'message',
    channel: 'D1',
    channel_type: 'im',
    user: 'U9',
    ts: '1700000000.000001',
    text: 'hi',
  },
});

test('H4 over HTTP messages, slash calls and presses arrive as over the socket', async (t) => {
  const { slack, channel, message, press } = await listening(t);
  const anna = slack.workspace.addUser('anna');
  const said = slack.people.dm(anna, 'hello & <@U1|ben>');
  assert.equal((await message()).text, 'hello & @ben');
  assert.equal((await said.delivered)[0]?.acked, true);
  const room = slack.workspace.dmWith(anna.id);
  assert.equal((await slack.people.slash(anna, room, 'dice')).ok, true);
  assert.deepEqual((await message(({ command }) => command !== undefined)).command, {
    name: 'skill',
    args: 'dice',
  });
  const buttons = [{ label: 'Yes', action: 'yes' }];
  const sent = await channel.send({ channel: 'slack', chat: room.id }, { markdown: 'ok?', buttons }, 'k');
  assert.equal((await slack.people.press(anna, { channel: room.id, ts: sent.id }, 'Yes')).ok, true);
  assert.equal((await press()).action, 'yes');
});

test('H4 an invitation goes back in the HTTP answer of a slash call', async (t) => {
  const { slack } = await listening(t);
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('group', { members: [anna.id], bot: false });
  const answer = await slack.people.slash(anna, room, 'dice');
  assert.ok(answer.ok);
  assert.match(JSON.stringify(answer.response), /ephemeral.*\/invite/);
});

test('Q1 over HTTP an event that could not be stored gets a 500 and comes again', async (t) => {
  const tries = { count: 0 };
  const { slack, events } = await listening(t, async () => {
    if (++tries.count < 3) throw new Error('disk full');
  });
  const [delivered] = await slack.people.dm(slack.workspace.addUser('anna'), 'hello').delivered;
  assert.deepEqual(
    delivered?.attempts.map((attempt) => (attempt.ok ? 'ok' : attempt.reason)),
    ['http_error', 'http_error', 'ok'],
  );
  assert.equal(events.all().length, 1);
});

test('S1 a request that is unsigned, wrongly signed, altered, too old or dated ahead is refused', async (t) => {
  const { events, post } = await listening(t);
  const now = Math.floor(Date.now() / 1000);
  const good = signatureHeaders(secret, hello);
  const bad: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    unsigned: {},
    'without a time': { 'x-slack-signature': good['x-slack-signature'] ?? '' },
    'of another secret': signatureHeaders('guess', hello),
    'of another body': signatureHeaders(secret, `${hello} `),
    'of another version': {
      ...good,
      'x-slack-signature': (good['x-slack-signature'] ?? '').replace('v0=', 'v1='),
    },
    'too short': { ...good, 'x-slack-signature': 'v0=' },
    'too old': signatureHeaders(secret, hello, now - 301),
    'dated ahead': signatureHeaders(secret, hello, now + 302),
    'no number': { ...good, 'x-slack-request-timestamp': 'soon' },
  };
  for (const [name, headers] of Object.entries(bad)) {
    assert.equal((await post(hello, headers)).status, 401, name);
  }
  assert.equal(events.all().length, 0);
  assert.equal((await post(hello)).status, 200);
  assert.equal((await post(hello, signatureHeaders(secret, hello, now - 290))).status, 200);
  assert.equal(events.all().length, 2);
});

test('S1 a signed request that is replayed gives the same message id, and a replayed slash call acts once', async (t) => {
  const { events, url, post } = await listening(t);
  const headers = signatureHeaders(secret, hello);
  for (let time = 0; time < 2; time++) assert.equal((await post(hello, headers)).status, 200);
  const ids = events.all().map((event) => (event.type === 'message' ? event.message.id : ''));
  assert.deepEqual(ids, ['slack:T0HOME:D1:1700000000.000001', 'slack:T0HOME:D1:1700000000.000001']);
  const form = new URLSearchParams({
    command: '/skill',
    text: 'dice',
    trigger_id: '1.2.abc',
    channel_id: 'D1',
    user_id: 'U9',
    team_id: 'T0HOME',
  }).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const signed = { ...signatureHeaders(secret, form), ...type };
  for (let time = 0; time < 2; time++) {
    assert.equal((await fetch(url, { method: 'POST', body: form, headers: signed })).status, 200);
  }
  assert.equal(events.all().length, 3);
});

test('H4 url_verification is answered with the challenge, only when signed', async (t) => {
  const { post } = await listening(t);
  const body = JSON.stringify({ type: 'url_verification', token: 'x', challenge: 'abc123' });
  assert.deepEqual(await (await post(body)).json(), { challenge: 'abc123' });
  assert.equal((await post(body, {})).status, 401);
});

test('S4 a body over 1 MiB is refused, other paths are unknown', async (t) => {
  const { url, post } = await listening(t);
  assert.equal((await post('x'.repeat(1024 * 1024 + 1))).status, 413);
  assert.equal(
    (
      await fetch(url.replace('/slack/events', '/'), {
        method: 'POST',
        headers: signatureHeaders(secret, ''),
      })
    ).status,
    404,
  );
  assert.equal((await post('no json')).status, 400);
});
