import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerByText } from '../../../src/features/approvals/answer-by-text.ts';
import type { Approvals } from '../../../src/features/approvals/approvals.ts';
import type { Message } from '../../../src/core/message.ts';
import type { PendingRequest } from '../../../src/store/pending-requests.ts';
import { inEveryLanguage } from '../../../src/core/texts/say.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { appOf, partOf } from '../../support/app-of.ts';
import { makeMessage } from '../../support/make-message.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const askedAt = 1_000_000;

const shown = 'ask:shown#0';

async function setUp(...open: readonly Partial<PendingRequest>[]) {
  const store = await openStore('sqlite::memory:', { clock: createManualClock(askedAt) });
  const asked = makeMessage({});
  for (const [index, ask] of open.entries())
    await store.pendingRequests.add({
      id: `ABCDEFG${index}`,
      kind: 'approval',
      conversation: asked.conversation,
      requester: asked.sender.id,
      transcript: 't',
      toolUseId: `call_${index}`,
      payload: { message: shown },
      askedAt,
      expiresAt: askedAt + 300_000,
      ...ask,
    });
  const { conversation } = asked;
  const show = async (): Promise<void> => {
    await store.commit({ outbox: [{ key: shown, conversation, part: { markdown: 'May I?' } }] });
    await store.outbox.sending(shown);
    await store.outbox.sent(shown, { id: '1' });
  };
  const answers: string[] = [];
  const deps = {
    approvals: partOf<Approvals>({
      answer: async (id: string, _from: unknown, value: string) => {
        answers.push(`${id} ${value}`);
        return { kind: 'taken', text: '' };
      },
      awaits: async (id: string) => id === 'ABCDEFG0',
      groupOf: async () => undefined,
    }),
    ...appOf({ store, replies: { answer: async () => assert.fail('nobody is answered') } }),
  };
  const said = (text: string, more: Partial<Message>): Message =>
    makeMessage({ text, sentAt: askedAt + 5_000, ...more });
  const say = (text: string, more: Partial<Message> = {}) => answerByText(said(text, more), true, deps);
  const sayUnaddressed = (text: string) => answerByText(said(text, {}), false, deps);
  return { say, sayUnaddressed, answers, show, store, deps };
}

test('H11 T8 a plain yes or no, in any language of the bot, answers the only question', async () => {
  const { say, answers, show } = await setUp({});
  await show();
  for (const text of ['yes', 'Ja!', 'sí.', 'OUI', 'sim', 'да', 'はい。', '是'])
    assert.ok(await say(text), text);
  for (const text of ['no', 'Nein', 'não', 'нет', 'いいえ', '不']) assert.ok(await say(text), text);
  assert.equal(answers.filter((each) => each === 'ABCDEFG0 approve').length, 8);
  assert.equal(answers.filter((each) => each === 'ABCDEFG0 deny').length, 6);
});

test('H11 T8 a yes with more words, or before anything was asked, is a message', async () => {
  const { say, answers, show } = await setUp({});
  await show();
  for (const text of ['yes please do', 'yes, but not there', 'always', 'stop', 'ok', ''])
    assert.equal(await say(text), false, text);
  assert.equal(await say('yes', { sentAt: askedAt - 5_000 }), false);
  assert.equal(await say('yes', { sender: { id: 'telegram:7', name: 'Bob', kind: 'person' } }), false);
  const elsewhere = { conversation: { channel: 'telegram', chat: '-100' } };
  assert.equal(await say('yes', elsewhere), false);
  assert.deepEqual(answers, []);
});

test('T8 yes, no or always and the code answer a question from anywhere; in a sentence they are words', async () => {
  const { say, answers } = await setUp({}, {});
  for (const text of [
    'I would say yes ABCDEFG0',
    'yes ABCDEFG0 please',
    'yes\nABCDEFG0 and then some',
    'yes ABCDEFG0\nbut not now',
    'He said:\nyes ABCDEFG0',
    'not no ABCDEFG0',
    'yes ABCDEFG',
    'yes ABCDEFG00',
    'yesABCDEFG0',
    'ABCDEFG0',
    'maybe ABCDEFG0',
  ])
    assert.equal(await say(text), false, text);
  assert.deepEqual(answers, []);
  for (const text of ['yes ABCDEFG0', ' NO `abcdefg1` ', 'Always abcdefg0'])
    assert.equal(await say(text, { sentAt: askedAt - 5_000 }), true, text);
  assert.deepEqual(answers, ['ABCDEFG0 approve', 'ABCDEFG1 deny', 'ABCDEFG0 always']);
});

