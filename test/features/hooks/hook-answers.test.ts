import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { Channel } from '../../../src/core/channel.ts';
import { noMeter } from '../../../src/core/meter.ts';
import { sayIn } from '../../../src/core/texts/say.ts';
import type { HookAnswer } from '../../../src/core/hook-answer.ts';
import { createHooks, type HookDeps } from '../../../src/features/hooks/receive-hook.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { partOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { bearer, hookTable } from '../../support/send-event.ts';
import { unmovedChats } from '../../support/unmoved-chats.ts';
import type { Users } from '../../../src/access/users.ts';

type Changed = Partial<Pick<HookDeps, 'channels' | 'users'>>;

const ada = 'telegram:42';
const users = {
  ...partOf<Users>({ decide: async () => ({ allowed: true }), languageOf: async () => 'de' }),
  known: async () => undefined,
};
const channelOf = (found: Awaited<ReturnType<Channel['lookUpChat']>>) =>
  new Map([['telegram', partOf<Channel>({ lookUpChat: async () => found })]]);

/** Two hooks, and everything they tell others. */
async function hooksWith(t: TestContext, more: Changed = {}, conversation = 'telegram:-7') {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(() => store.close());
  const parsed = parseConfig(
    hookTable({ as: ada, conversation, prompt: 'Look at it.' }) +
      hookTable({ as: ada, conversation, name: 'other' }),
    { env: {} },
  );
  assert.ok(parsed.ok);
  const { hooks: all } = parsed.config;
  const [audited, counted, told]: [unknown[], unknown[], [string, string][]] = [[], [], []];
  const hooks = createHooks({
    store,
    audit: { record: async (event) => void audited.push(event) },
    migrations: unmovedChats,
    meter: { ...noMeter, count: (...args) => void counted.push(args) },
    clock,
    log: quietLog(),
    hooks: () => all,
    bodies: store.keyed('hooks'),
    users,
    channels: channelOf({ chatType: 'group', external: true }),
    replies: partOf({
      tellOwners: async (key, text) =>
        void told.push([key, typeof text === 'string' ? text : text(sayIn(undefined))]),
    }),
    ...more,
  });
  const receive = (
    name: string,
    body = 'alarm',
    headers: object = {},
    method = 'POST',
  ): Promise<HookAnswer> => {
    const request = Readable.from(body === '' ? [] : [Buffer.from(body)]);
    Object.assign(request, { method, headers: { ...bearer, 'webhook-id': 'n1', ...headers } });
    return hooks.receive(name, request as unknown as IncomingMessage);
  };
  return { hooks, store, clock, audited, counted, told, receive };
}

test('N7 an event is stored whole: as its person, in the conversation of its hook, with its prompt', async (t) => {
  const { hooks, store, clock, audited, counted, receive } = await hooksWith(t);
  hooks.start();
  assert.deepEqual(await receive('ci', 'tests\nfailed'), {
    status: 202,
    outcome: 'accepted',
    body: 'accepted',
  });
  await receive('other', '');
  const [first, second] = (await store.inbox.list('waiting')).map(({ message }) => message);
  assert.deepEqual(first, {
    id: 'hook:ci:n1',
    conversation: { channel: 'telegram', chat: '-7' },
    chatType: 'group',
    external: true,
    sender: { id: ada, name: 'hook ci', kind: 'person', language: 'de' },
    text: '',
    addressed: true,
    attachments: [],
    shared: [{ name: 'hook ci', text: 'tests\nfailed', own: false }],
    task: { kind: 'hook', id: 'hook:ci:n1', name: 'ci', prompt: 'Look at it.' },
    sentAt: clock.now(),
  });
  assert.deepEqual(second?.shared, [{ name: 'hook other', text: '(empty)', own: false }]);
  assert.deepEqual(audited[0], {
    event: 'hook',
    hook: 'ci',
    outcome: 'accepted',
    sender: ada,
    conversation: 'telegram:-7',
  });
  assert.deepEqual(counted[0], ['hooks', { hook: 'ci', outcome: 'accepted' }]);
});

