import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const line = (number: number): string => `Line ${number} of this long answer has some words in it.`;
const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n\n');
const toml = '[access]\ndm = "open"\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false\n';

test('H2 on Telegram an answer longer than ten messages is their worth of it, and then all of it as a file', async (t) => {
  const whole = lines(1_000);
  const bot = await startWholeBot(t, { toml, script: [whole, 'Less.'] });
  const ann = bot.telegram.person({ name: 'Ann', language: 'de' });
  ann.says('write much');
  const { file, text } = await ann.dm.nextFile('answer.md');
  assert.equal(file.bytes.toString(), whole);
  assert.equal(text, 'Diese Antwort ist zu lang für den Chat. Vollständig steht sie in answer.md.');
  await bot.bot.idle();
  const sent = ann.dm.sent();
  assert.equal(sent.length, 11);
  const shown = sent.slice(0, 10).map((message) => message.text);
  assert.ok(whole.startsWith(shown.join('\n\n')), 'the beginning, in order and without a gap');
  ann.says('less');
  await ann.dm.nextMessage('Less.');
  assert.match(JSON.stringify(bot.messages.requests.at(-1)), /Line 999 /, 'the transcript has all of it');
  await bot.bot.idle();
  assert.equal(ann.dm.sent().filter(({ file: one }) => one !== undefined).length, 1);
});

test('H2 on Slack an answer longer than ten messages is their worth of it, and then all of it as a file', async (t) => {
  const whole = lines(2_800);
  const bot = await startWholeBot(t, { toml, channels: ['slack'], script: [whole] });
  const { slack } = bot;
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.people.mention(anna, room, 'write much');
  const { files = [], blocks } = await slack.posted((posted) => posted.files !== undefined);
  assert.equal(slack.bytesOf(String(files[0]?.['id']))?.toString(), whole);
  assert.match(JSON.stringify(blocks), /This answer is too long for the chat\. All of it is in answer\.md\./);
  await bot.bot.idle();
  const shown = room.messages.filter((message) => message.text.includes('of this long answer'));
  assert.equal(shown.length, 10);
});
