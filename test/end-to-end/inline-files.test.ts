import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openDetails } from '../support/open-details.ts';
import { obedientInRuns, obedientSkill as skill } from '../support/obedient-model.ts';
import { startWholeBot } from '../support/whole-bot.ts';

/** A format example of another program, with its own keys. */
const format = 'context: inline\nagent: general\nmodel: default\nallowed-tools: read_file, grep_files\n';
const skills = {
  conv: skill('conv', format),
  look: skill('look', 'context: inline\nallowed-tools: Read, Grep, Glob\n'),
  bare: skill('bare', 'context: inline\nallowed-tools: Read, Grep\ndisallowed-tools: Read\n'),
  plain: skill('plain', 'context: inline\n'),
  fin: skill('fin', 'allowed-tools: write_file, bash\n'),
  books: skill('books', 'context: inline\nallowed-tools: Read, Grep, Write\n'),
};
const toml = [
  '[access]\nusers = ["telegram:42", "telegram:43"]\ngroups_mode = "open"',
  '[skills]\nbundled = false',
  ...['fin', 'books'].map((name) => `[skills.${name}]\nallow_users = ["telegram:42"]`),
].join('\n');

async function open(t: TestContext, more = '') {
  const set = await startWholeBot(t, {
    toml: `${toml}\n${more}`,
    skills,
    script: obedientInRuns,
    flood: false,
  });
  const folder = path.join(set.home, 'workspace', 'skills', 'conv', 'references');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'rules.md'), 'First rule: be kind.\nSecond rule: be BRIEF.\n');
  const ann = set.telegram.person({ id: 42, name: 'Ann' });
  const bob = set.telegram.person({ id: 43, name: 'Bob' });
  const room = set.telegram.group();
  const asked = (tool: string, input: object): string => `DO ${tool} ${JSON.stringify(input)}`;
  const answer = /Result|Not offered|I want to use|Hello/;
  const does = async (who: typeof ann, of: string, tool: string, input: object): Promise<string> => {
    who.says(`${of === '' ? '@test_bot' : `/${of}@test_bot`} ${asked(tool, input)}`, { in: room });
    return (await room.nextMessage(answer)).text;
  };
  const alone = async (of: string, tool: string, input: object): Promise<string> => {
    ann.says(`${of === '' ? '' : `/${of} `}${asked(tool, input)}`);
    return (await ann.dm.nextMessage(answer)).text;
  };
  const sends = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text);
    ann.sends({ kind: 'document', name: 'notes.txt', bytes, caption: 'see' });
    await ann.dm.nextMessage('Hello.');
  };
  return { ...set, ann, bob, room, does, alone, sends };
}

test('U8 T13 an inline skill that lists tools for reading is followed with them: its own files and the chat’s', async (t) => {
  const { alone, sends, messages } = await open(t);
  await sends('budget 77\nother\n');
  assert.match(await alone('conv', 'read_file', { path: '/chat/notes.txt' }), /budget 77/);
  assert.match(await alone('conv', 'read_file', { path: 'references/rules.md' }), /First rule/);
  assert.match(await alone('conv', 'read_file', { path: '/skill/references/rules.md' }), /First rule/);
  assert.match(
    await alone('conv', 'grep_files', { text: 'brief' }),
    /\/skill\/references\/rules\.md:2: Second rule: be BRIEF\./,
  );
  assert.match(
    await alone('conv', 'grep_files', { text: 'BUDGET', path: '/chat' }),
    /\/chat\/notes\.txt:1: budget 77/,
  );
  assert.match(await alone('look', 'list_files', {}), /notes\.txt/);
  assert.match(await alone('look', 'list_files', { path: '/skill' }), /SKILL\.md/);
  const systems = messages.requests.map(({ body }) => JSON.stringify(body.system));
  assert.ok(!systems.some((system) => system.includes('You carry out the skill')), 'nothing ran apart');
});

test('U8 T6 the tools for reading are there for that skill and that turn alone, and writing is not', async (t) => {
  const { alone, sends } = await open(t);
  await sends('budget 77\n');
  const file = { path: '/chat/notes.txt' };
  assert.match(await alone('', 'read_file', file), /Not offered|TOOL_NOT_ALLOWED/);
  assert.match(await alone('conv', 'read_file', file), /budget 77/);
  assert.match(await alone('', 'read_file', file), /Not offered|TOOL_NOT_ALLOWED/);
  for (const [of, tool] of [
    ['plain', 'read_file'],
    ['plain', 'grep_files'],
    ['conv', 'list_files'],
    ['conv', 'write_file'],
    ['conv', 'send_file'],
    ['bare', 'read_file'],
  ] as const)
    assert.match(
      await alone(of, tool, { ...file, content: 'x' }),
      /Not offered|TOOL_NOT_ALLOWED/,
      `${of} ${tool}`,
    );
  assert.match(await alone('bare', 'grep_files', { text: 'budget' }), /notes\.txt:1/);
});

