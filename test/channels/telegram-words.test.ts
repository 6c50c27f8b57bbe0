import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

/** Time passes a hundred times as fast for the channel. */
const fast: Clock = {
  now: () => systemClock.now() * 100,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};
const noFlood = { flood: false };
const words = (markdown: string) => ({ kind: 'words', markdown }) as const;

test('H6 in a private chat words are a draft that changes and is kept up; only the answer is a message', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder();
  await bot.channel.status(place, words('It is'), work);
  await bot.server.until('the first words', () => ann.dm.drafts().length > 0);
  await bot.channel.status(place, words('It is **so**, and'), work);
  await bot.server.until('more words', () => ann.dm.drafts().at(-1)?.text === 'It is so, and');
  const count = ann.dm.drafts().length;
  await bot.server.until('the draft is put up again', () => ann.dm.drafts().length > count);
  await bot.channel.status(place, undefined, work);
  const drafts = ann.dm.drafts();
  assert.equal(new Set(drafts.map(({ id }) => id)).size, 1);
  assert.deepEqual([ann.dm.everSent(), work.receipts], [[], []]);
});

test('H6 in a group words are a message that changes, in reply, and becomes the answer by an edit', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group();
  const asked = bot.server.person().says('@test_bot hi', { in: group });
  const place = { channel: 'telegram', chat: String(group.id) };
  const work = keptPlaceholder({ replyTo: String(asked) });
  await bot.channel.status(place, words('It *is'), work);
  const first = await group.nextMessage('It');
  assert.deepEqual([first.replyTo, first.silent], [asked, false]);
  assert.deepEqual(await work.first, { id: String(first.id) });
  await bot.channel.status(place, words('It *is* so'), work);
  await bot.server.until('more words', () => group.sent()[0]?.text === 'It is so');
  await bot.channel.status(place, undefined, work);
  const buttons = [{ label: 'More', action: 'more' }];
  await bot.channel.edit(place, await work.first, { markdown: '**found**', buttons, replyTo: String(asked) });
  const [answer, ...more] = group.everSent();
  assert.deepEqual(more, []);
  assert.deepEqual(
    [answer?.id, answer?.text, answer?.entities[0]?.type, answer?.buttons, answer?.replyTo],
    [first.id, 'found', 'bold', ['More'], asked],
  );
  assert.equal(bot.server.calls('sendMessageDraft').length, 0, 'groups have no drafts');
});

test('H6 U13 words after a line are a new message, which rings, and the line goes; a line after words takes their message', async (t) => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group();
  bot.server.person().says('@test_bot hi', { in: group });
  const place = { channel: 'telegram', chat: String(group.id) };
  const work = keptPlaceholder();
  await bot.channel.status(place, { kind: 'line', text: 'searching' }, work);
  const line = await group.nextMessage('searching');
  await bot.channel.status(place, words('I found'), work);
  const found = await group.nextMessage('I found');
  assert.deepEqual(
    group.everSent().map(({ id, deleted, silent }) => [id, deleted, silent]),
    [
      [line.id, true, true],
      [found.id, false, false],
    ],
  );
  await t.waitFor(() => assert.deepEqual(work.receipts, [{ id: String(found.id) }]), { timeout: 60_000 });
  await bot.channel.status(place, { kind: 'line', text: 'reading' }, work);
  await bot.server.until('the line', () => group.sent()[0]?.text === 'reading');
  assert.deepEqual(work.receipts.at(-1), { id: String(found.id), silent: true });
  await bot.channel.status(place, undefined, work);
});

