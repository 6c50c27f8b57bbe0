import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

/** Pauses of a second and more last a millisecond; a long poll is the server's, on its own clock. */
const hasty: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 1), signal),
};

/** A hundred times as fast: a long poll of 30 s ends after 0.3 s. */
const fast: Clock = {
  now: () => systemClock.now() * 100,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};

function textsOf(events: readonly ChannelEvent[]): readonly string[] {
  return events.map((event) => (event.type === 'message' ? event.message.text : event.type));
}

test('H3 messages arrive in order, and Telegram is told once they are stored', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.says('one');
  ann.says('two');
  await bot.until('two events', () => bot.events.length === 2);
  assert.deepEqual(textsOf(bot.events), ['one', 'two']);
  await bot.server.until('the acknowledgement', () => bot.server.queue.waiting().length === 0);
});

test('Q1 the offset moves only after onEvent resolved', async () => {
  const stored = Promise.withResolvers<void>();
  await using bot = await startTelegramBot({ onEvent: () => stored.promise });
  bot.server.person().says('keep me');
  await bot.until('the event', () => bot.events.length === 1);
  assert.equal(bot.server.queue.waiting().length, 1);
  stored.resolve();
  await bot.server.until('the acknowledgement', () => bot.server.queue.waiting().length === 0);
});

test('Q1 Q3 chats of one batch are stored side by side, the messages of each in order', async () => {
  const held = Promise.withResolvers<void>();
  const quick = Promise.withResolvers<void>();
  const after = Promise.withResolvers<void>();
  const done: string[] = [];
  await using bot = await startTelegramBot({
    async onEvent(event) {
      const text = event.type === 'message' ? event.message.text : '';
      if (text === 'hold') return held.promise;
      // The other chat's message can only be stored meanwhile.
      if (text === 'slow') await quick.promise;
      done.push(text);
      if (text === 'quick') quick.resolve();
      if (text === 'after') after.resolve();
    },
  });
  const [ann, ben] = [bot.server.person(), bot.server.person()];
  // What is said while one message is held arrives as one batch.
  ann.says('hold');
  await bot.until('the first event', () => bot.events.length === 1);
  ann.says('slow');
  ann.says('after');
  ben.says('quick');
  held.resolve();
  await after.promise;
  assert.deepEqual(done, ['quick', 'slow', 'after']);
});

test('Q1 what could not be stored comes again, with what stood behind it, and nothing is lost', async () => {
  const full = { tries: 0 };
  await using bot = await startTelegramBot({
    clock: hasty,
    onEvent: async (event) => {
      if (event.type === 'message' && event.message.text === 'two' && full.tries++ < 2) {
        throw new Error('disk full');
      }
    },
  });
  const ann = bot.server.person();
  for (const text of ['one', 'two', 'three']) ann.says(text);
  await bot.server.until('all stored', () => bot.server.queue.waiting().length === 0);
  const texts = textsOf(bot.events);
  assert.equal(texts.filter((text) => text === 'two').length, 3);
  assert.equal(texts.filter((text) => text === 'three').length, 1);
  assert.ok(texts.indexOf('three') > texts.lastIndexOf('two'));
});

test('Q1 what could not be stored of one chat stays at Telegram, though messages of others behind it were stored', async () => {
  const disk = { full: true };
  const stored = Promise.withResolvers<void>();
  await using bot = await startTelegramBot({
    clock: hasty,
    start: false,
  });
  const [ann, ben] = [bot.server.person(), bot.server.person()];
  ann.says('one');
  ben.says('two');
  await bot.channel.start(async (event) => {
    const text = event.type === 'message' ? event.message.text : '';
    if (text === 'one' && disk.full) throw new Error('disk full');
    if (text === 'one') stored.resolve();
  });
  await bot.server.until('another poll', () => bot.server.calls('getUpdates').length > 2);
  assert.match(JSON.stringify(bot.server.queue.waiting()), /"one"/, 'it was acknowledged');
  disk.full = false;
  await stored.promise;
});

test('Q1 a stop in the middle of a batch acknowledges what was stored and no more', async () => {
  const stored = Promise.withResolvers<void>();
  await using bot = await startTelegramBot({ start: false });
  const ann = bot.server.person();
  ann.says('one');
  ann.says('two');
  const asked = Promise.withResolvers<void>();
  await bot.channel.start(async () => {
    asked.resolve();
    await stored.promise;
  });
  await asked.promise;
  const stopped = bot.channel.stop();
  stored.resolve();
  await stopped;
  const left = bot.server.queue.waiting().map(({ body }) => JSON.stringify(body));
  assert.equal(left.length, 1);
  assert.match(left[0] ?? '', /two/);
});

