import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { OutgoingFile, OutgoingPart } from '../../src/core/channel.ts';
import { createDelivery } from '../../src/replies/deliver.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { pngOf } from '../support/sent-files.ts';
import { startTelegramBot, type TelegramBot } from '../support/telegram-bot.ts';
import { partOf } from '../support/app-of.ts';

/** What a person sees after the bot sent them a part with these files. */
async function sendTo(bot: TelegramBot, files: readonly OutgoingFile[], more: Partial<OutgoingPart> = {}) {
  const ann = bot.server.person();
  ann.says('hi');
  const [file, ...rest] = files;
  const part = { markdown: '**Charts**', ...(file && { file, more: rest }), ...more };
  const receipt = await bot.channel.send({ channel: 'telegram', chat: String(ann.id) }, part, 'k');
  const sent = ann.dm.everSent();
  assert.equal(receipt.id, String(sent[0]?.id), 'the first of them is what may be asked for later');
  return sent.map(({ text, file: one, entities }) => [one?.kind, one?.name, text, entities.length]);
}

async function written(name: string, mime: string, bytes: Buffer): Promise<OutgoingFile> {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'album-')), name);
  await writeFile(file, bytes);
  return { id: name, name, mime, size: bytes.length, path: file };
}

const png = (name: string, side?: number) =>
  written(name, 'image/png', pngOf(name, side === undefined ? {} : { side }));

test('M12 T12 pictures of one answer are one album, the caption on the first', async () => {
  await using bot = await startTelegramBot();
  assert.deepEqual(await sendTo(bot, [await png('a.png'), await png('b.png'), await png('c.png')]), [
    ['photo', 'a.png', 'Charts', 1],
    ['photo', 'b.png', '', 0],
    ['photo', 'c.png', '', 0],
  ]);
  assert.equal(bot.server.calls('sendMediaGroup').length, 1);
  assert.equal(bot.server.calls('sendPhoto').length, 0);
});

test('M12 T12 a picture that Telegram does not show as one makes the album one of files', async () => {
  await using bot = await startTelegramBot();
  assert.deepEqual(await sendTo(bot, [await png('a.png'), await png('long.png', 9_000)], { markdown: '' }), [
    ['document', 'a.png', '', 0],
    ['document', 'long.png', '', 0],
  ]);
});

test('M12 T12 an album that a chat takes none of is refused in words for the person', async () => {
  await using bot = await startTelegramBot();
  const description = 'Bad Request: not enough rights to send documents to the chat';
  bot.server.faults.add({ method: 'sendMediaGroup', status: { code: 400, description } });
  const csv = await written('a.csv', 'text/csv', Buffer.from('a;b'));
  const txt = await written('b.txt', 'text/plain', Buffer.from('b'));
  await assert.rejects(sendTo(bot, [csv, txt]), {
    outcome: 'refused',
    sentence: /not allowed to send files in this chat/,
  });
});

test('M12 what goes together: pictures, or other files; a sound stands alone', async () => {
  await using bot = await startTelegramBot();
  const kind = (mime: string, size = 10) => bot.channel.files.album?.({ mime, size });
  assert.equal(kind('image/png'), kind('image/jpeg'));
  assert.equal(kind('text/csv'), kind('application/pdf'));
  assert.notEqual(kind('image/png'), kind('text/csv'));
  assert.equal(kind('image/png', 11 * 1024 * 1024), kind('text/csv'), 'a large picture goes as a file');
  assert.equal(kind('audio/ogg'), undefined);
});

const unknownMethod = { code: 404, description: 'Not Found: method not found' };

test('M12 H8 what Telegram does not do at all is refused for good; without a known token it is tried again', async () => {
  await using bot = await startTelegramBot();
  const album = [await png('a.png'), await png('b.png')];
  bot.server.faults.add({ method: 'sendMediaGroup', status: unknownMethod });
  await assert.rejects(sendTo(bot, album), { outcome: 'refused' });
  bot.server.faults.add({ method: 'sendMediaGroup', status: unknownMethod });
  bot.server.faults.add({ method: 'getMe', status: { code: 404, description: 'Not Found' } });
  await assert.rejects(sendTo(bot, album), { outcome: 'retry' });
});

test('Q6 M12 an album that Telegram refuses for good holds no later answer back, and the person reads why', async (t) => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.says('hi');
  const store = await openStore('sqlite::memory:');
  const files = [await png('a.png'), await png('b.png')];
  const delivery = createDelivery({
    outbox: store.outbox,
    store,
    channels: new Map([['telegram', bot.channel]]),
    currentPlace: async (place) => place,
    onMoved: async () => undefined,
    outgoing: partOf({
      find: async (id) => files.find((one) => one.id === id)?.path,
      remove: async () => undefined,
    }),
    clock: createManualClock(),
    log: quietLog(),
  });
  t.after(async () => {
    await delivery.stop(0);
    await store.close();
  });
  for (let times = 0; times < 10; times++)
    bot.server.faults.add({ method: 'sendMediaGroup', status: unknownMethod });
  const conversation = { channel: 'telegram', chat: String(ann.id) };
  const [file, ...more] = files.map(({ path: _, ...one }) => one);
  await store.commit({
    outbox: [
      { key: 'album', conversation, part: { markdown: '', file, more } },
      { key: 'later', conversation, part: { markdown: 'A later answer.' } },
    ],
  });
  delivery.start();
  await ann.dm.nextMessage(/could not send the file/);
  await ann.dm.nextMessage('A later answer.');
});
