import type * as Bolt from '@slack/bolt';
import type { App, Receiver } from '@slack/bolt';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createSocketLine } from './create-socket-line.ts';
import type { BoltParts } from './load-bolt.ts';
import { toSlackLogger } from './slack-log.ts';

type SocketOptions = Readonly<{
  appToken: string;
  clientOptions: Bolt.webApi.WebClientOptions;
  log: Log;
  clock: Clock;
}>;

/**
 * Socket Mode over two lines. Slack spreads events over the connections of an app and closes each every few hours; while
 * one is replaced the other takes what comes, so that slash calls and presses, which are never redelivered, are not lost.
 */
export function createSocketReceiver(bolt: BoltParts, options: SocketOptions): Receiver {
  const { log, clock } = options;
  const stopped = new AbortController();
  const state: { app?: App } = {};

  const createReceiver = () => {
    const receiver = new bolt.SocketModeReceiver({
      appToken: options.appToken,
      autoReconnectEnabled: false,
      logger: toSlackLogger(log),
      installerOptions: { clientOptions: options.clientOptions },
      processEventErrorHandler: async ({ error }) => {
        log.error({ err: error }, 'a Slack event was not stored: Slack delivers it again');
        return false;
      },
    });
    if (state.app !== undefined) receiver.init(state.app);
    return receiver;
  };
  const first = createSocketLine(createReceiver, log, clock, stopped.signal);
  const second = createSocketLine(createReceiver, log, clock, stopped.signal);

  return {
    init(app) {
      state.app = app;
    },
    async start() {
      await first.open();
      second.open().catch((error: unknown) => {
        log.warn({ err: error }, 'Slack is connected by one socket only');
      });
    },
    async stop() {
      stopped.abort(new Error('the Slack channel is stopping'));
      await Promise.all([first.close(), second.close()]);
    },
  };
}
