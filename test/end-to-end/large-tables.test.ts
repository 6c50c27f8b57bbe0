import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const rows = (count: number): string =>
  [
    '| name | sum |',
    '| --- | --- |',
    ...Array.from({ length: count }, (_, row) => `| =R${row} "x", y | -${row} |`),
  ].join('\n');
const toml = '[access]\ndm = "open"\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false\n';

test('H2 H14 a large table comes as a CSV file with a preview, in the language of the person', async (t) => {
  const bot = await startWholeBot(t, {
    toml,
    script: [`Here it is.\n\n${rows(40)}`, 'Small:\n\n| a |\n| - |\n| 1 |'],
  });
  const ann = bot.telegram.person({ name: 'Ann', language: 'de' });
  ann.says('list all');
  const sent = await ann.dm.nextFile('table.csv');
  const lines = sent.file.bytes.toString().split('\r\n');
  assert.deepEqual(
    [lines[0], lines[1], lines[40], lines.length],
    ['\ufeffname,sum', `"'=R0 ""x"", y",-0`, `"'=R39 ""x"", y",-39`, 42],
    'no cell is a formula, and numbers stay numbers',
  );
  const answer = await ann.dm.nextMessage();
  assert.match(
    answer.text,
    /^Here it is\.\n\nname[^]*=R7 "x", y +\| -7\n\nDie ersten 8 von 40 Zeilen\. Die ganze Tabelle steht in table\.csv\.$/,
  );
  ann.says('a small one');
  assert.match((await ann.dm.nextMessage()).text, /^Small:/);
  await bot.bot.idle();
});

test('H2 on Slack, which shows tables itself, only the longest come as files', async (t) => {
  const bot = await startWholeBot(t, { toml, channels: ['slack'], script: [rows(40), rows(61)] });
  const { slack } = bot;
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.people.mention(anna, room, 'forty');
  assert.match((await slack.posted(({ text }) => text.includes('=R39'))).text, /=R0/);
  slack.people.mention(anna, room, 'sixty-one');
  const { files = [] } = await slack.posted(({ files }) => files !== undefined);
  assert.match(slack.bytesOf(String(files[0]?.['id']))?.toString() ?? '', /=R60/);
  const short = await slack.posted(({ text }) => text.includes('The first 8 of 61 rows.'));
  assert.doesNotMatch(short.text, /=R8/);
});

test('H2 no cell of a table is a formula, whatever separates cells where it is opened', async (t) => {
  const cells: readonly (readonly [written: string, inFile: string])[] = [
    ['x;=1+1', `"x;'=1+1"`],
    ['x; =1+1', `"x; '=1+1"`],
    ['a;+cmd', `"a;'+cmd"`],
    ['a;-1,5;-x', `"a;-1,5;'-x"`],
    ['@sum', `'@sum`],
    ['＝1+1', `'＝1+1`],
    ['a;＠b', `"a;'＠b"`],
    ['-5 %', '-5 %'],
    ['+41 79', '+41 79'],
    ['a=b', 'a=b'],
  ];
  const table = [
    '| a |',
    '| - |',
    ...cells.map(([written]) => `| ${written} |`),
    ...Array.from({ length: 30 }, () => '| 1 |'),
  ].join('\n');
  const bot = await startWholeBot(t, { toml, script: [table] });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('list all');
  const { file } = await ann.dm.nextFile('table.csv');
  const lines = file.bytes.toString().split('\r\n');
  assert.deepEqual(
    lines.slice(1, cells.length + 1),
    cells.map(([, inFile]) => inFile),
  );
});