test('H3 update ids that begin anew at a lower number are taken, no old offset is kept after a quiet poll', async () => {
  await using bot = await startTelegramBot({ server: { clock: fast } });
  const ann = bot.server.person();
  ann.says('before');
  await bot.server.until('the acknowledgement', () => bot.server.queue.waiting().length === 0);
  const [, next] = await bot.server.until('a poll after the acknowledgement', () => {
    const offsets = bot.server.calls('getUpdates').map(({ args }) => args['offset']);
    const since = offsets.slice(offsets.findIndex((offset) => offset !== undefined));
    return since.length > 1 && since;
  });
  assert.equal(next, undefined, 'the offset was kept');
  bot.server.queue.renumber();
  ann.says('after');
  await bot.until('the second event', () => bot.events.length === 2);
  assert.deepEqual(textsOf(bot.events), ['before', 'after']);
});

test('H3 an update that can not be read is logged and skipped, and those behind it arrive', async () => {
  await using bot = await startTelegramBot();
  bot.server.queue.add('message', { message_id: 3, chat: null, text: 'x' }, 1);
  bot.server.person().says('behind it');
  await bot.until('the event', () => bot.events.length === 1);
  await bot.server.until('the acknowledgement', () => bot.server.queue.waiting().length === 0);
  assert.ok(bot.lines.some(({ level, message }) => level === 'error' && message.includes('skipped')));
});

test('H3 a 409 is waited out: when the other poller is gone this one takes over', async () => {
  await using bot = await startTelegramBot({ clock: hasty, server: { clock: fast } });
  await bot.server.until('a poll', () => bot.server.calls('getUpdates').length > 0);
  const other = fetch(`${bot.server.url}/bot${bot.server.token}/getUpdates?timeout=1`);
  await bot.until('the warning', () => bot.lines.some(({ message }) => message.includes('another process')));
  await (await other).text();
  bot.server.person().says('still here');
  await bot.until('the event', () => bot.events.length === 1);
});

test('H3 a token that Telegram does not know ends the start with what to do', async () => {
  await using bot = await startTelegramBot({ start: false, token: '1:wrong' });
  await assert.rejects(
    bot.channel.start(async () => undefined),
    (error) => error instanceof OperatorError && /@BotFather/.test(error.message),
  );
});

test('H3 a Telegram that can not be reached yet is asked again until it answers', async () => {
  await using bot = await startTelegramBot({ start: false, clock: hasty });
  bot.server.faults.add({ method: 'getMe', times: 2, badGateway: true });
  bot.server.faults.add({ method: 'getMe', cut: 'before' });
  for (const json of ['null', '{"ok":true}', '{"error":"busy"}'])
    bot.server.faults.add({ method: 'getMe', badGateway: { status: 200, json } });
  await bot.channel.start(async () => undefined);
  assert.equal(bot.server.calls('getMe').length, 7);
});

test('H3 a webhook that was set before is taken away, and only wanted kinds of update are asked for', async () => {
  await using bot = await startTelegramBot();
  await bot.server.until('a poll', () => bot.server.calls('getUpdates').length > 0);
  assert.deepEqual(
    bot.server.calls('deleteWebhook').map(({ args }) => args['drop_pending_updates']),
    [false],
    'what waits is kept',
  );
  assert.ok(bot.server.queue.allowed().includes('callback_query'));
  assert.ok(!bot.server.queue.allowed().includes('business_message'));
});

test('H3 faults of polling are survived: 500, a cut, no JSON, 429', async () => {
  await using bot = await startTelegramBot({ clock: hasty });
  await bot.server.until('a poll', () => bot.server.calls('getUpdates').length > 0);
  bot.server.faults.add({
    method: 'getUpdates',
    status: { code: 500, description: 'Internal Server Error' },
  });
  bot.server.faults.add({ method: 'getUpdates', cut: 'before' });
  bot.server.faults.add({ method: 'getUpdates', badGateway: true });
  bot.server.faults.add({ method: 'getUpdates', retryAfter: 1 });
  const ann = bot.server.person();
  ann.says('one');
  await bot.until('the first event', () => bot.events.length === 1);
  ann.says('two');
  await bot.until('the second event', () => bot.events.length === 2);
});

