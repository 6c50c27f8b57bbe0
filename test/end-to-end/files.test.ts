import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { callSteps, isRun, resultsIn, stepsOf } from '../support/call-steps.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const skills = {
  report: '---\nname: report\ndescription: Makes reports.\n---\nMake a report and send it.\n',
};
const toml = '[access]\ndm = "open"\nusers = ["slack:*"]\ngroups_mode = "open"\n[skills]\nbundled = false\n';
const csv = 'name,amount\nAnn,3\n';

const runResults = ({ messages }: WholeBot): readonly string[] =>
  resultsIn(messages.requests.map(({ body }) => body).findLast(isRun) ?? assert.fail('no run'));

test('T2 T12 T13 on Telegram a run writes a file and sends it; the main agent learns what was delivered', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml,
    skills,
    script: callSteps([
      { name: 'write_file', input: { path: 'out/report.csv', content: csv } },
      { name: 'list_files', input: {} },
      { name: 'send_file', input: { path: '/scratch/out/report.csv', caption: 'The **report**' } },
    ]),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('/report');
  const sent = await ann.dm.nextFile('report.csv');
  assert.deepEqual([sent.file.kind, sent.file.bytes.toString()], ['document', csv]);
  assert.equal(sent.text, 'The report');
  assert.deepEqual(
    sent.entities.map(({ type }) => type),
    ['bold'],
  );
  await ann.dm.nextMessage('All done.');
  const [, listed, delivered] = runResults(bot);
  assert.match(listed!, /\/scratch:\\nout\/\\nout\/report\.csv \(18 bytes\)\\n\/chat:\\nempty/);
  assert.match(delivered!, /\[delivered to the conversation: report\.csv \(text\/csv, 18 bytes\)\]/);
  const main = JSON.stringify(bot.messages.requests.at(-1)!.body.messages);
  assert.match(main, /Its files are delivered already/);
  assert.match(main, /\[delivered to the conversation: report\.csv \(text\/csv, 18 bytes\)\]/);
  await bot.bot.idle();
  assert.deepEqual(await readdir(path.join(bot.home, 'workspace', 'outgoing')), [], 'its bytes are let go');
  assert.deepEqual(await readdir(path.join(bot.home, 'workspace', 'runs')), [], 'so is the scratch folder');
});

test('M12 T12 several files of one call are an album that replies to the question; a wrong path sends none of them', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml: toml.replace('users = ["slack:*"]', 'group_users = ["*"]'),
    skills,
    script: callSteps([
      { name: 'write_file', input: { path: 'a.csv', content: csv } },
      { name: 'write_file', input: { path: 'b.txt', content: 'b' } },
      { name: 'send_file', input: { path: ['a.csv', 'c.txt'] } },
      { name: 'send_file', input: { path: ['a.csv', 'b.txt'], caption: 'Both' } },
    ]),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  const room = bot.telegram.group();
  const asked = ann.says('/report@test_bot', { in: room });
  const first = await room.nextFile('a.csv');
  await room.nextFile('b.txt');
  assert.deepEqual([first.text, first.replyTo], ['Both', asked]);
  assert.equal(bot.telegram.calls('sendMediaGroup').length, 1);
  assert.equal(bot.telegram.calls('sendDocument').length, 0);
  const results = runResults(bot);
  assert.match(results[2]!, /FILE_NOT_FOUND/);
  assert.match(results[3]!, /They are on their way.*\[delivered to the conversation: a\.csv .*b\.txt/s);
  await bot.bot.idle();
  assert.deepEqual(await readdir(path.join(bot.home, 'workspace', 'outgoing')), []);
});

test('T12 H4 on Slack a file arrives in the thread of the question, once, marked with its key', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml,
    skills,
    channels: ['slack'],
    script: callSteps([
      { name: 'bash', input: { command: 'echo hello > a.txt; cat a.txt' } },
      { name: 'send_file', input: { path: 'a.txt', caption: 'For <!channel> *you*' } },
    ]),
  });
  const { slack } = bot;
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const asked = slack.people.mention(anna, room, '/report');
  const { files = [], blocks = [], threadTs } = await slack.posted(({ files }) => files !== undefined);
  assert.equal(threadTs, asked.ts);
  assert.deepEqual(
    [files[0]?.['name'], slack.bytesOf(String(files[0]?.['id']))?.toString()],
    ['a.txt', 'hello\n'],
  );
  const [block] = blocks as readonly Record<string, { type: string; text: string }>[];
  assert.equal(block?.['text']?.type, 'mrkdwn');
  assert.match(block?.['text']?.text ?? '', /^For &lt;\u2060!channel&gt; _you_$/, 'nobody is pinged');
  assert.match(JSON.stringify(block?.['block_id']), /^"skillet_part_[0-9a-f]{32}"$/);
  await slack.posted(({ text }) => text.includes('All done.'));
  assert.match(runResults(bot)[0]!, /hello/);
});

