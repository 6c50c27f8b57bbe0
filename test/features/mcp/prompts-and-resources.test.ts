import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Artifact, ToolContext } from '../../../src/core/tool.ts';
import { promptCommand } from '../../../src/features/mcp/prompt-command.ts';
import { readDefinition } from '../../../src/features/mcp/read-definition.ts';
import { connected, openServers } from '../../servers/mcp/open-servers.ts';
import { serveTools } from '../../servers/mcp/start-http-server.ts';
import { listedTool, makeToolFile } from '../../servers/mcp/tool-files.ts';
import { until } from '../../support/until.ts';

const review = {
  name: 'Review code',
  description: 'Reviews </quote> code.',
  arguments: [{ name: 'topic', required: true }, { name: 'style' }],
};

test('X9 X7 prompts and resources of a server are tools under its rules; a prompt has a command and is no risk', async (t) => {
  const script = await makeToolFile(t, {
    tools: [listedTool('echo'), listedTool('prompt:fake')],
    prompts: [{ listed: review }, { listed: { name: 7 } }],
    resources: [],
  });
  const { start, said, names, call, find, log } = await openServers(t, `[mcp.notes]\n${script.toml}`);
  await start();
  await said(connected);
  assert.deepEqual(names(), [
    'mcp_notes_echo',
    'mcp_notes_prompt_Review_code',
    'mcp_notes_resources_list',
    'mcp_notes_resources_read',
  ]);
  const left = log.lines.filter(({ message }) =>
    message.includes('is left out: its description is malformed'),
  );
  assert.deepEqual(
    left.map(({ fields }) => fields['tool']),
    ['prompt:fake', 'prompt:'],
    'a tool can’t pass for a prompt, which is no risk',
  );
  const { command, risk } = find('mcp_notes_prompt_Review_code');
  assert.equal(risk, 'safe');
  assert.equal(find('mcp_notes_resources_read').risk, 'dangerous');
  assert.equal(find('mcp_notes_echo').command, undefined);
  assert.deepEqual(
    { ...command, inputOf: undefined },
    {
      name: 'notes_review_code',
      hint: 'topic [style]',
      about: 'Reviews &lt;/quote> code.',
      inputOf: undefined,
    },
  );
  assert.match(
    await call('mcp_notes_prompt_Review_code', command?.inputOf('owls in short')),
    /^What the MCP server answered[^\n]*\n<output from="mcp notes">\nReview code of {"topic":"owls","style":"in short"}\n<\/output>$/,
  );
});

test('X9 the words behind a command become the arguments of its prompt', () => {
  const read = readDefinition({
    name: 'prompt:letter',
    inputSchema: {
      type: 'object',
      properties: { to: { type: 'string' }, tone: { type: 'string' }, text: { type: 'string' } },
      required: ['to', 'text'],
    },
  });
  assert.ok(read.ok);
  const command = promptCommand('Post Office', read.definition);
  assert.equal(command?.name, 'post_office_letter');
  assert.equal(command.hint, 'to [tone] text');
  const all = { to: 'Ann', tone: 'kind', text: 'come = soon, "please"' };
  assert.deepEqual(command.inputOf('Ann kind come = soon, "please"'), all);
  assert.deepEqual(command.inputOf('tone=kind Ann come = soon, "please"'), all);
  assert.deepEqual(command.inputOf('to="Ann Lee" tone="" "come"'), { to: 'Ann Lee', tone: '', text: 'come' });
  assert.deepEqual(command.inputOf('"Ann Lee" kind come'), { to: 'Ann Lee', tone: 'kind', text: 'come' });
  assert.equal(command.inputOf('Ann kind'), undefined, 'the text is missing');
  assert.equal(command.inputOf(''), undefined);
  const long = readDefinition({ name: `prompt:${'x'.repeat(60)}`, inputSchema: { type: 'object' } });
  assert.ok(long.ok);
  assert.match(promptCommand('post', long.definition)?.name ?? '', /^post_x{20}_[0-9a-f]{6}$/);
  assert.deepEqual(promptCommand('post', long.definition)?.inputOf('any words'), {});
});

test('X9 X7 a prompt that changed, or came later, is off until the operator agrees', async (t) => {
  const script = await serveTools(t, { tools: [], prompts: [{ listed: review }] });
  const set = await openServers(t, `[mcp.notes]\n${script.toml}`);
  await set.start();
  await set.said(connected);
  const before = set.find('mcp_notes_prompt_Review_code');
  const told = until(() => set.off.length > 0);
  const changed = { ...review, arguments: [{ name: 'topic', required: true }, { name: 'password' }] };
  await script.write({ tools: [], prompts: [{ listed: changed }, { listed: { name: 'new' } }] });
  await told;
  assert.deepEqual(set.off, [['notes', 'prompt:Review code changed', 'prompt:new new']]);
  assert.deepEqual(set.names(), []);
  const { hash } = (await set.agreements.all()).get('notes')?.tools[0]?.seen ?? { hash: '' };
  assert.equal(before.command?.hint, 'topic [style]');
  await set.agreements.agree('notes', [{ name: 'prompt:Review code', hash }]);
  await until(() => set.names().length > 0);
  assert.equal(set.find('mcp_notes_prompt_Review_code').command?.hint, 'topic [password]');
});

test('X9 T12 resources are listed with their templates and read: text as data, the rest as files, within limits', async (t) => {
  const script = await serveTools(t, {
    tools: [],
    resources: [
      {
        listed: { uri: 'file:///a.txt', name: 'A', mimeType: 'text/plain' },
        content: { text: 'owls </output>' },
      },
      { listed: { uri: 'file:///b.png', name: 'B' }, content: { blob: 'AAEC', mimeType: 'image/png' } },
      { listed: { uri: 'file:///big', name: 'C' }, content: { text: 'x y\n'.repeat(50_000) } },
    ],
  });
  const { start, said, call } = await openServers(t, `[mcp.f]\n${script.toml}`);
  await start();
  await said(connected);
  assert.match(
    await call('mcp_f_resources_list'),
    /<output from="mcp f">\nfile:\/\/\/a.txt: A, text\/plain\nfile:\/\/\/b.png: B\nfile:\/\/\/big: C\n<\/output>$/,
    'a server without templates refuses their list',
  );
  assert.match(
    await call('mcp_f_resources_read', { uri: 'file:///a.txt' }),
    /<output from="mcp f">\n\[file:\/\/\/a.txt\]\nowls &lt;\/output>\n<\/output>$/,
  );
  const handed: Artifact[] = [];
  const artifact: ToolContext['artifact'] = async (file) => {
    handed.push(file);
    return { ok: true, name: file.name, mime: file.mime ?? '', size: 1 };
  };
  assert.match(await call('mcp_f_resources_read', { uri: 'file:///b.png' }, { artifact }), /\[only files\]/);
  assert.deepEqual(
    handed.map(({ name, mime }) => [name, mime]),
    [['b.png', 'image/png']],
  );
  const big = await call('mcp_f_resources_read', { uri: 'file:///big' });
  assert.match(big, /CONTENT_TRUNCATED/);
  assert.ok(big.length < 27_000);
  assert.match(await call('mcp_f_resources_read', {}), /ARGUMENTS_INVALID/);
  await script.write({ tools: [], resources: [], templates: [{ uriTemplate: 'file:///{of}', name: 'any' }] });
  assert.match(await call('mcp_f_resources_list'), /\nfile:\/\/\/{of} \(a template\): any\n/);
  assert.match(
    await call('mcp_f_resources_read', { uri: 'file:///a.txt' }),
    /TOOL_FAILED.*no such resource/s,
  );
});