test('H6 H8 429 makes a preview wait as long as it says, and holds up no answer', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder();
  bot.server.faults.add({ method: 'sendMessageDraft', retryAfter: 30 });
  await bot.channel.status(place, words('It is'), work);
  await bot.until('the refusal', () => bot.lines.some(({ message }) => message.includes('draft')));
  await bot.channel.status(place, words('It is so'), work);
  await bot.channel.send(place, { markdown: 'meanwhile' }, 'k');
  await bot.server.until('the words', () => ann.dm.drafts().length > 0);
  const [refused, taken, ...more] = bot.server.calls('sendMessageDraft');
  assert.deepEqual([taken?.args['text'], more], ['It is so', []]);
  assert.ok((taken?.at ?? 0) - (refused?.at ?? 0) >= 295, '30 s, a hundred times as fast');
  assert.deepEqual(
    ann.dm.sent().map(({ text }) => text),
    ['meanwhile'],
  );
  await bot.channel.status(place, undefined, work);
});

test('H6 a server that knows no drafts is asked once; from then on words are a message', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder();
  bot.server.faults.add({ method: 'sendMessageDraft', status: { code: 404, description: 'Not Found' } });
  await bot.channel.status(place, words('It is'), work);
  await bot.until('the refusal', () => bot.lines.some(({ message }) => message.includes('draft')));
  await bot.channel.status(place, words('It is so'), work);
  await ann.dm.nextMessage('It is so');
  await bot.channel.status(place, undefined, work);
  assert.deepEqual(await work.first, { id: String(ann.dm.sent()[0]?.id) });
  assert.equal(bot.server.calls('sendMessageDraft').length, 1);
});

test('H6 words that Telegram can not parse are shown without marks; of a long answer the newest piece', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder();
  const description = 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0';
  bot.server.faults.add({ method: 'sendMessageDraft', status: { code: 400, description } });
  await bot.channel.status(place, words('**so** it'), work);
  await bot.server.until('the words', () => ann.dm.drafts()[0]?.text === 'so it');
  await bot.channel.status(place, words(`**so** it ${'goes on '.repeat(1_000)}to here`), work);
  await bot.server.until('more words', () => (ann.dm.drafts().at(-1)?.text.length ?? 0) > 3_000);
  assert.match(ann.dm.drafts().at(-1)?.text ?? '', /goes on to here$/);
  await bot.channel.status(place, undefined, work);
});

const long = Array.from({ length: 400 }, (_, index) => `Point ${index}: it is **so**, and it goes on.`).join(
  '\n\n',
);

for (const where of ['a private chat', 'a group'] as const)
  test(`H6 H8 in ${where} the preview of a long answer goes on to its end, and no call changes nothing`, async () => {
    await using bot = await startTelegramBot({ clock: fast, server: noFlood });
    const ann = bot.server.person();
    const group = bot.server.group();
    ann.says('hi');
    ann.says('@test_bot hi', { in: group });
    const place = { channel: 'telegram', chat: String(where === 'a group' ? group.id : ann.id) };
    const work = keptPlaceholder();
    const newest = (): string =>
      (where === 'a group' ? group.sent()[0]?.text : ann.dm.drafts().at(-1)?.text) ?? '';
    for (let point = 40; point < 400; point += 40) {
      const written = `${long.slice(0, long.indexOf(`Point ${point}:`))}Point ${point}: it is **s`;
      await bot.channel.status(place, words(written), work);
      await bot.server.until(`point ${point}`, () => newest().endsWith(`Point ${point}: it is s`));
    }
    const last = `${long.slice(0, long.indexOf('Point 360:'))}Point 360: it is **s`;
    // These look the same.
    for (const end of ['', ' ', '\n\n', '**', '**\n\n**']) {
      await bot.channel.status(place, words(last + end), work);
      await bot.channel.send(place, { markdown: `after ${JSON.stringify(end)}` }, end);
    }
    await bot.channel.status(place, undefined, work);
    const calls = ['sendMessageDraft', 'editMessageText'].flatMap((method) => bot.server.calls(method));
    // A draft that stands still is put up again after 20 s.
    const same = calls.filter(({ args, at }, index) => {
      const before = calls[index - 1];
      return args['text'] === before?.args['text'] && at - (before?.at ?? 0) < 195;
    });
    assert.deepEqual(same, []);
  });