test('T8 U8 the operator’s policy holds for what an inline skill reads', async (t) => {
  const rules = ['read_file', 'grep_files'].map(
    (tool) => `[[policy.rules]]\ntool = "${tool}"\naction = "deny"\n`,
  );
  const { alone, sends } = await open(t, rules.join(''));
  await sends('budget 77\n');
  assert.match(
    await alone('conv', 'read_file', { path: '/chat/notes.txt' }),
    /Not offered|TOOL_POLICY_DENIED/,
  );
  assert.match(await alone('conv', 'grep_files', { text: 'budget' }), /Not offered|TOOL_POLICY_DENIED/);
});

test('S16 U8 an inline skill reads nothing that another person’s skill left in a group', async (t) => {
  const { ann, bob, does } = await open(t);
  const command =
    'mkdir -p /chat/sub; for f in report.txt sub/more.txt; do echo SALARY-77 > /chat/$f; done; echo ok';
  assert.match(await does(ann, 'fin', 'bash', { command }), /ok/);
  const ways = [
    ['read_file', { path: '/chat/report.txt' }],
    ['read_file', { path: 'sub/more.txt' }],
    ['read_file', { path: '/chat/../report.txt' }],
    ['list_files', {}],
    ['list_files', { path: '/chat/sub' }],
    ['grep_files', { text: 'salary' }],
    ['grep_files', { text: 'salary', path: '/chat/sub' }],
    ['grep_files', { text: 'salary', path: '/' }],
  ] as const;
  for (const [tool, input] of ways) {
    const told = await does(bob, 'look', tool, input);
    assert.match(told, /Result/);
    assert.doesNotMatch(told, /SALARY|report\.txt \(|more\.txt \(/, `${tool}: ${told}`);
  }
  // An open skill reads the group's own folder for whoever follows it.
  assert.doesNotMatch(await does(ann, 'look', 'grep_files', { text: 'salary' }), /SALARY/);
});

test('S16 U8 a restricted inline skill reads a copy of the group’s files, and what it writes its people alone', async (t) => {
  const { ann, bob, does } = await open(t, '[agent]\ntools = ["use_skill", "write_file"]\n');
  await does(bob, '', 'write_file', { path: '/chat/open.txt', content: 'for all' });
  assert.match(await does(ann, 'books', 'read_file', { path: '/chat/open.txt' }), /for all/);
  await does(ann, 'books', 'write_file', { path: '/chat/own.txt', content: 'SALARY for few' });
  assert.match(await does(ann, 'books', 'grep_files', { text: ' FOR ' }), /open\.txt:1|own\.txt:1/);
  assert.match(await does(ann, 'books', 'read_file', { path: 'own.txt' }), /SALARY/);
  for (const by of ['look', 'books'])
    assert.doesNotMatch(await does(bob, by, 'grep_files', { text: 'salary' }), /SALARY/, by);
  assert.doesNotMatch(await does(ann, 'look', 'read_file', { path: '/chat/own.txt' }), /SALARY/);
});

test('S16 a file that somebody changes before the yes to a search is asked about again', async (t) => {
  const rule = '[[policy.rules]]\ntool = "grep_files"\naction = "confirm"\n';
  const { ann, room, bob, home } = await open(t, rule);
  const bytes = Buffer.from('first 77');
  bob.sends({ kind: 'document', name: 'notes.txt', bytes, caption: '@test_bot see' }, { in: room });
  await room.nextMessage('Hello.');
  ann.says('/look@test_bot DO grep_files {"text":"77"}', { in: room });
  const first = await openDetails(ann, await room.nextMessage(/I need a yes/), room);
  assert.match(first.text, /I want to use/);
  const chats = path.join(home, 'workspace', 'chats');
  const name = (await readdir(chats, { recursive: true })).find((each) => each.endsWith('notes.txt'));
  const file = path.join(chats, name ?? '');
  assert.equal(await readFile(file, 'utf8'), 'first 77');
  await writeFile(file, 'second 77');
  ann.pressesAlone(first.id, 'Approve', room);
  const again = await openDetails(ann, await room.nextMessage(/I need a yes/), room);
  assert.match(again.text, /A file that this call reads changed after you were asked/);
  assert.ok(!room.sent().some(({ text }) => text.includes('second')), 'it did not run');
});

test('S7 U8 what a sensitive inline skill reads marks the conversation, as a run of it does', async (t) => {
  const { ann, alone, sends } = await open(
    t,
    '[skills.conv]\nsensitive = true\n[agent]\ntools = ["use_skill", "web_fetch"]\n',
  );
  await sends('budget 77\n');
  assert.match(await alone('conv', 'read_file', { path: '/chat/notes.txt' }), /budget 77/);
  // Escaped: an address that the person did not type.
  ann.says('DO web_fetch {"url":"https://example.com/?q=\\u0037"}');
  await ann.dm.nextMessage(/I want to use/);
});
