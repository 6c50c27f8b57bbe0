import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openDetails } from '../support/open-details.ts';
import { obedientInRuns, obedientSkill as skill } from '../support/obedient-model.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const skills = {
  fin: skill('fin'),
  calc: skill('calc'),
  ledger: skill('ledger', 'context: inline\n'),
  boss: skill('boss', 'allowed_tools: [use_skill]\n'),
};
const toml = [
  '[access]\nusers = ["telegram:42", "telegram:43"]\ngroups_mode = "open"',
  '[agent]\ntools = ["use_skill", "bash", "read_file", "write_file", "list_files", "send_file"]',
  '[skills]\nbundled = false',
  ...['fin', 'ledger', 'boss'].map((name) => `[skills.${name}]\nallow_users = ["telegram:42"]`),
].join('\n');

async function open(t: TestContext, more = '') {
  const set = await startWholeBot(t, {
    toml: `${toml}\n${more}`,
    skills,
    script: obedientInRuns,
    flood: false,
  });
  const ann = set.telegram.person({ id: 42, name: 'Ann' });
  const bob = set.telegram.person({ id: 43, name: 'Bob' });
  const room = set.telegram.group();
  /** What came of a call, by the main agent or by a run of a skill. */
  const does = async (who: typeof ann, tool: string, input: object, of?: string): Promise<string> => {
    who.says(`${of === undefined ? '@test_bot' : `/${of}@test_bot`} DO ${tool} ${JSON.stringify(input)}`, {
      in: room,
    });
    return (await room.nextMessage(/Result|Not offered|needs a yes/)).text;
  };
  return { ...set, ann, bob, room, does };
}