test('S3 the token is in no error and no log line, whatever goes wrong', async () => {
  await using bot = await startTelegramBot({ clock: hasty });
  const ann = bot.server.person();
  const errors: unknown[] = [];
  for (const fault of [{ cut: 'before' }, { badGateway: true }, { retryAfter: 1 }] as const) {
    bot.server.faults.add({ method: 'getUpdates', ...fault });
    bot.server.faults.add({ method: 'sendMessage', ...fault });
    const place = { channel: 'telegram', chat: String(ann.id) };
    const error: unknown = await bot.channel.send(place, { markdown: 'x' }, 'k').catch((e: unknown) => e);
    errors.push(error);
    ann.says('again');
  }
  await bot.server.until('all taken', () => bot.server.queue.waiting().length === 0);
  const { token } = bot.server;
  const written = bot.written(errors);
  assert.match(written, /sendMessage[^]*getUpdates|getUpdates[^]*sendMessage/);
  assert.ok(!written.includes(token) && !written.includes(token.split(':')[1] ?? ''));
});

test('H3 privacy mode is told to the operator at the start, and only when it is on', async () => {
  await using open = await startTelegramBot();
  await using closed = await startTelegramBot({ server: { privacy: true } });
  const warned = ({ lines }: typeof open): boolean =>
    lines.some(({ message }) => message.includes('/setprivacy'));
  assert.deepEqual([warned(open), warned(closed)], [false, true]);
});

test('A6 a group that Telegram migrates is told as moved, by both messages', async () => {
  await using bot = await startTelegramBot();
  const group = bot.server.group({ type: 'group' });
  const next = group.migrate();
  await bot.until('both events', () => bot.events.length === 2);
  const moved = { type: 'moved', from: `telegram:${group.id}`, to: `telegram:${next.id}` };
  assert.deepEqual(bot.events, [moved, moved]);
});

test('H3 an album and a long text arrive with their join keys', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.sendsAlbum(3, 'holiday');
  ann.saysLong('x'.repeat(9000));
  await bot.until('six events', () => bot.events.length === 6);
  const keys = bot.events.map((event) => (event.type === 'message' ? event.join?.key : undefined));
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.equal(new Set(keys.slice(3)).size, 1);
  assert.ok(keys.every((key) => key !== undefined));
});

test('H3 a press reaches the bot and is answered; one that was stored too late is no error', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const buttons = [{ label: 'Approve', action: 'approve:1' }];
  const { id } = await bot.channel.send(place, { markdown: 'May I?', buttons }, 'k');
  const press = ann.presses(Number(id), 'Approve');
  await bot.server.until('the answer', () => press.answered());
  bot.server.faults.add({
    method: 'answerCallbackQuery',
    status: {
      code: 400,
      description: 'Bad Request: query is too old and response timeout expired or query ID is invalid',
    },
  });
  ann.presses(Number(id), 'Approve');
  await bot.until('the late one', () => bot.lines.some(({ message }) => message.includes('press')));
  assert.ok(!bot.lines.some(({ level }) => level === 'warn' || level === 'error'));
});

test('H13 the reaction is put on what was stored to be answered, and on nothing else', async () => {
  await using bot = await startTelegramBot({
    reaction: '👀',
    onEvent: async (event) => {
      if (event.type === 'message' && event.message.text !== 'who am I to you?') event.stored?.();
    },
  });
  const ann = bot.server.person();
  const unanswered = ann.says('who am I to you?');
  const answered = ann.says('hi');
  await bot.server.until('the reaction', () => ann.dm.reactions(answered).length > 0);
  assert.deepEqual([ann.dm.reactions(answered), ann.dm.reactions(unanswered)], [['👀'], []]);
});

test('B1 what came is begun before Telegram is asked for more', async () => {
  const pausing = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      if (ms !== 5) return systemClock.sleep(ms, signal);
      pausing.resolve('a pause');
      return begun.promise;
    },
  };
  await using bot = await startTelegramBot({ clock });
  bot.server.person().says('begin');
  await bot.until('the event', () => bot.events.length === 1);
  const asked = bot.server.calls('getUpdates').length;
  const next = bot.server.until('the next poll', () => bot.server.calls('getUpdates').length > asked);
  assert.equal(await Promise.race([pausing.promise, next]), 'a pause');
  begun.resolve();
  await next;
});