test('N7 each answer has its status, says why, and is counted; of an unknown hook nothing is recorded', async (t) => {
  const { hooks, store, audited, counted, receive } = await hooksWith(t);
  const starting = await receive('ci');
  hooks.start();
  await receive('ci');
  const later = { status: 503, retryAfter: 30 };
  assert.deepEqual(starting, { ...later, outcome: 'failed', body: 'the bot is starting or stopping' });
  const wrong = 'malformed';
  for (const [answer, expected] of [
    [receive('nobody'), { status: 404, outcome: 'unknown', body: 'there is no such hook' }],
    [receive('ci'), { status: 200, outcome: 'repeated', body: 'it was accepted before' }],
    [receive('ci', 'x', {}, 'GET'), { status: 405, outcome: wrong, body: 'POST it' }],
    [
      receive('ci', 'x', { 'content-type': 'image/png' }),
      { status: 415, outcome: wrong, body: 'send content-type: application/json or text/plain' },
    ],
    [
      receive('ci', '{', { 'content-type': 'application/json' }),
      { status: 400, outcome: wrong, body: 'the body is not JSON' },
    ],
    [
      receive('ci', 'x', { authorization: 'Bearer other' }),
      { status: 401, outcome: 'forged', body: 'the secret is another one' },
    ],
    [
      receive('ci', 'x'.repeat(65_537)),
      { status: 413, outcome: 'too_large', body: 'a body has 65536 bytes at most' },
    ],
  ] as const)
    assert.deepEqual(await answer, expected);
  assert.deepEqual(counted[2], ['hooks', { hook: '', outcome: 'unknown' }]);
  assert.ok(!audited.some((event) => JSON.stringify(event).includes('unknown')));
  await store.close();
  assert.deepEqual(await receive('ci', 'x', { 'webhook-id': 'n2' }), {
    ...later,
    outcome: 'failed',
    body: 'it could not be stored',
  });
});

test('N7 more than 60 events a minute are refused until there is room, of each hook apart', async (t) => {
  const { hooks, store, clock, receive } = await hooksWith(t);
  hooks.start();
  for (let n = 0; n < 60; n += 1) {
    const id = { 'webhook-id': `m${n}` };
    assert.equal((await receive('ci', 'x', id)).status, 202);
    await store.inbox.drop(`hook:ci:m${n}`);
  }
  await clock.advance(500);
  const limited = { status: 429, outcome: 'limited', body: 'more than 60 events a minute' };
  assert.deepEqual(await receive('ci'), { ...limited, retryAfter: 60 });
  await clock.advance(58_501);
  assert.deepEqual(await receive('ci'), { ...limited, retryAfter: 1 });
  await clock.advance(1_000);
  assert.equal((await receive('ci')).status, 202);
});

test('N7 an event waits while its platform or conversation is unknown, and is refused where its person may not talk', async (t) => {
  const direct = (person: string) => channelOf({ chatType: 'private', external: false, person });
  const failed = { status: 503, outcome: 'failed', retryAfter: 30 };
  const denied = {
    status: 403,
    outcome: 'denied',
    body: 'the person of this hook may not talk to the bot there',
  };
  const stranger = {
    ...users,
    decide: async () => ({ allowed: false, code: 'STRANGER', reason: 'no' }) as const,
  };
  for (const [more, place, expected] of [
    [{ channels: new Map() }, 'telegram:-7', { ...failed, body: 'the bot has no telegram' }],
    [
      { channels: channelOf({ chatType: 'unknown', external: false }) },
      'telegram:-7',
      { ...failed, body: 'its conversation could not be looked up' },
    ],
    [{ channels: direct('telegram:1') }, 'telegram:1', denied],
    [{ users: stranger }, 'telegram:-7', denied],
    [{ channels: direct(ada) }, ada, { status: 202, outcome: 'accepted', body: 'accepted' }],
  ] as const) {
    const { hooks, told, receive } = await hooksWith(t, more, place);
    hooks.start();
    assert.deepEqual(await receive('ci'), expected);
    assert.deepEqual(
      told,
      expected === denied
        ? [
            [
              `hook:ci:${ada}:${place}`,
              `I refuse events of the hook \`ci\`: \`${ada}\` may not talk to me in \`${place}\`. To change that, correct [[hooks]] or [access] in my config.`,
            ],
          ]
        : [],
    );
  }
});

test('N7 without an id the body, its hook and the window name a delivery', async (t) => {
  const { hooks, store, receive } = await hooksWith(t);
  hooks.start();
  const bare = { 'webhook-id': undefined };
  for (const [name, body] of [
    ['ci', 'a'],
    ['ci', 'b'],
    ['other', 'a'],
    ['ci', 'a'],
  ] as const)
    await receive(name, body, bare);
  const ids = (await store.inbox.list('waiting')).map(({ message }) => message?.id ?? '');
  assert.equal(ids.length, 3);
  for (const id of ids) assert.match(id, /^hook:(ci|other):body:[0-9a-f]{64}:\d+$/);
  assert.equal(new Set(ids).size, 3);
});
