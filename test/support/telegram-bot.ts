import type { Channel, ChannelEvent, OnEvent } from '../../src/core/channel.ts';
import {
  createTelegram,
  type TelegramDeps,
  type TelegramSettings,
} from '../../src/channels/telegram/create-telegram.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Log } from '../../src/lib/log.ts';
import {
  startTelegramServer,
  type TelegramServer,
  type TelegramServerOptions,
} from '../servers/telegram/start-telegram-server.ts';
import { createWaiting } from '../servers/telegram/waiting.ts';

export type LogLine = Readonly<{ level: keyof Log; fields: object; message: string }>;

/** A Telegram channel that is connected to a strict server, and what came out of it. */
export type TelegramBot = AsyncDisposable &
  Readonly<{
    server: TelegramServer;
    channel: Channel;
    /** Events that were given to `onEvent`, rejected ones too. */
    events: readonly ChannelEvent[];
    lines: readonly LogLine[];
    until<T>(what: string, check: () => T | undefined | false): Promise<T>;
    /** Everything that was logged and these, as pino would write them: errors with their fields and causes. */
    written(errors?: readonly unknown[]): string;
  }>;

/** Starts both. `onEvent` decides about each event; by default it is stored at once. */
export async function startTelegramBot(
  options: Partial<TelegramSettings & TelegramDeps> & {
    server?: TelegramServerOptions;
    onEvent?: OnEvent;
    start?: boolean;
  } = {},
): Promise<TelegramBot> {
  const { server: serverOptions, onEvent, start = true, ...more } = options;
  const server = await startTelegramServer({ privacy: false, ...serverOptions });
  const waiting = createWaiting(60_000);
  const events: ChannelEvent[] = [];
  const lines: LogLine[] = [];
  const write =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields, message });
      waiting.check();
    };
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const channel = createTelegram(
    {
      token: server.token,
      apiRoot: server.url,
      mode: 'polling',
      paced: false,
      ...more,
    },
    {
      lead: async () => new AbortController().signal,
      log,
      clock: systemClock,
      ...more,
    },
  );
  if (start) {
    await channel.start(async (event) => {
      events.push(event);
      waiting.check();
      await onEvent?.(event);
    });
  }
  return {
    server,
    channel,
    events,
    lines,
    until: waiting.until,
    written: (errors = []) =>
      [...lines.map(({ fields, message }) => `${message} ${written(fields)}`), ...errors.map(written)].join(
        '\n',
      ),
    async [Symbol.asyncDispose]() {
      await channel.stop();
      await server.close();
    },
  };
}

function written(value: unknown): string {
  if (value instanceof Error) {
    return `${value.stack} ${JSON.stringify({ ...value })} ${value.cause === undefined ? '' : written(value.cause)}`;
  }
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, one]) => `${key}=${written(one)}`)
    .join(' ');
}