test('S16 what a skill of some people leaves in a group’s folder is read by no other person, skill or tool', async (t) => {
  const { ann, bob, does } = await open(t);
  const command =
    'echo SALARY-77 > /chat/report.txt; mkdir -p /chat/sub; echo SALARY-77 > /chat/sub/more.txt; echo ok';
  assert.match(await does(ann, 'bash', { command }, 'fin'), /ok/);
  await does(ann, 'write_file', { path: '/chat/notes.txt', content: 'SALARY-77' }, 'fin');
  await does(ann, 'write_file', { path: '/chat/inline.txt', content: 'SALARY-77' }, 'ledger');
  const ways = [
    ['read_file', { path: '/chat/report.txt' }],
    ['read_file', { path: 'notes.txt' }],
    ['list_files', {}],
    ['list_files', { path: '/chat/sub' }],
    ['send_file', { path: '/chat/report.txt' }],
    ['bash', { command: 'cat /chat/* /chat/*/* /chat/../*/* 2>&1; ls -aR /chat /chat/..' }],
  ] as const;
  for (const by of [undefined, 'calc'])
    for (const [tool, input] of ways) {
      const told = await does(bob, tool, input, by);
      assert.doesNotMatch(told, /Not offered/);
      assert.doesNotMatch(
        told,
        /SALARY|report\.txt \(|notes\.txt \(|inline\.txt \(|more\.txt/,
        `${tool} ${by}: ${told}`,
      );
    }
});

test('S16 the skill’s own people read it again by that skill, and have its files sent', async (t) => {
  const { ann, room, does } = await open(t);
  await does(ann, 'bash', { command: 'echo SALARY-77 > /chat/report.txt' }, 'fin');
  assert.match(await does(ann, 'bash', { command: 'cat /chat/report.txt' }, 'fin'), /SALARY-77/);
  assert.match(await does(ann, 'read_file', { path: '/chat/report.txt' }, 'fin'), /SALARY-77/);
  assert.match(await does(ann, 'send_file', { path: '/chat/report.txt' }), /on its way/);
  const { file } = await room.nextFile('report.txt');
  assert.match(file.bytes.toString(), /SALARY-77/);
});

test('S16 a restricted skill works with the files of the group as they are now, and changes none of them', async (t) => {
  const { ann, bob, does } = await open(t);
  await does(bob, 'write_file', { path: '/chat/sub/data.csv', content: 'first\n' });
  assert.match(await does(ann, 'bash', { command: 'cat /chat/sub/data.csv' }, 'fin'), /first/);
  await does(bob, 'write_file', { path: '/chat/sub/data.csv', content: 'second\n' });
  const command = 'cat /chat/sub/data.csv; echo SALARY-77 >> /chat/sub/data.csv; ln -s /etc /chat/etc';
  assert.match(await does(ann, 'bash', { command }, 'fin'), /second/);
  assert.match(await does(bob, 'bash', { command: 'cat /chat/sub/data.csv; ls /chat' }), /second\\nsub\\n/);
});

test('S16 a skill that a restricted one uses works in the folder of the restricted one', async (t) => {
  const { ann, bob, does } = await open(t);
  const inner = `DO bash ${JSON.stringify({ command: 'echo SALARY-77 > /chat/chained.txt; echo ok' })}`;
  assert.match(await does(ann, 'use_skill', { skill: 'calc', message: inner }, 'boss'), /ok/);
  assert.doesNotMatch(await does(bob, 'bash', { command: 'ls /chat' }, 'calc'), /chained/);
});

test('S16 in a direct message a restricted skill uses the folder of the conversation', async (t) => {
  const { ann, home } = await open(t);
  ann.says(`/fin DO write_file ${JSON.stringify({ path: '/chat/report.txt', content: 'SALARY-77' })}`);
  await ann.dm.nextMessage(/Result/);
  ann.says(`DO read_file ${JSON.stringify({ path: '/chat/report.txt' })}`);
  await ann.dm.nextMessage(/SALARY-77/);
  assert.equal((await readdir(path.join(home, 'workspace', 'chats'))).length, 1);
});

test('S16 a file of the group that somebody changes before the yes is not run: the question comes again', async (t) => {
  const rule = '[[policy.rules]]\nskill = "calc"\ntool = "bash"\naction = "confirm"\n';
  const { ann, bob, room, does, telegram } = await open(t, rule);
  await does(bob, 'write_file', { path: '/chat/report.sh', content: 'echo GOOD' });
  ann.says(`/calc@test_bot DO bash ${JSON.stringify({ command: 'sh /chat/report.sh' })}`, { in: room });
  const first = await openDetails(ann, await room.nextMessage(/needs a yes/), room);
  await does(bob, 'write_file', { path: '/chat/report.sh', content: 'echo EVIL' });
  ann.pressesAlone(first.id, 'Approve', room);
  const second = await openDetails(ann, await room.nextMessage(/needs a yes/), room);
  assert.match(second.text, /A file that this call reads changed after you were asked/);
  assert.ok(!room.sent().some(({ text }) => text.includes('EVIL')), 'it did not run');
  assert.notEqual(second.id, first.id);
  ann.pressesAlone(second.id, 'Approve', room);
  await telegram.until('it ran as it was approved', () =>
    room.sent().find(({ text }) => /Result.*EVIL/.test(text)),
  );
});

test('S16 Q12 a person’s file goes from the folder of a restricted skill, too, when they are forgotten', async (t) => {
  const { ann, bob, bot, room, home, does } = await open(t);
  const bytes = Buffer.from('BOB-1');
  bob.sends({ kind: 'document', name: 'mine.txt', bytes, caption: '@test_bot see' }, { in: room });
  await room.nextMessage('Hello.');
  assert.match(await does(ann, 'bash', { command: 'cat /chat/mine.txt' }, 'fin'), /BOB-1/);
  await bot.operate('forget', 'telegram:43');
  const left = await readdir(path.join(home, 'workspace', 'chats'), { recursive: true });
  assert.ok(!left.some((name) => name.endsWith('mine.txt')), left.join(' '));
});
