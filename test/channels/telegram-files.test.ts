import assert from 'node:assert/strict';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { FetchFileError } from '../../src/core/errors.ts';
import { toAttachments } from '../../src/channels/telegram/to-message.ts';
import { startTelegramBot, type TelegramBot } from '../support/telegram-bot.ts';
import type { SentFile } from '../servers/telegram/person.ts';
import { sayIn } from '../../src/core/texts/say.ts';

const bytes = Buffer.from('the bytes of a file, some of them at least');
const limit = 20 * 1024 * 1024;

/** What a person sent, fetched as the bot would. */
async function fetchSent(bot: TelegramBot, sent: SentFile, signal = new AbortController().signal) {
  bot.server.person().sends(sent);
  const message = await bot.until('the message', () =>
    bot.events.flatMap((event) => (event.type === 'message' ? [event.message] : [])).at(-1),
  );
  const [attachment] = message.attachments;
  assert.ok(attachment?.ref !== undefined);
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'fetched-')), 'file');
  await bot.channel.fetchFile(
    { ...attachment, ref: attachment.ref },
    { path: file, maxBytes: limit },
    signal,
  );
  return readFile(file);
}

test('M12 a file that a person sent is fetched by its id, byte for byte', async () => {
  await using bot = await startTelegramBot();
  assert.deepEqual(await fetchSent(bot, { kind: 'document', name: 'a.txt', bytes }), bytes);
  assert.equal(bot.server.downloads.length, 1);
});

const troubles: readonly (readonly [string, SentFile, RegExp, boolean])[] = [
  [
    'is larger than Telegram gives',
    { kind: 'document', size: 25_000_000 },
    /larger than 20 MB, the most Telegram gives to a bot/,
    false,
  ],
  ['is no longer there', { kind: 'document', bytes, trouble: 'expired' }, /no longer has it/, false],
  [
    'is not given out',
    { kind: 'document', bytes, trouble: 'not found' },
    /doesn’t let me download it/,
    false,
  ],
  ['is cut in the middle', { kind: 'document', bytes, trouble: 'cut' }, /was incomplete/, true],
  [
    'has more bytes than was said',
    { kind: 'document', bytes, trouble: 'more than said' },
    /was incomplete/,
    true,
  ],
  [
    'has fewer bytes than was said',
    { kind: 'document', bytes, trouble: 'less than said' },
    /was incomplete/,
    true,
  ],
  ['has no end', { kind: 'document', bytes, trouble: 'endless' }, /larger than 21 MB/, false],
  [
    'lies on the server itself',
    { kind: 'document', bytes, trouble: { path: '/etc/passwd' } },
    /--local/,
    false,
  ],
  [
    'lies on a disk of the server',
    { kind: 'document', bytes, trouble: { path: 'C:/bot/a.txt' } },
    /--local/,
    false,
  ],
  [
    'is a path that climbs',
    { kind: 'document', bytes, trouble: { path: 'files/../../bot/getMe' } },
    /--local/,
    false,
  ],
  [
    'lies on another host',
    { kind: 'document', bytes, trouble: { path: 'https://evil.example/x' } },
    /--local/,
    false,
  ],
];

for (const [what, sent, sentence, passing] of troubles)
  test(`M12 S3 a file that ${what} is refused plainly, without the token`, async () => {
    await using bot = await startTelegramBot();
    await assert.rejects(fetchSent(bot, sent), (error) => {
      assert.ok(error instanceof FetchFileError, String(error));
      assert.match(sayIn(undefined)(error.sentence), sentence);
      assert.equal(error.passing, passing);
      assert.doesNotMatch(bot.written([error]), new RegExp(bot.server.token.slice(10)));
      return true;
    });
  });

test('M12 S3 the token never goes along a redirect', async () => {
  const seen: string[] = [];
  const elsewhere = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end('not the file');
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  try {
    const redirect = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/x`;
    await using bot = await startTelegramBot();
    await assert.rejects(fetchSent(bot, { kind: 'document', bytes, trouble: { redirect } }), FetchFileError);
    assert.deepEqual(seen, []);
  } finally {
    elsewhere.close();
  }
});

test('M12 a download that stands still ends with the signal', async () => {
  await using bot = await startTelegramBot();
  const stop = new AbortController();
  const fetched = fetchSent(bot, { kind: 'document', bytes, trouble: 'held' }, stop.signal);
  await Promise.all([
    assert.rejects(fetched, /too late/),
    bot.server
      .until('the download', () => bot.server.downloads[0])
      .then(() => stop.abort(new Error('too late'))),
  ]);
});

test('M12 of a photo the largest size is taken that a model is shown as it is', () => {
  const size = (id: string, side: number, file_size: number) => ({
    ...{ file_id: id, file_unique_id: id, width: side, height: side / 2, file_size },
  });
  const refOf = (...photo: ReturnType<typeof size>[]) => toAttachments({ photo })[0]?.ref;
  assert.equal(refOf(size('s', 90, 1000), size('m', 1280, 200_000), size('l', 2560, 600_000)), 'm');
  assert.equal(refOf(size('s', 90, 1000), size('m', 1280, 4_000_000)), 's');
  assert.equal(refOf(size('l', 2560, 600_000)), 'l');
});

test('M12 files of a message that is answered can be fetched, too', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  const photo = ann.sends({ kind: 'photo', bytes });
  ann.says('what is it?', { replyTo: photo });
  const answer = await bot.until('the reply', () =>
    bot.events
      .flatMap((event) => (event.type === 'message' && event.message.replyTo ? [event.message] : []))
      .at(0),
  );
  assert.match(answer.replyTo?.attachments?.[0]?.ref ?? '', /^file/);
});
