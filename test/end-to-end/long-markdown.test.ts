import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countReading } from '../support/count-reading.ts';
import { markdownShapes } from '../support/linear/markdown-shapes.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const reading = countReading();

/** A part of some 8,000 characters is read, written, and read again by block where that lost something. */
const mostAtOnce = 5 * 8_000;
const toml = '[access]\ndm = "open"\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false\n';
const some = ['a table with marks', 'rows without a rule', 'runs of backticks', 'nested quotes'];

const asPlain = ({ log }: WholeBot) => log.lines.filter(({ message }) => message.startsWith('long Markdown'));

/** A list of `count` lines with marks, of 40 characters each. */
const list = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `- **Item ${String(at).padStart(4, '0')}** is one of very many`,
  ).join('\n');

const cases = [
  { length: 30_000, names: Object.keys(markdownShapes) },
  { length: 150_000, names: some },
];
for (const { length, names } of cases) {
  test(`S15 on Telegram no answer of ${length} characters is read on the event loop, and others are answered`, async (t) => {
    const script = names.flatMap((name) => [markdownShapes[name]?.(length) ?? '', `*Echo* of ${name}`]);
    const bot = await startWholeBot(t, { toml, script, flood: false });
    const bob = bot.telegram.person({ name: 'Bob' });
    for (const name of names) {
      reading.reset();
      const ann = bot.telegram.person({ name: 'Ann' });
      ann.says(`write ${name}`);
      const first = ann.dm.nextMessage();
      // Its answer is there, and is being split.
      await Promise.race([reading.nextThread(), first]);
      bob.says('echo');
      await bob.dm.nextMessage(`Echo of ${name}`);
      await first;
      await bot.bot.idle();
      assert.ok(reading.threads() > 0, name);
      assert.ok(reading.mostInTurn() <= mostAtOnce, `${name}: ${reading.mostInTurn()} characters at once`);
      assert.deepEqual(asPlain(bot), [], name);
    }
  });
}

test('S15 on Slack no long answer is split, and no long part written, on the event loop', async (t) => {
  const script = some.map((name) => `${markdownShapes[name]?.(30_000)}\n\nThe end of ${name}`);
  const bot = await startWholeBot(t, { toml, channels: ['slack'], script });
  const { workspace, people } = bot.slack;
  const anna = workspace.addUser('anna');
  const room = workspace.addRoom('channel', { members: [anna.id] });
  for (const name of some) {
    reading.reset();
    people.mention(anna, room, `write ${name}`);
    await bot.slack.posted((posted) => JSON.stringify(posted).includes(`The end of ${name}`));
    await bot.bot.idle();
    assert.ok(reading.threads() > 0, name);
    assert.ok(reading.mostInTurn() <= mostAtOnce, `${name}: ${reading.mostInTurn()} characters at once`);
    assert.deepEqual(asPlain(bot), [], name);
  }
});

test('S15 a short answer starts no thread, with a table or without', async (t) => {
  const short = `**Words**\n\n| a | b |\n| - | - |\n| \`1\` | 2 |\n\n${list(150)}`;
  const bot = await startWholeBot(t, { toml, channels: ['telegram', 'slack'], script: [short, short] });
  reading.reset();
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('write little');
  await ann.dm.nextMessage();
  const anna = bot.slack.workspace.addUser('anna');
  const room = bot.slack.workspace.addRoom('channel', { members: [anna.id] });
  bot.slack.people.mention(anna, room, 'write little');
  await bot.slack.posted(({ text }) => text.includes('Words'));
  await bot.bot.idle();
  assert.ok(reading.mostInTurn() > short.length, 'it was read');
  assert.equal(reading.threads(), 0);
});

for (const channel of ['telegram', 'slack'] as const) {
  test(`S15 on ${channel} an answer whose thread died arrives whole, with its marks as text, and the log says so`, async (t) => {
    const long = `${list(500)}\n\n| a |\n| - |\n| 1 |`;
    const bot = await startWholeBot(t, { toml, channels: [channel], script: [long], flood: false });
    reading.reset();
    reading.onThread((thread) => void thread.terminate());
    const texts = await (channel === 'telegram' ? onTelegram(bot) : onSlack(bot));
    assert.equal(texts.join('\n').replace(/\s+/g, ' '), long.replace(/\s+/g, ' '));
    const lines = asPlain(bot);
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields['why'], fields['characters']]),
      [
        ['warn', 'failed', long.length],
        ['warn', 'failed', long.length],
      ],
      'for its tables, and for its parts',
    );
    assert.equal(reading.threads(), 2, 'its parts need none');
  });
}

test('S15 a long message to Slack whose thread died shows the Markdown as it was written', async (t) => {
  const long = list(250);
  const bot = await startWholeBot(t, { toml, channels: ['slack'], script: [long] });
  reading.reset();
  reading.onThread((thread) => {
    if (reading.threads() > 1) void thread.terminate();
  });
  const anna = bot.slack.workspace.addUser('anna');
  const room = bot.slack.workspace.addRoom('channel', { members: [anna.id] });
  bot.slack.people.mention(anna, room, 'write much');
  const { blocks = [] } = await bot.slack.posted((posted) => JSON.stringify(posted).includes('Item 0249'));
  const shown = blocks.map((block) => (block as { text?: { text?: string } }).text?.text ?? '');
  assert.equal(shown.join(''), long);
  assert.equal(asPlain(bot).length, 1);
});

async function onTelegram({ telegram, bot }: WholeBot): Promise<readonly string[]> {
  const ann = telegram.person({ name: 'Ann' });
  ann.says('write much');
  await ann.dm.nextMessage();
  await bot.idle();
  return ann.dm.sent().map(({ text }) => text);
}

async function onSlack({ slack, bot }: WholeBot): Promise<readonly string[]> {
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.people.mention(anna, room, 'write much');
  await slack.posted(({ text }) => text.includes('| 1 |'));
  await bot.idle();
  return room.messages
    .map(({ text }) => text)
    .filter((text) => !text.includes('write much'))
    .map((text) => text);
}
