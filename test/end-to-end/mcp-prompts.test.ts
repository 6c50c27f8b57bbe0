import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveTools } from '../servers/mcp/start-http-server.ts';
import { listedTool, makeToolFile } from '../servers/mcp/tool-files.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot, type WholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const open =
  '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nowner = ["telegram:42"]\nshutdown_seconds = 1\n';
const review = {
  name: 'review',
  description: 'Reviews a text.',
  arguments: [{ name: 'topic', required: true }, { name: 'style' }],
};

type Script = Extract<NonNullable<WholeBotOptions['script']>, (...of: never) => unknown>;

/** Says what the last prompt said, or that there was none. */
const answers: Script = ({ messages }) => {
  const last = JSON.stringify(messages.at(-1)).replaceAll('\\', '');
  return `It says: ${/review of [^}]*}|error [A-Z_]+/.exec(last)?.[0] ?? 'nothing'}`;
};

async function connected({ log }: WholeBot): Promise<void> {
  await log.line(({ message }) => message === 'an MCP server is connected');
}

const lastOf = ({ messages: { requests } }: WholeBot): MessagesRequest => requests.at(-1)!.body;

test('X9 M11 T8 a prompt of a server is a command of those who may use its tools, and its text is a stranger’s', async (t) => {
  const script = await makeToolFile(t, { tools: [listedTool('echo')], prompts: [{ listed: review }] });
  const bot = await startWholeBot(t, {
    toml: `${open}[mcp.notes]\n${script.toml}`,
    script: answers,
  });
  await connected(bot);
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  const bob = bot.telegram.person({ name: 'Bob', id: 7 });
  const room = bot.telegram.group({ title: 'Team' });
  ann.says('/notes_review owls in short');
  await ann.dm.nextMessage('It says: review of {"topic":"owls","style":"in short"}');
  const asked = lastOf(bot);
  assert.match(
    JSON.stringify(asked.messages.at(-1)),
    /started mcp_notes_prompt_review by its command\. A stranger wrote the output.*<output from=.{1,3}mcp notes.{1,3}>\\nreview of/,
  );
  assert.deepEqual(
    (asked.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith('mcp_')),
    ['mcp_notes_echo'],
    'no model is offered it',
  );
  ann.says('/help');
  await ann.dm.nextMessage(/\/notes_review topic \[style\].*Reviews a text\./);
  ann.says('/notes_review');
  await ann.dm.nextMessage(/What should notes_review work on\? Write .*topic \[style\]/);
  bob.says('/help');
  assert.doesNotMatch((await bob.dm.nextMessage(/\/whoami|help/)).text, /notes_review/);
  bob.says('/notes_review owls');
  await bob.dm.nextMessage('It says: nothing');
  ann.says('/notes_review@test_bot owls', { in: room });
  await room.nextMessage('It says: nothing');
});

test('X9 X7 a prompt that changes is off, and skills and own commands keep their names', async (t) => {
  const script = await serveTools(t, {
    tools: [],
    prompts: [{ listed: review }, { listed: { name: 'look' } }],
  });
  const toml = `${open}[mcp.notes]\n${script.toml}users = ["telegram:7"]\nchat_types = ["private", "group"]\n`;
  const bot = await startWholeBot(t, {
    toml,
    skills: { 'notes-look': '---\nname: notes-look\ndescription: Looks.\ncontext: inline\n---\nLook.\n' },
    script: answers,
  });
  await connected(bot);
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  const bob = bot.telegram.person({ name: 'Bob', id: 7 });
  const room = bot.telegram.group({ title: 'Team' });
  ann.says('/notes_review owls');
  await ann.dm.nextMessage('It says: nothing');
  bob.says('/notes_review@test_bot owls', { in: room });
  await room.nextMessage(/It says: review of/);
  bob.says('/notes_look');
  await bob.dm.nextMessage('It says: nothing');
  assert.match(JSON.stringify(lastOf(bot).messages.at(-1)), /\[Skill: notes-look\]/);
  bob.says('/help');
  const help = await bob.dm.nextMessage(/\/notes_review/);
  assert.doesNotMatch(help.text, /notes_look/);
  await script.write({ tools: [], prompts: [{ listed: { ...review, description: 'Reviews all.' } }] });
  await ann.dm.nextMessage(/mcp_notes_prompt_review.* is no longer what you approved/s);
  bob.says('/notes_review owls');
  await bob.dm.nextMessage('It says: nothing');
});

test('X9 T8 policy and `main = false` hold for prompts', async (t) => {
  const script = await makeToolFile(t, { tools: [], prompts: [{ listed: review }] });
  const toml = (more: string): string => `${open}[mcp.notes]\n${script.toml}${more}`;
  const rule = '[[policy.rules]]\ntool = "mcp_notes_prompt_*"\naction = ';
  const bot = await startWholeBot(t, { toml: toml(`${rule}"confirm"\n`), script: answers });
  await connected(bot);
  const change = async (more: string, times: number): Promise<void> => {
    const changes = (): number =>
      bot.log.lines.filter(({ message }) => message.startsWith('the config was changed')).length;
    await bot.reconfigure(toml(more));
    await bot.log.line(() => changes() >= times);
  };
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  ann.says('/notes_review owls');
  const question = await ann.dm.nextMessage(/I want to use.*mcp_notes_prompt_review/s);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage(/It says: review of/);
  await change(`${rule}"deny"\n`, 1);
  ann.says('/notes_review owls');
  await ann.dm.nextMessage('It says: error TOOL_POLICY_DENIED');
  await change('main = false\n', 2);
  ann.says('/notes_review owls');
  await ann.dm.nextMessage('It says: nothing');
});
