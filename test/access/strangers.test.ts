import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { createPairing, createStrangers, createWelcome } from '../../src/access/pairing.ts';
import { createUsers } from '../../src/access/users.ts';
import type { AuditEvent } from '../../src/audit/audit-event.ts';
import type { Message } from '../../src/core/message.ts';
import { sayIn } from '../../src/core/texts/say.ts';
import type { Replies } from '../../src/replies/replies.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';

const hourMs = 3_600_000;

async function setUp(t: TestContext) {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(() => store.close());
  const migrations = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const users = createUsers({
    stored: store.keyed('people'),
    access: () => ({
      ...{ owners: [], general: { dm: 'pairing' }, channels: new Map(), chats: new Map() },
      allowExternal: false,
    }),
    migrations,
  });
  const audited: AuditEvent[] = [];
  const pairing = createPairing({
    stored: store.keyed('pairing'),
    users,
    audit: { record: async (event) => void audited.push(event) },
    clock,
  });
  const answers: string[] = [];
  const told: (readonly [key: string, markdown: string, more: Parameters<Replies['tellOwners']>[2]])[] = [];
  const strangers = createStrangers({
    pairing,
    replies: {
      whole: async () => [],
      answer: async (_, markdown) => void answers.push(markdown),
      tellOwners: async (key, words, more) =>
        void told.push([key, typeof words === 'string' ? words : words(sayIn('en')), more]),
      rows: () => assert.fail('nothing else is sent'),
      say: () => assert.fail('nothing else is sent'),
      release: () => assert.fail('nothing waits'),
    },
    writeCommand: (_, name) => `/${name}`,
  });
  return { clock, store, users, pairing, strangers, audited, answers, told };
}

function from(n: number, change: Partial<Message> = {}): Message {
  return makeMessage({
    sender: { id: `telegram:${n}`, name: `S${n}`, kind: 'person' },
    conversation: { channel: 'telegram', chat: String(n) },
    ...change,
  });
}

test('A10 a stranger who writes in private gets a code, and the owners get it with two buttons', async (t) => {
  const { strangers, pairing, answers, told } = await setUp(t);
  await strangers.meet(from(7), 'STRANGER');
  const [request, ...more] = await pairing.pending();
  assert.ok(request !== undefined && more.length === 0);
  const { code } = request;
  assert.match(code, /^[A-HJ-NP-Z2-9]{8}$/);
  assert.equal(answers.length, 1);
  assert.ok(answers[0]?.includes(`\`${code}\``), answers[0]);
  assert.equal(told.length, 1);
  const [key, markdown, options] = told[0] ?? [];
  assert.equal(key, `pair:${code}`);
  for (const part of ['S7', 'telegram:7', code]) assert.ok(markdown?.includes(`\`${part}\``), part);
  assert.deepEqual(options?.buttons, [
    { label: 'Approve', action: `pair:approve:${code}` },
    { label: 'Deny', action: `pair:deny:${code}` },
  ]);
  await strangers.meet(from(7), 'STRANGER');
  assert.deepEqual([answers.length, told.length], [1, 1], 'once an hour');
});

test('A10 whom no list names reads their id, once an hour, and nobody is told; in a group nothing is said', async (t) => {
  const { clock, strangers, pairing, answers, told } = await setUp(t);
  for (const code of ['NOT_ALLOWED', 'STRANGER'] as const)
    for (const chatType of ['group', 'channel'] as const) await strangers.meet(from(7, { chatType }), code);
  await strangers.meet(from(7), 'CHAT_NOT_ALLOWED');
  assert.equal(answers.length, 0, 'they have not spent their answer either');
  await strangers.meet(from(7), 'NOT_ALLOWED');
  await strangers.meet(from(7), 'NOT_ALLOWED');
  assert.equal(answers.length, 1);
  assert.match(answers.join(), /`telegram:7`/);
  await clock.advance(hourMs);
  await strangers.meet(from(7), 'NOT_ALLOWED');
  assert.equal(answers.length, 2);
  assert.deepEqual([await pairing.pending(), told], [[], []]);
});