test('T10 what is in the conversation folder is there for the next run and for the main agent, and for no other conversation', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${toml}[agent]\ntools = ["use_skill", "send_file", "read_file", "list_files"]\n`,
    skills,
    script: (request) => {
      const said = JSON.stringify(request.messages);
      if (isRun(request)) {
        const call = said.includes(String.raw`<message>\nkeep`)
          ? { path: '/chat/kept.txt', content: 'mine' }
          : undefined;
        return callSteps([
          call === undefined
            ? { name: 'bash', input: { command: 'cat /chat/kept.txt || echo absent' } }
            : { name: 'write_file', input: call },
        ])(request);
      }
      if (!said.includes('main agent')) return 'ok';
      const results = resultsIn(request).length;
      const calls = [
        { name: 'read_file', input: { path: '/chat/kept.txt' } },
        { name: 'read_file', input: { path: '/scratch/x' } },
        { name: 'send_file', input: { path: 'kept.txt' } },
      ];
      const call = calls[results];
      if (call === undefined) return 'sent';
      return { content: [{ type: 'tool_use', id: `toolu_m${results}`, ...call }], stopReason: 'tool_use' };
    },
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  const bob = bot.telegram.person({ name: 'Bob' });
  ann.says('/report keep it');
  await ann.dm.nextMessage('ok');
  ann.says('/report show it');
  await ann.dm.nextMessage('ok');
  assert.match(runResults(bot)[0]!, /mine/);
  bob.says('/report show it');
  await bob.dm.nextMessage('ok');
  assert.match(runResults(bot)[0]!, /absent/);
  ann.says('main agent, send it');
  assert.equal((await ann.dm.nextFile('kept.txt')).file.bytes.toString(), 'mine');
  await ann.dm.nextMessage('sent');
  const [read, scratch] = resultsIn(bot.messages.requests.at(-1)!.body);
  assert.match(read!, /mine/);
  assert.match(scratch!, /FILE_NOT_FOUND/);
});

test('T2 T4 T5 with bash in [agent] tools the main agent runs commands: its conversation’s folder, a scratch that is gone, no network', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${toml}[agent]\ntools = ["use_skill", "skills_load", "bash", "read_file"]\n`,
    skills: { git: '---\nname: git\ndescription: Git.\nallowed-tools: Bash(cat:*)\n---\nUse it.\n' },
    script: stepsOf(
      [
        { name: 'bash', input: { command: 'echo mine > /chat/made.txt; echo x > left.txt; pwd; ls' } },
        { name: 'bash', input: { command: 'cat /chat/made.txt; ls left.txt' } },
        { name: 'read_file', input: { path: '/chat/made.txt' } },
        { name: 'skills_load', input: { skill: 'git' } },
        { name: 'bash', input: { command: 'cat /chat/made.txt; id' } },
        { name: 'bash', input: { command: "cat '/chat/made.txt'" } },
      ],
      'All done.',
    ),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('make it');
  await ann.dm.nextMessage('All done.');
  const [made, again, read, , refused, simple] = resultsIn(bot.messages.requests.at(-1)!.body);
  assert.match(made!, /left\.txt/);
  assert.match(again!, /mine/);
  assert.match(
    again!,
    /SCRIPT_FAILED/,
    'what one command left in its scratch folder is not there for the next',
  );
  assert.match(read!, /mine/);
  assert.match(refused!, /TOOL_NOT_ALLOWED/);
  assert.match(simple!, /mine/);
  assert.deepEqual(await readdir(path.join(bot.home, 'workspace', 'runs')), []);
});

test('T12 a limit of the platform is said to the person, and the conversation goes on', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml,
    skills,
    script: callSteps([
      { name: 'write_file', input: { path: 'a.txt', content: 'x' } },
      { name: 'send_file', input: { path: 'a.txt', caption: 'Look' } },
    ]),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  const status = { code: 413, description: 'Request Entity Too Large' };
  bot.telegram.faults.add({ method: 'sendDocument', status });
  ann.says('/report');
  const told = await ann.dm.nextMessage('could not send');
  assert.equal(
    told.text,
    'Look\n\nI could not send the file a.txt (1 byte). Telegram doesn’t accept files this large (1 byte).',
  );
  await ann.dm.nextMessage('All done.');
});

test('Q12 T10 forgetting a person removes the folder of their direct message', async (t) => {
  const bot = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${toml}[access.telegram]\ngroup_users = ["*"]\n`,
    skills,
    script: callSteps([{ name: 'write_file', input: { path: '/chat/diary.txt', content: 'secret' } }]),
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  const group = bot.telegram.group();
  ann.says('/report');
  await ann.dm.nextMessage('All done.');
  ann.says('/report@test_bot', { in: group });
  await group.nextMessage('All done.');
  const chats = path.join(bot.home, 'workspace', 'chats');
  await bot.bot.idle();
  const before = await readdir(chats);
  assert.equal(before.length, 2);
  await bot.bot.operate('forget', `telegram:${ann.id}`);
  const after = await readdir(chats);
  assert.equal(after.length, 1, "the group's stays");
});
