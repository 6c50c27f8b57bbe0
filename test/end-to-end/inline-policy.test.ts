import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { serveTools } from '../servers/mcp/start-http-server.ts';
import { listedTool } from '../servers/mcp/tool-files.ts';
import { obedient, obedientSkill as skill } from '../support/obedient-model.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const say = 'DO mcp_web_echo {"of": "owls"}';

async function open(t: TestContext, rule: string) {
  const http = await serveTools(t, {
    tools: [listedTool('echo', { annotations: { readOnlyHint: true } })],
  });
  const bot = await startWholeBot(t, {
    toml: [
      '[access]\nusers = ["telegram:42"]\n[bot]\nowner = ["telegram:42"]\n[policy]\napprovers = ["telegram:42"]',
      `[mcp.web]\nurl = "${http.url}"\ntrusted = true`,
      `[[policy.rules]]\nskill = "look"\ntool = "mcp_*"\n${rule}`,
    ].join('\n'),
    skills: { look: skill('look', 'context: inline\n'), other: skill('other', 'context: inline\n') },
    script: obedient,
    flood: false,
  });
  await bot.log.line(({ message }) => message === 'an MCP server is connected');
  return { ...bot, ann: bot.telegram.person({ id: 42, name: 'Ann' }) };
}

test('T8 U8 a policy rule that asks for a skill’s calls asks while the main agent follows that skill', async (t) => {
  const { ann } = await open(t, 'action = "confirm"');
  ann.says(`/look ${say}`);
  const question = await ann.dm.nextMessage(/I want to use.*mcp_web_echo/s);
  ann.presses(question.id, 'Approve');
  await ann.dm.nextMessage(/Result: .*owls/);
  ann.says(`/other ${say}`);
  assert.match((await ann.dm.nextMessage(/./)).text, /Result: .*owls/, 'no other skill is asked for');
  ann.says(say);
  assert.match((await ann.dm.nextMessage(/./)).text, /Result: .*owls/, 'nor a turn after it');
});

test('T8 U8 what a policy rule denies a skill is denied while the main agent follows it', async (t) => {
  const { ann } = await open(t, 'action = "deny"');
  ann.says(`/look ${say}`);
  assert.match((await ann.dm.nextMessage(/./)).text, /Not offered|TOOL_POLICY_DENIED/);
  ann.says(say);
  assert.match((await ann.dm.nextMessage(/./)).text, /Result: .*owls/);
});
