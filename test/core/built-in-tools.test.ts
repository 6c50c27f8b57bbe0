import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInNames, builtInTool } from '../../src/core/built-in-tools.ts';
import {
  listFilesTool,
  readFileTool,
  sendFileTool,
  writeFileTool,
} from '../../src/tools/built-in/file-tools.ts';
import { grepFilesTool } from '../../src/tools/built-in/grep-files.ts';
import { decideWrite, writesOfBuiltIn } from '../../src/core/tool-writes.ts';
import { webFetchTool } from '../../src/tools/web/web-fetch.ts';
import { riskOf } from '../../src/tools/policy.ts';

test('T2 T5 the table offers each tool to somebody, and says of no other that it is built in', () => {
  for (const name of builtInNames()) {
    const row = builtInTool(name);
    assert.ok(row?.main !== undefined || row?.runs !== undefined, name);
  }
  assert.equal(builtInTool('constructor'), undefined);
  assert.equal(builtInTool('mcp_a_b'), undefined);
});

test('T2 T5 T6 what lists can’t take away: skills to look at, files of the skill, questions and capabilities', () => {
  assert.deepEqual(
    builtInNames(({ main }) => main === 'kept'),
    ['skills_list', 'skills_search', 'skills_load', 'skills_read_file'],
  );
  assert.deepEqual(
    builtInNames(({ runs }) => runs === 'kept'),
    ['skills_read_file', 'ask_person', 'capability_list', 'capability_invoke', 'capability_auth'],
  );
  assert.deepEqual(
    builtInNames(({ runs }) => runs === 'named'),
    ['use_skill', 'grep_files', 'remember', 'recall', 'forget_memory', 'skill_write', 'skill_read'],
  );
});

test('I3 T7 the risk that people read is the one that policy judges by', () => {
  const places = [{ kind: 'chat', host: '/nowhere', seen: ['/chat'] }] as const;
  const made = [
    readFileTool(places),
    writeFileTool(places, 1),
    listFilesTool(places),
    grepFilesTool(places),
    sendFileTool(places),
    webFetchTool(),
  ];
  for (const tool of made) assert.equal(builtInTool(tool.name)?.risk, riskOf(tool), tool.name);
});

test('S13 what outlives a conversation is written by these tools alone; people change settings themselves', () => {
  assert.deepEqual(
    builtInNames().filter((name) => writesOfBuiltIn(name)?.lasts === true),
    ['routine_add', 'routine_change', 'remember', 'skill_write'],
  );
});

test('S14 each built-in tool says where it writes and whether that lasts; of others nothing is known', () => {
  for (const name of builtInNames())
    assert.ok(writesOfBuiltIn(name) !== undefined, `${name} has no row in tool-writes.ts`);
  assert.equal(writesOfBuiltIn('constructor'), undefined);
  const tool = (name: string, sideEffects: boolean) => ({ name, traits: { sideEffects } });
  assert.equal(decideWrite(tool('skill_write', true), true), 'refused');
  assert.equal(decideWrite(tool('skill_write', true), false), 'outward');
  assert.equal(decideWrite(tool('mcp_a_b', true), true), 'outward');
  assert.equal(decideWrite(tool('weather_now', false), true), 'free');
  for (const name of ['remember', 'routine_add', 'send_file', 'bash'])
    assert.equal(decideWrite(tool(name, true), true), 'free', `${name} is held to its place by itself`);
});
