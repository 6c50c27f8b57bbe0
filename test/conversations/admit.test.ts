import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createGuardSignIns } from '../../src/capabilities/guard-sign-ins.ts';
import { receiveEvent, type ReceiveDeps } from '../../src/conversations/intake/receive-event.ts';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import type { Message } from '../../src/core/message.ts';
import { caller, capabilityStage } from '../support/capability-stage.ts';
import { makeMessage } from '../support/make-message.ts';

/** The way in, with a sign-in that waits for its code. Whoever it must not ask fails the test. */
async function openDoor(t: TestContext) {
  const stage = await capabilityStage(t);
  const { store, clock, log } = stage;
  const fails = (): never => assert.fail('nobody else is asked');
  const audit = { record: async () => undefined };
  const signIns = createGuardSignIns({
    take: (message) => stage.say(message.text, message),
    channels: new Map(),
    replies: { answer: async () => undefined },
    audit,
    log,
  });
  const deps: ReceiveDeps = {
    host: {
      store,
      migrations: createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock }),
      audit,
      clock,
      log,
    },
    people: {
      users: {
        heard: async () => undefined,
        mayAct: fails,
        owners: fails,
        decide: async ({ addressed }: Message) =>
          addressed
            ? { allowed: true }
            : { allowed: false, code: 'NOT_ADDRESSED', reason: 'it was not addressed' },
      },
      strangers: { claims: async () => false, meet: fails },
      groups: { left: async () => undefined },
      meetGroup: { joined: async () => undefined, spoken: async () => undefined },
    },
    reading: {
      commands: { atOnce: async () => false, resolve: fails },
      judge: fails,
    },
    asked: {
      signIns,
      answerAsks: async () => false,
      settings: { takeValue: async () => false, takeForm: fails },
    },
    pages: { press: fails, showHome: fails, suggestPrompts: fails },
    replies: { answer: fails, tellOwners: fails },
    isDue: { refusal: () => true, full: () => true },
  };
  const onEvent = (event: ChannelEvent) => receiveEvent(event, deps);
  const begun = await stage.flows.begin(
    caller(),
    { capability: 'test.secret', hint: 'work', call: 'c' },
    stage.signal,
  );
  assert.ok(begun.ok);
  const waiting = async () =>
    (await store.inbox.waitingIn('telegram:42')).map(({ message }) => ({
      text: message?.text,
      quoted: message?.replyTo?.text,
      shared: message?.shared?.map(({ text }) => text),
    }));
  return { ...stage, onEvent, waiting };
}

const callback = 'https://back.example/?code=good&state=state-work';
const out = '(the answer of a sign-in page, taken out)';

test('C6 a code that a message is edited into completes the sign-in and is never stored', async (t) => {
  const { onEvent, waiting, records } = await openDoor(t);
  await onEvent({ type: 'message', message: makeMessage({ text: 'one moment' }) });
  await onEvent({ type: 'edited', message: makeMessage({ text: callback }) });
  assert.deepEqual(await waiting(), [{ text: 'one moment', quoted: undefined, shared: undefined }]);
  const [flow] = await records.flows('telegram:42');
  assert.equal(flow?.state, 'submitted');
});

test('C6 a code that a message quotes or passes on is taken out before it is stored, in an edit, too', async (t) => {
  const { onEvent, waiting, store } = await openDoor(t);
  const quote = { name: 'Ann', own: false, text: callback };
  const message = makeMessage({
    text: 'does this work?',
    replyTo: quote,
    shared: [{ ...quote, note: 'forwarded' }],
  });
  const clean = { quoted: out, shared: [out] };
  await onEvent({ type: 'message', message });
  assert.deepEqual(await waiting(), [{ text: 'does this work?', ...clean }]);
  await onEvent({ type: 'edited', message: { ...message, text: 'and this?' } });
  assert.deepEqual(await waiting(), [{ text: 'and this?', ...clean }]);
  const place = { channel: 'telegram', chat: '-1' };
  await onEvent({
    type: 'message',
    message: { ...message, id: 'telegram:-1:1', conversation: place, chatType: 'group', addressed: false },
  });
  const [heard] = await store.overheard.recent('telegram:-1', 1, 0);
  assert.equal(heard?.replyTo?.text, out);
});

test('C6 a pasted code completes the sign-in, and nothing else hears of it', async (t) => {
  const { onEvent, waiting, records } = await openDoor(t);
  await onEvent({ type: 'message', message: makeMessage({ text: callback }) });
  assert.deepEqual(await waiting(), []);
  const [flow] = await records.flows('telegram:42');
  assert.equal(flow?.state, 'submitted');
});
