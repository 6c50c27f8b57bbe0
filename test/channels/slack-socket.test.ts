import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { connectSlackChannel, createSlackChannel, slackOptions } from '../servers/slack/connected-slack.ts';
import { withinMachineTime } from '../support/machine-time.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';

/** The pauses between connections are as they are: the clock that waits for names would make a minute of one. */
const reconnecting = { channel: { clock: systemClock } };

/** Stores when it is told to; `taken` resolves when there is something to store. */
function storing() {
  const taken = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  const onEvent = (): Promise<void> => {
    taken.resolve();
    return stored.promise;
  };
  return { onEvent, taken: taken.promise, stored };
}

test('Q1 an event is acknowledged only after it was stored', async (t) => {
  const { onEvent, taken, stored } = storing();
  const { slack } = await connectSlackChannel(t, { onEvent });
  const said = slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  await taken;
  const before = await Promise.race([
    said.delivered.then(() => 'acknowledged'),
    // An acknowledgement would be there once a whole round trip has passed.
    fetch(`${slack.url}auth.test`, { method: 'POST' }).then(() => 'waiting'),
  ]);
  assert.equal(before, 'waiting');
  stored.resolve();
  assert.deepEqual(
    (await said.delivered).map(({ acked, attempts }) => [acked, attempts.length]),
    [[true, 1]],
  );
});

test('Q1 an event that could not be stored is not acknowledged and comes again', async (t) => {
  const tries = { count: 0 };
  const { slack, events } = await connectSlackChannel(t, {
    server: { ackTimeoutMs: 100, retryDelaysMs: [0, 0] },
    onEvent: async () => {
      tries.count += 1;
      // The third is waited for, however long it takes.
      if (tries.count === 2) slack.knobs.ackTimeoutMs = 60_000;
      if (tries.count < 3) throw new Error('disk full');
    },
  });
  const said = slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  const [delivered] = await said.delivered;
  assert.deepEqual(
    delivered?.attempts.map(({ ok }) => ok),
    [false, false, true],
  );
  assert.equal(events.all().length, 1);
});

test('Q2 however often Slack delivers an event, its message id is the same', async (t) => {
  const { slack, events } = await connectSlackChannel(t, { server: { duplicates: 2 } });
  await slack.people.dm(slack.workspace.addUser('anna'), 'hello').delivered;
  const ids = events.all().map((event) => (event.type === 'message' ? event.message.id : ''));
  assert.equal(ids.length, 3);
  assert.equal(new Set(ids).size, 1);
});

/** The SDK itself waits five seconds before it connects again. */
const sdkWaitMs = 4_000;

test('H4 routine disconnects of any number neither lose nor double an event, and nobody waits for the reconnect', async (t) => {
  const { slack, events } = await connectSlackChannel(t, reconnecting);
  const anna = slack.workspace.addUser('anna');
  await slack.socket.greeted.untilCount(2);
  for (let round = 1; round <= 4; round++) {
    slack.socket.disconnect(round % 2 === 0 ? 'warning' : 'refresh_requested');
    const press = slack.people.slash(anna, slack.workspace.dmWith(anna.id), `round ${round}`);
    const { ok } = await withinMachineTime('an acknowledgement', sdkWaitMs, press);
    assert.equal(ok, true, 'a slash call, which is never redelivered, was lost');
    await slack.socket.greeted.untilCount(2 + round);
    await slack.people.dm(anna, `after ${round}`).delivered;
  }
  const texts = events.all().map((event) => (event.type === 'message' ? event.message.text : ''));
  assert.equal(texts.length, 8);
  assert.equal(new Set(texts).size, 8);
  assert.deepEqual(slack.socket.faults.all(), []);
});

