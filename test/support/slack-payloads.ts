import assert from 'node:assert/strict';
import { App, type ReceiverEvent } from '@slack/bolt';
import type { Intake } from '../../src/channels/slack/create-intake.ts';
import { listenToSlack } from '../../src/channels/slack/listen.ts';
import { toSlackLogger } from '../../src/channels/slack/slack-log.ts';
import type { SlackIdentity } from '../../src/channels/slack/slack-options.ts';
import { storeFirst } from '../../src/channels/slack/store-first.ts';
import {
  fromSlackPress,
  fromSlackSaid,
  toSlash,
  type Converted,
  type Followed,
} from '../../src/channels/slack/to-event.ts';
import type { Names } from '../../src/channels/slack/plain-text.ts';
import type { Press } from '../../src/core/channel.ts';
import type { Message } from '../../src/core/message.ts';
import { noPartners } from '../servers/slack/no-partners.ts';
import { quietLog } from './quiet-log.ts';

/** Hands payloads to an intake by Bolt's own routing. Resolves with what Bolt acknowledges; rejects if it does not. */
export function byBolt(intake: Intake): (payload: object) => Promise<unknown> {
  const bolt: { app?: App } = {};
  const receiver = storeFirst({
    init: (app) => void (bolt.app = app),
    start: async () => undefined,
    stop: async () => undefined,
  });
  const authorize = async () => ({ botToken: 'xoxb-1', botId: 'BBOT', botUserId: 'UBOT', teamId: 'T1' });
  const log = quietLog();
  const options = { authorize, receiver, logger: toSlackLogger(log), ignoreSelf: false };
  listenToSlack(new App({ ...options, convoStore: false }), intake, { reactions: true, log });
  return async (payload) => {
    const acknowledged: unknown[] = [];
    const ack: ReceiverEvent['ack'] = async (answer) => void acknowledged.push(answer);
    await bolt.app?.processEvent({ body: { ...payload }, ack });
    if (acknowledged.length !== 1) throw new Error(`acknowledged ${acknowledged.length} times`);
    return acknowledged[0];
  };
}

/** An intake that follows threads, knows nobody who spoke in them, and shows nothing. */
export const quietIntake = {
  threads: {
    threadFollow: true,
    hasAnswered: async () => false,
    partners: noPartners,
    isAtWork: async () => false,
  },
  actions: {
    openForm: async () => undefined,
    showHome: () => undefined,
    tell: async () => undefined,
    openThread: async () => assert.fail('no thread is opened'),
  },
};

export type Meaning = Readonly<{ people?: readonly string[] }> &
  Readonly<
    | { event: Followed; followable: boolean }
    | { event: { type: 'message'; message: Message }; slash: true }
    | { event: { type: 'press'; press: Press } }
    | { ignored: string }
  >;

/** What a payload of any of the kinds that say something means. */
export function meaningOf(payload: unknown, me: SlackIdentity, now = 1, names?: Names): Meaning {
  const slash = toSlash(payload, me, now, names);
  if ('people' in slash)
    return { event: { type: 'message', message: slash.message }, slash: true, people: slash.people };
  const { type } = (payload ?? {}) as { type?: unknown };
  if (type === 'block_actions') {
    const pressed = fromSlackPress(payload, me, names);
    return 'people' in pressed
      ? { event: { type: 'press', press: pressed.press }, people: pressed.people }
      : pressed;
  }
  const said: Converted<Readonly<{ event: Followed; followable: boolean }>> = fromSlackSaid(
    payload,
    me,
    names,
  );
  return said;
}