test('H11 T8 a yes of the same second counts, and so it does if older words still wait', async () => {
  const { say, answers, show, store } = await setUp({});
  await show();
  await store.inbox.accept(makeMessage({ id: 'telegram:42:2', text: 'also book it' }), { now: askedAt });
  assert.equal(await say('yes', { sentAt: askedAt - 1_000 }), false);
  assert.equal(await say('yes', { sentAt: askedAt - 999 }), true);
  assert.deepEqual(answers, ['ABCDEFG0 approve']);
});

test('H11 T8 U14 with two questions, or one of a run, a plain yes approves nothing', async () => {
  for (const open of [[{}, {}], [{ kind: 'question' }], [{}, { kind: 'question' }], []] as const) {
    const { say, answers, show } = await setUp(...open);
    await show();
    assert.equal(await say('yes'), false);
    assert.deepEqual(answers, []);
  }
  const { say, answers, show } = await setUp({}, { requester: 'telegram:7' });
  await show();
  assert.ok(await say('yes'), 'what somebody else is asked does not count');
  assert.deepEqual(answers, ['ABCDEFG0 approve']);
});

test('H11 T8 a plain yes counts only for what was shown, and only as the next words of the person', async () => {
  const unseen = await setUp({});
  assert.equal(await unseen.say('yes'), false, 'the question is still on its way');

  const waiting = await setUp({});
  await waiting.show();
  await waiting.store.inbox.accept(makeMessage({ id: 'telegram:42:2', text: 'also book it?' }), {
    now: askedAt + 1,
  });
  assert.equal(await waiting.say('yes', { id: 'telegram:42:3' }), false, 'it may be about the other message');

  const said = await setUp({});
  await said.show();
  const result = {
    kind: 'user',
    sender: 'telegram:42',
    content: 'done',
    about: 'dig',
    at: askedAt + 1,
  } as const;
  await said.store.commit({ entries: [{ transcript: 'telegram:42', entry: result }] });
  assert.ok(await said.say('no'), 'what nobody wrote does not count');
  const entry = { kind: 'user', sender: 'telegram:42', content: 'also book it?', at: askedAt + 1 } as const;
  await said.store.commit({ entries: [{ transcript: 'telegram:42', entry }] });
  assert.equal(await said.say('yes'), false);
  assert.deepEqual([...unseen.answers, ...waiting.answers, ...said.answers], ['ABCDEFG0 deny']);
});

const code = 'ABCDEFG0';
const printed = {
  approve: inEveryLanguage('yes'),
  deny: inEveryLanguage('no'),
  always: inEveryLanguage('always'),
} as const;

test('T8 H14 what a question prints in any language is taken as written, with or without a mention', async () => {
  const { say, sayUnaddressed, answers } = await setUp({});
  for (const [value, words] of Object.entries(printed)) {
    assert.equal(words.length, 8);
    for (const word of words)
      for (const text of [
        `${word} ${code}`,
        `${word.toUpperCase()}  ${code.toLowerCase()} `,
        `\`${word} ${code}\``,
        `${word.normalize('NFD')}\u3000\`${code}\``,
      ])
        for (const answer of [say, sayUnaddressed]) {
          answers.length = 0;
          assert.ok(await answer(text), text);
          assert.deepEqual(answers, [`${code} ${value}`], text);
        }
  }
});

/** A word and the code, in what is no answer. */
const around: readonly ((word: string) => string)[] = [
  (word) => `I would say ${word} ${code}`,
  (word) => `${word} ${code}?`,
  (word) => `${word} ${code} please`,
  (word) => `${word}, ${code}`,
  (word) => `${word}: ${code}`,
  (word) => `${word} ${code}, but not now`,
  (word) => `not ${word} ${code}`,
  (word) => `${word} ${word} ${code}`,
  (word) => `"${word} ${code}"`,
  (word) => `> ${word} ${code}`,
  (word) => `>${word} ${code}`,
  (word) => `~~${word} ${code}~~`,
  (word) => `~${word} ${code}~`,
  (word) => `write ${word} ${code}\n`,
  (word) => `Ann: ${word} ${code}`,
  (word) => `${word} ${code}\n${word} ${code}`,
  (word) => `${code} ${word}`,
  (word) => `${word} ${code}0`,
  (word) => `${word} ${code.slice(1)}`,
  (word) => `${word}${code}`,
  (word) => `${word} / no ${code}`,
  (word) => `- ${word} ${code}`,
  (word) => `/${word} ${code}`,
  (word) => `${word} ${code} 👍`,
];

