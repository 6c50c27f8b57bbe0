import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { createPairing, createStrangers, type Pairing } from '../../src/access/pairing.ts';
import { createUsers } from '../../src/access/users.ts';
import type { Replies } from '../../src/replies/replies.ts';
import type { AccessSettings } from '../../src/core/access-settings.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';

const access: AccessSettings = {
  owners: ['telegram:1'],
  general: { dm: 'pairing' },
  channels: new Map(),
  chats: new Map(),
  allowExternal: false,
};

async function setUp() {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const moved = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const people = createUsers({
    stored: store.keyed('people'),
    access: () => access,
    migrations: moved,
    clock,
  });
  return {
    clock,
    store,
    moved,
    people,
    pairing: createPairing({
      stored: store.keyed('pairing'),
      users: people,
      audit: { record: async () => undefined },
      clock,
    }),
  };
}

const stranger = (n: number, channel = 'telegram') =>
  makeMessage({
    sender: { id: `${channel}:${n}`, name: `S${n}`, kind: 'person' },
    conversation: { channel, chat: String(n) },
  });

test('A10 a code of 8 characters lets in exactly the person it was made for, once', async () => {
  const { people, pairing } = await setUp();
  assert.equal((await people.decide(stranger(7))).allowed, false);
  const request = await pairing.request(stranger(7));
  assert.match(request?.code ?? '', /^[A-Z2-9]{8}$/);
  assert.equal((await pairing.approve(request?.code.toLowerCase() ?? ''))?.sender, 'telegram:7');
  assert.equal((await people.decide(stranger(7))).allowed, true);
  assert.equal((await people.decide(stranger(8))).allowed, false);
  assert.equal(await pairing.approve(request?.code ?? ''), undefined);
  assert.equal(await people.unpair('telegram:7'), true);
  assert.equal((await people.decide(stranger(7))).allowed, false);
});

test('A10 a code is good for an hour, three may wait on a channel, and one answer an hour is enough', async () => {
  const { clock, pairing } = await setUp();
  const first = await pairing.request(stranger(1));
  assert.equal(await pairing.request(stranger(1)), undefined);
  const others = await Promise.all([2, 3, 4, 5].map((n) => pairing.request(stranger(n))));
  assert.equal(others.filter((request) => request !== undefined).length, 2);
  assert.notEqual(await pairing.request(stranger(1, 'slack')), undefined);
  await clock.advance(3_600_001);
  assert.equal(await pairing.approve(first?.code ?? ''), undefined);
  assert.deepEqual(await pairing.pending(), []);
  assert.notEqual(await pairing.request(stranger(5)), undefined);
});

test('A10 whoever claims the bot asks for nothing any more', async () => {
  const { pairing } = await setUp();
  await pairing.request(stranger(9));
  await pairing.request(stranger(8));
  assert.equal(await pairing.claim(await pairing.newOwnerToken(), 'telegram:9'), true);
  assert.deepEqual(
    (await pairing.pending()).map(({ sender }) => sender),
    ['telegram:8'],
  );
});

test('A10 the first owner claims with a token of 128 bits, once, within ten minutes', async () => {
  const { clock, people, pairing } = await setUp();
  const late = await pairing.newOwnerToken();
  await clock.advance(600_001);
  assert.equal(await pairing.claim(late, 'telegram:9'), false);
  const token = await pairing.newOwnerToken();
  assert.match(token, /^[0-9a-f]{32}$/);
  assert.equal(await pairing.claim(`${token.slice(0, -1)}x`, 'telegram:9'), false);
  assert.equal(await pairing.claim(token, 'telegram:9'), true);
  assert.equal(await pairing.claim(token, 'telegram:10'), false);
  assert.deepEqual(await people.owners(), ['telegram:1', 'telegram:9']);
  assert.equal((await people.decide(stranger(9))).allowed, true);
});

test('A6 a moved group keeps its rules and its memory, and a circle of moves ends', async () => {
  const { moved } = await setUp();
  const old = { channel: 'telegram', chat: '-5' };
  const now = { channel: 'telegram', chat: '-1005', thread: '3' };
  assert.equal(await moved.remember('telegram:-5', 'telegram:-1005'), true);
  assert.equal(await moved.remember('telegram:-5', 'telegram:-1005'), false);
  assert.deepEqual(await moved.formerIds(now), ['telegram:-5']);
  assert.deepEqual(await moved.current(old), { channel: 'telegram', chat: '-1005' });
  assert.deepEqual(await moved.original(now), { channel: 'telegram', chat: '-5', thread: '3' });
  await moved.remember('telegram:-1005', 'telegram:-5');
  assert.deepEqual(await moved.formerIds(now), ['telegram:-5']);
});