test('H4 what is being stored when Slack asks for a refresh is still acknowledged', async (t) => {
  const { onEvent, taken, stored } = storing();
  const { slack } = await connectSlackChannel(t, { onEvent });
  const anna = slack.workspace.addUser('anna');
  await slack.socket.greeted.untilCount(2);
  const asked = Promise.withResolvers<void>();
  const hold = {
    kind: 'hold',
    get until() {
      asked.resolve();
      return stored.promise;
    },
  } as const;
  slack.faults.always('apps.connections.open', hold);
  const answer = slack.people.slash(anna, slack.workspace.dmWith(anna.id), 'dice');
  await taken;
  slack.socket.disconnect('refresh_requested', 'all');
  // A replacement is asked for: the goodbye was read.
  await asked.promise;
  stored.resolve();
  assert.equal((await answer).ok, true);
});

test('H4 when every connection goes at once, events wait for the next one, which comes at once', async (t) => {
  const { slack, message } = await connectSlackChannel(t, {
    server: { retryDelaysMs: Array.from({ length: 1_000 }, () => 50) },
  });
  await slack.socket.greeted.untilCount(2);
  slack.socket.cut('all');
  const said = slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  await withinMachineTime('a connection', sdkWaitMs, message());
  assert.equal((await said.delivered)[0]?.acked, true);
});

test('H4 a Web API that is away for a while does not end the connection', async (t) => {
  const { slack, message } = await connectSlackChannel(t, reconnecting);
  await slack.socket.greeted.untilCount(2);
  slack.faults.next('apps.connections.open', { kind: 'status', status: 503 });
  slack.faults.next('apps.connections.open', { kind: 'ratelimited', retryAfter: 1 });
  slack.socket.disconnect('refresh_requested', 'all');
  await slack.socket.greeted.untilCount(4);
  slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  assert.equal((await message()).text, 'hello');
});

test('H4 tokens that cannot work stop the start with what to do', async (t) => {
  const slack = await startSlackServer();
  t.after(() => slack.close());
  const start = async (options: object) => {
    const channel = createSlackChannel({ ...slackOptions(slack), ...options });
    t.after(() => channel.stop());
    await channel.start(async () => undefined);
  };
  const refuses = (options: object, words: RegExp) =>
    assert.rejects(start(options), (error) => error instanceof OperatorError && words.test(error.message));
  await refuses({ botToken: 'xoxb-wrong' }, /bot token \(invalid_auth\).*xoxb-/);
  await refuses({ appToken: slack.tokens.bot }, /app token \(not_allowed_token_type\).*connections:write/);
  await refuses({ appToken: undefined }, /app_token is missing/);
  await refuses({ mode: 'http', signingSecret: '' }, /signing_secret is missing/);
  await refuses({ mode: 'http', signingSecret: 'x' }, /listen is missing/);
});

test('H1 stop waits for what was taken and then takes nothing more', async (t) => {
  const { onEvent, taken, stored } = storing();
  const { slack, channel, events } = await connectSlackChannel(t, { server: { retryDelaysMs: [] }, onEvent });
  const anna = slack.workspace.addUser('anna');
  const said = slack.people.dm(anna, 'taken');
  await taken;
  const stopped = channel.stop();
  stored.resolve();
  await stopped;
  assert.equal((await said.delivered)[0]?.acked, true);
  await slack.socket.ended.untilCount(2);
  assert.equal((await slack.people.dm(anna, 'late').delivered)[0]?.acked, false);
  assert.equal(events.all().length, 1);
});

test('H4 what Slack sends without meaning for the bot is acknowledged and named in the log', async (t) => {
  const { slack, events, log } = await connectSlackChannel(t);
  for (const payload of [
    { type: 'view_submission', user: { id: 'U1', team_id: 'T1' }, view: { callback_id: 'another app' } },
    { type: 'event_callback', event: { type: 'reaction_added' } },
    { type: 'event_callback', event: { type: 'message', channel: 'C1', ts: 'not a ts' } },
    {},
  ]) {
    const kind = payload.type === 'event_callback' ? 'events_api' : 'interactive';
    assert.equal((await slack.socket.transport(kind, payload, undefined)).ok, true);
  }
  assert.equal(events.all().length, 0);
  assert.deepEqual(
    log.all().flatMap(({ fields }) => ('reason' in fields ? [fields.reason] : [])),
    ['malformed reaction_added', 'malformed message'],
  );
});