test('T8 H14 a code inside other words, quoted or asked about, decides nothing in any language', async () => {
  const { say, sayUnaddressed, answers } = await setUp({});
  const texts = Object.values(printed)
    .flat()
    .flatMap((word) => around.map((make) => make(word)));
  assert.ok(texts.length > 500);
  for (const text of texts)
    for (const answer of [say, sayUnaddressed]) assert.ok(!(await answer(text)), text);
  for (const other of ['maybe', 'stop', 'ok', 'so', 'yesno'])
    assert.ok(!(await say(`${other} ${code}`)), other);
  const forwarded = { name: 'Bob', own: false, text: `yes ${code}` };
  assert.ok(!(await say('', { shared: [forwarded] })));
  assert.ok(!(await say('look', { replyTo: forwarded })));
  assert.deepEqual(answers, []);
});

test('T8 H10 without a mention only a code that waits for this person is heard, and a plain yes never', async () => {
  const { sayUnaddressed, answers, show } = await setUp({});
  await show();
  for (const text of ['yes', 'no', 'yes ABCDEFG1', 'hello'])
    assert.equal(await sayUnaddressed(text), false, text);
  assert.deepEqual(answers, []);
});

test('T8 an answer that does not count is told, an unknown code is an ordinary message, and who says it is passed on', async () => {
  const { store, show } = await setUp({});
  await show();
  const told: string[] = [];
  const given: unknown[] = [];
  const answer = (kind: 'taken' | 'late' | 'not_yours' | 'unknown') =>
    answerByText(makeMessage({ text: 'yes ABCDEFG0' }), true, {
      approvals: partOf({
        answer: async (...asked) => (given.push(asked), kind === 'unknown' ? { kind } : { kind, text: kind }),
        awaits: async () => true,
        groupOf: async () => undefined,
      }),
      ...appOf({ store, replies: { answer: async (_: Message, text: string) => void told.push(text) } }),
    });
  assert.deepEqual(
    [await answer('taken'), await answer('late'), await answer('not_yours'), await answer('unknown')],
    [true, true, true, false],
  );
  assert.deepEqual(told, ['late', 'not_yours']);
  const { sender, conversation } = makeMessage();
  const from = { sender: sender.id, name: sender.name, conversation, language: sender.language, typed: true };
  assert.deepEqual(given[0], ['ABCDEFG0', from, 'approve']);
});

const bob = { id: 'telegram:7', name: 'Bob', kind: 'person' } as const;
const later = askedAt + 1;

test('H11 T8 what others wrote, what a task brings, and the yes itself do not come between', async () => {
  const waits: Readonly<Record<string, Partial<Message>>> = {
    'of somebody else': { id: 'telegram:42:2', sender: bob },
    'of a task': {
      id: 'telegram:42:2',
      task: { kind: 'hook', id: 'h', name: 'alarm', prompt: 'look' },
    },
    itself: { id: 'telegram:42:3' },
  };
  for (const [row, more] of Object.entries(waits)) {
    const { say, show, store, answers } = await setUp({});
    await show();
    await store.inbox.accept(makeMessage({ text: 'also book it', ...more }), { now: later });
    assert.ok(await say('yes', { id: 'telegram:42:3' }), row);
    assert.deepEqual(answers, ['ABCDEFG0 approve'], row);
  }
});

test('H11 T8 only later words of the person come between a question and a plain yes', async () => {
  const user = { kind: 'user', sender: 'telegram:42', content: 'also book it?' } as const;
  for (const [row, entry, counts] of [
    ['before the question', { ...user, at: askedAt - 1 }, true],
    ['at the question', { ...user, at: askedAt }, true],
    ['after it', { ...user, at: later }, false],
    ['of somebody else', { ...user, sender: bob.id, at: later }, true],
    ['of the host', { kind: 'notice', text: 'a notice', at: later }, true],
  ] as const) {
    const { say, show, store } = await setUp({});
    await show();
    await store.commit({ entries: [{ transcript: 'telegram:42', entry }] });
    assert.equal(await say('yes'), counts, row);
  }
});

test('H11 a question whose message is not known is answered by its code alone', async () => {
  const { say } = await setUp({ payload: { message: 42 } });
  assert.equal(await say('yes'), false);
  assert.equal(await say('yes ABCDEFG0'), true);
});