test('A10 what owners decide is done once and recorded with who decided', async (t) => {
  const { pairing, users, audited } = await setUp(t);
  const code = async (n: number) => (await pairing.request(from(n)))?.code ?? assert.fail();
  const [yes, no] = [await code(7), await code(8)];
  assert.equal((await pairing.approve(` ${yes}\n`, 'telegram:1'))?.sender, 'telegram:7');
  assert.equal((await pairing.deny(no.toLowerCase(), 'telegram:1'))?.sender, 'telegram:8');
  for (const decide of [pairing.approve, pairing.deny])
    for (const gone of [yes, no, 'ABCDEFGH', '']) assert.equal(await decide(gone, 'telegram:1'), undefined);
  assert.deepEqual(
    (await users.paired()).map(({ sender }) => sender),
    ['telegram:7'],
  );
  assert.deepEqual(
    [
      await pairing.revoke('telegram:7'),
      await pairing.revoke('telegram:7'),
      await pairing.revoke('telegram:8'),
    ],
    [true, false, false],
  );
  assert.deepEqual(await users.paired(), []);
  const pairingEvent = (verdict: string, sender: string, by?: string) => ({
    ...{ event: 'pairing', verdict, sender, by },
  });
  assert.deepEqual(audited, [
    pairingEvent('approved', 'telegram:7', 'telegram:1'),
    pairingEvent('denied', 'telegram:8', 'telegram:1'),
    pairingEvent('revoked', 'telegram:7'),
  ]);
});

test('A10 a code, an owner’s token and an answer end to the millisecond', async (t) => {
  const { clock, pairing } = await setUp(t);
  const early = await pairing.request(from(7));
  await clock.advance(1);
  const late = await pairing.request(from(8));
  const tokens = [await pairing.newOwnerToken(), await pairing.newOwnerToken()];
  await clock.advance(599_999);
  assert.equal(await pairing.claim(tokens[0] ?? '', 'telegram:9'), true, 'a millisecond before');
  await clock.advance(1);
  assert.equal(await pairing.claim(tokens[1] ?? '', 'telegram:9'), false, 'after ten minutes');
  await clock.advance(hourMs - 600_002);
  const pending = async () => (await pairing.pending()).map(({ sender }) => sender);
  assert.deepEqual(await pending(), ['telegram:7', 'telegram:8'], 'the first to end comes first');
  assert.equal(await pairing.mayAnswer('telegram:7'), false);
  await clock.advance(1);
  assert.deepEqual(await pending(), ['telegram:8']);
  assert.equal(await pairing.approve(early?.code ?? ''), undefined);
  assert.equal(await pairing.mayAnswer('telegram:7'), true, 'an hour after the first answer');
  assert.equal(await pairing.mayAnswer('telegram:8'), false);
  assert.equal((await pairing.deny(late?.code ?? ''))?.sender, 'telegram:8');
});

test('A10 Q12 who is forgotten waits for nothing any more; others do', async (t) => {
  const { pairing } = await setUp(t);
  await pairing.request(from(7));
  await pairing.request(from(8));
  assert.deepEqual([await pairing.forget('telegram:7'), await pairing.forget('telegram:7')], [true, false]);
  assert.deepEqual(
    (await pairing.pending()).map(({ sender, name, conversation }) => [sender, name, conversation.chat]),
    [['telegram:8', 'S8', '8']],
  );
});

test('A10 who claims the bot with its token is owner and told so; a wrong token is answered once an hour', async (t) => {
  const { strangers, pairing, users, audited, answers } = await setUp(t);
  const token = await pairing.newOwnerToken();
  const claiming = (n: number, text: string) => strangers.claims(from(n, { text }));
  assert.equal(await claiming(7, 'hello'), false);
  assert.equal(answers.length, 0);
  const wrong = `start claim_${'0'.repeat(32)}`;
  for (const time of ['at first', 'again']) {
    assert.equal(await claiming(8, wrong), true, time);
    assert.equal(answers.length, 1, time);
  }
  assert.match(answers[0] ?? '', /invalid or has expired/);
  assert.deepEqual(await users.owners(), []);
  await strangers.meet(from(7), 'NOT_ALLOWED');
  assert.equal(await claiming(7, `/start   CLAIM_${token.toUpperCase()}`), true);
  assert.deepEqual(await users.owners(), ['telegram:7']);
  assert.equal(answers.length, 3, 'the owner is answered however often they were before');
  for (const part of ['`telegram:7`', '`owner = ["telegram:7"]`', '`[bot]`', '/help'])
    assert.ok(answers.at(-1)?.includes(part), part);
  assert.deepEqual(audited, [{ event: 'pairing', verdict: 'owner', sender: 'telegram:7', by: undefined }]);
});

test('A10 who was approved is welcomed once, in their language and where they asked', async (t) => {
  const { clock, store, pairing } = await setUp(t);
  const { sender } = from(7);
  const request = await pairing.request(from(7, { sender: { ...sender, language: 'de' } }));
  assert.ok(request);
  const welcome = createWelcome(store);
  await welcome(request);
  await welcome(request);
  assert.equal(await store.outbox.pending(request.conversation), 1);
  const row = await store.outbox.next('telegram:7', clock.now());
  const markdown = sayIn('de')`You’re approved. Write to me, or ask me for help.`;
  assert.notEqual(markdown, sayIn('en')`You’re approved. Write to me, or ask me for help.`);
  assert.deepEqual([row?.key, row?.part], [`welcome:${request.code}`, { markdown }]);
});
