import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { createGuardSignIns } from '../../src/accounts/guard-sign-ins.ts';
import { receiveEvent, type ReceiveDeps } from '../../src/conversations/intake/receive-event.ts';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { partsOfFeatures } from '../../src/conversations/parts-of-features.ts';
import { appOf, partOf } from './app-of.ts';
import { caller, capabilityStage } from './capability-stage.ts';

/** The way in, with a sign-in that waits for its code. Whoever it must not ask fails the test. */
export async function openDoor(t: TestContext) {
  const stage = await capabilityStage(t);
  const { store, clock, log } = stage;
  const fails = (): never => assert.fail('nobody else is asked');
  const audit = { record: async () => undefined };
  const signIns = createGuardSignIns({
    take: (message) => stage.say(message.text, message),
    channels: new Map(),
    replies: partOf({ answer: async () => undefined }),
    audit,
    log,
  });
  const features = partsOfFeatures([
    {
      name: 'sign-ins',
      takes: {
        secret: async (message) => ((await signIns.takes(message)) ? undefined : signIns.clean(message)),
      },
    },
  ]);
  const deps: ReceiveDeps = {
    ...appOf({
      store,
      migrations: createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock }),
      audit,
      clock,
      log,
      users: {
        heard: async () => undefined,
        mayAct: fails,
        owners: fails,
        decide: async ({ addressed }) =>
          addressed
            ? { allowed: true }
            : { allowed: false, code: 'NOT_ADDRESSED', reason: 'it was not addressed' },
      },
      groups: { left: async () => undefined },
      replies: { answer: fails, tellOwners: fails, release: async () => undefined },
    }),
    features,
    overview: { usable: fails, status: fails },
    strangers: { claims: async () => false, meet: fails },
    sayFirst: async () => undefined,
    meetGroup: { joined: async () => undefined, spoken: async () => undefined },
    // One command that is answered at once.
    commands: {
      atOnce: async ({ command }) => command?.name === 'c',
      resolve: fails,
      unknown: fails,
    },
    judge: fails,
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
