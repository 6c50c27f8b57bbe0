import type * as Bolt from '@slack/bolt';
import type { App, Receiver, SocketModeReceiver } from '@slack/bolt';
import type { Dispatcher } from 'undici';
import { proxyDispatcher } from './load-bolt.ts';
import { slackErrorCode, tokenErrors } from './slack-error.ts';
import { toSlackLogger } from './slack-log.ts';
import { createTroubleLog } from '../trouble-log.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import type { Log } from '../../lib/log.ts';

const closingMs = 2000;

const warningMs = 15_000;

type SocketOptions = Readonly<{
  appToken: string;
  clientOptions: Bolt.webApi.WebClientOptions;
  log: Log;
  clock: Clock;
}>;

/**
 * Receives events by two sockets. Slack closes each one every few hours. The other then takes slash commands and
 * presses, which Slack never sends again.
 */
export function createSocketReceiver(bolt: typeof Bolt, options: SocketOptions): Receiver {
  const { log, clock } = options;
  const stopped = new AbortController();
  const state: { app?: App; dispatcher?: Dispatcher } = {};

  const createReceiver = () => {
    const receiver = new bolt.SocketModeReceiver({
      dispatcher: state.dispatcher,
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
      state.dispatcher = await proxyDispatcher();
      await first.open();
      if (stopped.signal.aborted) return;
      log.info({ mode: 'socket' }, 'Slack is connected');
      second.open().catch((error: unknown) => {
        log.warn({ err: error }, 'Slack is connected by one socket only');
      });
    },
    async stop() {
      stopped.abort(new Error('the Slack channel is stopping'));
      await Promise.all([first.close(), second.close()]);
      await state.dispatcher?.destroy();
    },
  };
}

type SocketLine = Readonly<{
  /** Opens a connection. Throws OperatorError if trying again can't help. */
  open(): Promise<void>;
  close(): Promise<void>;
}>;

/**
 * One socket that replaces itself. At Slack's routine `disconnect`, Bolt would hang up and connect 5 s later. So its
 * reconnection is off, and it does not see that frame until a new receiver is connected.
 */
function createSocketLine(
  create: () => SocketModeReceiver,
  log: Log,
  clock: Clock,
  stopped: AbortSignal,
): SocketLine {
  const state: { opening?: Promise<void>; failures: number } = { failures: 0 };
  const open = new Set<SocketModeReceiver>();
  const trouble = createTroubleLog(log);

  const attempt = async (): Promise<void> => {
    const receiver = create();
    const { client } = receiver;
    const seen: { hello?: number; replaced?: Promise<void> } = {};
    const replace = (): Promise<void> => {
      if (seen.hello === undefined || stopped.aborted) return Promise.resolve();
      seen.replaced ??= reopen(seen.hello);
      return seen.replaced;
    };
    holdDisconnects(client, async (reason) => {
      await replace();
      // Slack uses the old socket for about ten seconds more.
      if (reason === 'warning') await elapsed(clock, warningMs, stopped);
    });
    client.on('disconnected', () => {
      open.delete(receiver);
      void replace();
    });
    const started = receiver.start();
    try {
      await withinTime(started, clock);
    } catch (error) {
      // If it is closed while it opens, it leaves a timer of 30 s in the SDK.
      void started.then(
        () => hangUp(receiver, log, clock),
        () => undefined,
      );
      throw error;
    }
    seen.hello = clock.now();
    trouble.over();
    open.add(receiver);
    if (stopped.aborted) await hangUp(receiver, log, clock);
  };

  const reopen = async (hello: number): Promise<void> => {
    // A socket may end right after it opened.
    state.failures = clock.now() - hello < 10_000 ? state.failures + 1 : 0;
    await connect(false);
  };

  const connect = async (first: boolean): Promise<void> => {
    while (!stopped.aborted) {
      if (state.failures > 1) await elapsed(clock, backoff(state.failures), stopped);
      try {
        state.opening = attempt();
        return await state.opening;
      } catch (error) {
        if (stopped.aborted) return;
        state.failures += 1;
        const code = slackErrorCode(error);
        if (first && code !== undefined && tokenErrors.includes(code)) throw badAppToken(code, error);
        trouble.failed(error, { code, failures: state.failures }, 'Slack socket not open: trying again');
      }
    }
  };

  return {
    open: () => connect(true),
    async close() {
      const opened = state.opening?.catch(() => undefined);
      await Promise.race([opened, clock.sleep(closingMs)]);
      await Promise.all([...open].map((receiver) => hangUp(receiver, log, clock)));
    },
  };
}

/** Runs `before` before the SDK hangs up at a `disconnect` frame. */
function holdDisconnects(
  client: SocketModeReceiver['client'],
  before: (reason: unknown) => Promise<void>,
): void {
  const readers = client.listeners('ws_message');
  const read = (frame: readonly unknown[]): void => {
    for (const reader of readers) reader.apply(client, [...frame]);
  };
  client.removeAllListeners('ws_message');
  client.on('ws_message', (...frame: readonly unknown[]) => {
    const goodbye = disconnectIn(frame[0]);
    if (goodbye === undefined) read(frame);
    else void before(goodbye.reason).then(() => read(frame));
  });
}

function badAppToken(code: string, cause: unknown): OperatorError {
  return new OperatorError(
    `Slack refused the app token (${code}). Set [slack] app_token to an app-level token (xapp-…) with the scope ` +
      'connections:write: api.slack.com/apps, Basic Information, App-Level Tokens',
    { cause },
  );
}

/** Milliseconds to wait after failures: 0.5 s, 1 s, 2 s … 30 s. */
function backoff(failures: number): number {
  return Math.min(30_000, 250 * 2 ** Math.min(failures - 1, 10));
}

/** Waits 15 s for Slack's hello, which usually comes within a second. Rejects after that. */
async function withinTime(started: Promise<unknown>, clock: Clock): Promise<void> {
  const over = new AbortController();
  const tooLate = clock.sleep(15_000, over.signal).then(() => {
    throw new Error('no hello from Slack within 15 s');
  });
  try {
    await Promise.race([started, tooLate]);
  } finally {
    over.abort();
    started.catch(() => undefined);
    tooLate.catch(() => undefined);
  }
}

/** Waits, but returns at once if the line is stopped. */
async function elapsed(clock: Clock, ms: number, stopped: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, stopped);
  } catch (error) {
    if (!stopped.aborted) throw error;
  }
}

/** Closes a socket; the SDK would keep one that does not respond. Never throws. */
async function hangUp({ client }: SocketModeReceiver, log: Log, clock: Clock): Promise<void> {
  const closed = client.disconnect().catch((error: unknown) => {
    log.debug({ err: error }, 'Slack socket not closed');
  });
  await Promise.race([closed, clock.sleep(closingMs)]);
}

function disconnectIn(data: unknown): Readonly<{ reason?: unknown }> | undefined {
  if (typeof data !== 'string' || !data.includes('"disconnect"')) return undefined;
  const frame = parseJson(data) as { type?: unknown; reason?: unknown } | null | undefined;
  return frame?.type === 'disconnect' ? frame : undefined;
}