test('S9 A10 many strangers are answered 30 times an hour in all, and cost no more than a few', async () => {
  const { clock, pairing, store } = await setUp();
  const answered = async (from: number): Promise<number> => {
    let count = 0;
    for (let n = from; n < from + 200; n++) if (await pairing.mayAnswer(`telegram:${n}`)) count++;
    return count;
  };
  assert.equal(await answered(0), 30);
  let keys = 0;
  for await (const _ of store.keyed('pairing').iterator()) keys++;
  assert.equal(keys, 30, 'who is not answered leaves nothing to walk over');
  assert.equal(await answered(1_000), 0);
  await clock.advance(3_600_001);
  assert.equal(await answered(2_000), 30);
});

test('A10 Q12 who is forgotten is neither owner nor paired any more', async () => {
  const { people } = await setUp();
  await people.addOwner('telegram:5');
  await people.pair({ sender: 'telegram:5', name: 'Eve', since: 1 });
  await people.setTimezone('telegram:5', 'Asia/Tokyo');
  assert.equal(await people.timezoneOf('telegram:5'), 'Asia/Tokyo');
  assert.equal(await people.forget('telegram:5'), true);
  assert.equal(await people.timezoneOf('telegram:5'), undefined);
  assert.equal(await people.isOwner('telegram:5'), false);
  assert.deepEqual(await people.paired(), []);
  assert.equal((await people.decide(stranger(5))).allowed, false);
});

test('H14 Q12 the language of who is forgotten goes with them, and is learnt anew if they come back', async () => {
  const { people } = await setUp();
  const eve = { id: 'telegram:5', language: 'de' } as const;
  for (const time of ['at first', 'once more']) {
    await people.addOwner(eve.id);
    assert.equal(await people.languageOf(eve.id), undefined, time);
    await people.heard(eve);
    assert.equal(await people.languageOf(eve.id), 'de', time);
    await people.forget(eve.id);
    assert.equal(await people.languageOf(eve.id), undefined, time);
  }
});

test('S8 Q12 names of people who wrote are kept for operators, follow their owner, and are forgotten', async () => {
  const { people } = await setUp();
  await people.heard({ id: 'telegram:5', name: 'Eve' });
  await people.heard({ id: 'telegram:6' });
  assert.deepEqual([...(await people.names())], [['telegram:5', 'Eve']]);
  await people.heard({ id: 'telegram:5', name: 'Eva' });
  assert.deepEqual([...(await people.names())], [['telegram:5', 'Eva']]);
  await people.forget('telegram:5');
  assert.deepEqual([...(await people.names())], []);
});

test('A10 the bot is claimed by a person in a direct message, and by nobody else', async () => {
  const claimed: string[] = [];
  const strangers = createStrangers({
    pairing: {
      claim: async (_token: string, sender: string) => claimed.push(sender) > 0,
    } as unknown as Pairing,
    replies: { answer: async () => undefined } as unknown as Replies,
    writeCommand: (_, name) => name,
  });
  const text = `/start claim_${'0'.repeat(32)}`;
  const person = stranger(1).sender;
  for (const more of [
    { sender: { ...person, kind: 'bot' } },
    { sender: { ...person, kind: 'guest' } },
  ] as const)
    assert.equal(await strangers.claims({ ...stranger(1), ...more, text }), false);
  assert.equal(await strangers.claims({ ...stranger(1), chatType: 'group', text }), false);
  assert.deepEqual(claimed, []);
  assert.equal(await strangers.claims({ ...stranger(1), text }), true);
  assert.deepEqual(claimed, ['telegram:1']);
});

test('S8 the 90 days of a name begin again on each day on which the person writes, however long the process runs', async () => {
  const { clock, people, store } = await setUp();
  const ann = { id: 'telegram:7', name: 'Ann' };
  const named = async () => [...(await people.names())];
  await people.heard(ann);
  assert.deepEqual(await named(), [['telegram:7', 'Ann']]);
  await store.keyed('people').delete('name:telegram:7');
  await people.heard(ann);
  assert.deepEqual(await named(), [], 'it was written today');
  await clock.advance(86_400_000);
  await people.heard(ann);
  assert.deepEqual(await named(), [['telegram:7', 'Ann']]);
});
