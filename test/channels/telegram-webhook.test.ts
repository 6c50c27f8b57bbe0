import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { OnEvent } from '../../src/core/channel.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { largestBody } from '../../src/channels/telegram/receive-webhook.ts';
import { freePort } from '../support/free-port.ts';
import { startTelegramBot, type TelegramBot } from '../support/telegram-bot.ts';

const secret = 'a-secret_of_the_webhook';

async function startHooked(onEvent?: OnEvent): Promise<{ bot: TelegramBot; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/telegram/hook`;
  const bot = await startTelegramBot({
    mode: 'webhook',
    webhook: { url, secret, listen: { host: '127.0.0.1', port } },
    server: { webhookRetryMs: 5 },
    ...(onEvent === undefined ? {} : { onEvent }),
  });
  return { bot, url };
}

function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body,
    headers: { 'x-telegram-bot-api-secret-token': secret, ...headers },
  });
}

test('H3 updates that Telegram posts with the secret arrive, one chat in order', async () => {
  await using bot = (await startHooked()).bot;
  const ann = bot.server.person();
  for (const text of ['one', 'two', 'three']) ann.says(text);
  await bot.until('three events', () => bot.events.length === 3);
  const texts = bot.events.map((event) => (event.type === 'message' ? event.message.text : ''));
  assert.deepEqual(texts, ['one', 'two', 'three']);
  assert.equal(bot.server.calls('getUpdates').length, 0);
});

test('Q1 a webhook call is answered 200 only once the update is stored', async () => {
  const stored = Promise.withResolvers<void>();
  await using bot = (await startHooked(() => stored.promise)).bot;
  bot.server.person().says('keep me');
  await bot.until('the event', () => bot.events.length === 1);
  assert.equal(bot.server.queue.waiting().length, 1);
  stored.resolve();
  await bot.server.until('the acknowledgement', () => bot.server.queue.waiting().length === 0);
});

test('Q1 an update that could not be stored is posted again, and other chats go on meanwhile', async () => {
  const tries = { left: 3 };
  const { bot } = await startHooked(async (event) => {
    if (event.type === 'message' && event.message.text === 'poison' && tries.left-- > 0)
      throw new Error('full');
  });
  await using _ = bot;
  const [ann, eve] = [bot.server.person(), bot.server.person()];
  ann.says('poison');
  ann.says('behind');
  eve.says('elsewhere');
  await bot.server.until('all stored', () => bot.server.queue.waiting().length === 0);
  const texts = bot.events.map((event) => (event.type === 'message' ? event.message.text : ''));
  assert.equal(texts.filter((text) => text === 'poison').length, 4);
  assert.ok(texts.indexOf('elsewhere') < texts.lastIndexOf('poison'));
});

test('H3 a call without the secret, or with another one, reaches nothing', async () => {
  const { bot, url } = await startHooked();
  await using _ = bot;
  const update = JSON.stringify({ update_id: 1, message: { message_id: 1 } });
  const given = ['', 'x', secret.slice(0, -1), `${secret}x`, secret.toUpperCase()];
  for (const wrong of given) {
    const response = await post(url, update, { 'x-telegram-bot-api-secret-token': wrong });
    assert.equal(response.status, 401);
  }
  assert.equal((await fetch(url, { method: 'POST', body: update })).status, 401);
  assert.equal(bot.events.length, 0);
  assert.equal((await post(`${url}/more`, update)).status, 404);
  assert.equal((await fetch(url)).status, 405);
});

test('S4 a body over the limit is refused, announced or not, and so is what is no update', async () => {
  const { bot, url } = await startHooked();
  await using _ = bot;
  assert.equal((await post(url, 'not json')).status, 400);
  assert.equal((await post(url, '[1]')).status, 400);
  const large = JSON.stringify({ update_id: 1, text: 'x'.repeat(largestBody) });
  assert.match(await rawAnswer(url, large, `content-length: ${large.length}`), /^HTTP\/1.1 413/);
  assert.match(await rawAnswer(url, chunked(large), 'transfer-encoding: chunked'), /^HTTP\/1.1 413/);
  assert.equal(bot.events.length, 0);
});

test('H3 webhook mode without a secret does not start, and says what to set', async () => {
  for (const webhook of [
    undefined,
    { url: 'https://example.org/x', secret: '', listen: { host: '127.0.0.1', port: 0 } },
  ]) {
    await using bot = await startTelegramBot({ start: false, mode: 'webhook', ...(webhook && { webhook }) });
    await assert.rejects(
      bot.channel.start(async () => undefined),
      (error) => error instanceof OperatorError && /webhook_secret/.test(error.message),
    );
    assert.equal(bot.server.calls().length, 0);
  }
});

test('H3 a webhook that Telegram refuses ends the start with the reason, and nothing goes on listening', async () => {
  const port = await freePort();
  await using bot = await startTelegramBot({
    start: false,
    mode: 'webhook',
    webhook: { url: 'http://example.org/x', secret, listen: { host: '127.0.0.1', port } },
  });
  await assert.rejects(
    bot.channel.start(async () => undefined),
    (error) => error instanceof OperatorError && /HTTPS URL/.test(error.message),
  );
  await assert.rejects(fetch(`http://127.0.0.1:${port}/x`));
});

/** Speaks HTTP by hand: a client library would rather fail than read an answer that comes before its body is sent. */
function rawAnswer(url: string, body: string, header: string): Promise<string> {
  const { port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => {
      answer += data.toString();
    });
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)));
    socket.on('close', () => resolve(answer));
    const head = `POST ${pathname} HTTP/1.1\r\nhost: x\r\nx-telegram-bot-api-secret-token: ${secret}\r\n${header}\r\n\r\n`;
    socket.write(head + body);
  });
}

function chunked(body: string): string {
  const pieces = body.match(/[^]{1,65536}/g) ?? [];
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`;
}

test('S4 a request for no readable address is refused, without an error in the log', async () => {
  const { bot, url } = await startHooked();
  await using _ = bot;
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.end('POST // HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 404 /);
  assert.deepEqual(
    bot.lines.filter(({ level }) => level === 'error'),
    [],
  );
});
