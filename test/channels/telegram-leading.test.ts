import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  createTelegram,
  type TelegramDeps,
  type TelegramSettings,
} from '../../src/channels/telegram/create-telegram.ts';
import type { Channel, ChannelEvent } from '../../src/core/channel.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { createLeadQueue, type LeadQueue } from '../support/lead-queue.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { createWaiting } from '../servers/telegram/waiting.ts';

/** Pauses last a millisecond; a long poll is the server's, on its own clock. */
const hasty: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 1), signal),
};

type Process = Readonly<{ channel: Channel; texts: string[] }>;

/** Processes of one bot that take turns by a queue. */
async function setUp(t: TestContext, queue: LeadQueue = createLeadQueue()) {
  const server = await startTelegramServer({ privacy: false });
  const waiting = createWaiting(60_000);
  const channels: Channel[] = [];
  t.after(async () => {
    await Promise.all(channels.map((channel) => channel.stop()));
    await server.close();
  });
  const begin = async (
    more: Partial<TelegramSettings & TelegramDeps> & {
      onEvent?: (event: ChannelEvent) => Promise<void>;
    } = {},
  ): Promise<Process> => {
    const { onEvent, ...options } = more;
    const texts: string[] = [];
    const channel = createTelegram(
      {
        token: server.token,
        apiRoot: server.url,
        mode: 'polling',
        paced: false,
        ...options,
      },
      {
        lead: queue.lead,
        log: quietLog(),
        clock: hasty,
        ...options,
      },
    );
    channels.push(channel);
    await channel.start(async (event) => {
      if (event.type === 'message') texts.push(event.message.text);
      waiting.check();
      await onEvent?.(event);
    });
    return { channel, texts };
  };
  return { server, queue, begin, until: waiting.until };
}

test('Q9 one process polls, the others start, wait and send all the same; when it stops the next takes over without a conflict', async (t) => {
  const { server, queue, begin, until } = await setUp(t);
  const first = await begin();
  const second = await begin();
  const ann = server.person();
  ann.says('one');
  await until('the first event', () => first.texts.length === 1);
  await second.channel.send({ channel: 'telegram', chat: String(ann.id) }, { markdown: 'hello' }, 'k');
  assert.equal(queue.terms(), 1);
  await first.channel.stop();
  ann.says('two');
  await until('the second event', () => second.texts.length === 1);
  assert.deepEqual([first.texts, second.texts], [['one'], ['two']]);
  const refused = server.calls('getUpdates').filter(({ answer }) => answer?.['error_code'] === 409);
  assert.deepEqual(refused, []);
});

test('Q9 who no longer leads stops at once, in the middle of a batch too, and what it did not acknowledge comes to the next', async (t) => {
  const { server, queue, begin, until } = await setUp(t);
  const held = Promise.withResolvers<void>();
  const ann = server.person();
  for (const text of ['one', 'two', 'three']) ann.says(text);
  const first = await begin({
    onEvent: async (event) => {
      if (event.type === 'message' && event.message.text === 'two') await held.promise;
    },
  });
  await until('the second message', () => first.texts.length === 2);
  const second = await begin();
  queue.depose();
  await until('all three', () => second.texts.length === 3);
  held.resolve();
  assert.deepEqual(second.texts, ['one', 'two', 'three']);
  await server.until('the acknowledgement', () => server.queue.waiting().length === 0);
  assert.deepEqual(first.texts, ['one', 'two']);
  await Promise.all([first.channel.stop(), second.channel.stop()]);
  const confirmed = server.calls('getUpdates').filter(({ args }) => args['timeout'] === 0);
  assert.deepEqual(confirmed, [], 'it cut off the process that polls now');
});

test('Q9 a long poll under way is given up when another process may lead, and this one waits its turn again', async (t) => {
  const { server, queue, begin, until } = await setUp(t);
  const only = await begin();
  await server.until('a poll', () => server.calls('getUpdates').length === 1);
  queue.depose();
  await server.until('a poll of the next term', () => server.calls('getUpdates').length === 2);
  server.person().says('still here');
  await until('the event', () => only.texts.length === 1);
  assert.equal(queue.terms(), 2);
});

test('Q9 a process that waits for its turn stops without one', async (t) => {
  const { begin } = await setUp(t);
  await begin();
  const second = await begin({ lead: (_what, until) => aborted(until) });
  await second.channel.stop();
});

test('Q9 starts at the same time do not disturb each other: a webhook that is being set elsewhere is set again', async (t) => {
  const { server, begin } = await setUp(t);
  const description = 'Conflict: terminated by other setWebhook';
  server.faults.add({ method: 'setWebhook', status: { code: 409, description } });
  server.faults.add({ method: 'setWebhook', retryAfter: 1 });
  const webhook = {
    url: 'https://bot.example/hook',
    secret: 'abc',
    listen: { host: '127.0.0.1', port: 0 },
  };
  await begin({ mode: 'webhook', webhook });
  assert.equal(server.calls('setWebhook').length, 3);
});

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
