import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { SendError } from '../../src/core/errors.ts';
import { startTelegramBot, type TelegramBot } from '../support/telegram-bot.ts';
import { sayIn } from '../../src/core/texts/say.ts';

const opus = Buffer.from(`OggS${'\0'.repeat(24)}OpusHead`);
const vorbis = Buffer.from(`OggS${'\0'.repeat(25)}vorbis`);

/** The files that a person sees after the bot sent this one. */
async function sendTo(bot: TelegramBot, bytes: Buffer, size = bytes.length) {
  const ann = bot.server.person();
  ann.says('hi');
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'to-send-')), 'a.ogg');
  await writeFile(file, bytes);
  const part = {
    markdown: '**Listen**',
    file: { id: 'f', name: 'a.ogg', mime: 'audio/ogg', size, path: file },
  };
  await bot.channel.send({ channel: 'telegram', chat: String(ann.id) }, part, 'k');
  return ann.dm.everSent().map(({ text, file: sent }) => [text, sent?.name]);
}

for (const [what, bytes, method] of [
  ['Opus in Ogg is a voice note', opus, 'sendVoice'],
  ['other sound in Ogg is a file', vorbis, 'sendDocument'],
  ['a file that is cut short is a file', opus.subarray(0, 30), 'sendDocument'],
] as const)
  test(`M12 T12 ${what}`, async () => {
    await using bot = await startTelegramBot();
    assert.deepEqual(await sendTo(bot, bytes), [['Listen', 'a.ogg']]);
    assert.equal(bot.server.calls(method).length, 1);
  });

test('M12 T12 who takes no voice notes gets a file', async () => {
  await using bot = await startTelegramBot();
  const description = 'Bad Request: VOICE_MESSAGES_FORBIDDEN';
  bot.server.faults.add({ method: 'sendVoice', status: { code: 400, description } });
  assert.deepEqual(await sendTo(bot, opus), [['Listen', 'a.ogg']]);
  assert.equal(bot.server.calls('sendDocument').length, 1);
});

test('M12 T12 the limit that people are told is the one that holds', async () => {
  await using bot = await startTelegramBot();
  assert.equal(bot.channel.files.largest, 50_000_000);
  await assert.rejects(sendTo(bot, opus, 50_000_001), (error) => {
    assert.ok(error instanceof SendError);
    assert.match(sayIn(undefined)(error.sentence ?? ''), /up to 50 MB/);
    assert.match(sayIn('ja')(error.sentence ?? ''), /送れるのは 50 MB まで/);
    return true;
  });
});
