import assert from 'node:assert/strict';
import { sendFileTool } from '../../src/tools/built-in/send-file.ts';
import { test } from 'node:test';
import { toolTable } from '../../src/core/built-in-tools.ts';
import { allTools } from '../../src/features/list.ts';
import { listFilesTool, readFileTool, writeFileTool } from '../../src/tools/built-in/file-tools.ts';
import { grepFilesTool } from '../../src/tools/built-in/grep-files.ts';
import { decideWrite } from '../../src/core/tool-writes.ts';
import { webFetchTool } from '../../src/tools/web/web-fetch.ts';
import { riskOf } from '../../src/tools/policy.ts';

const { names, row } = allTools();

test('T2 T5 the table offers each tool to somebody, and says of no other that it is built in', () => {
  for (const name of names()) {
    const tool = row(name);
    assert.ok(tool?.main !== undefined || tool?.runs !== undefined, name);
  }
  assert.equal(row('constructor'), undefined);
  assert.equal(row('mcp_a_b'), undefined);
});

test('T2 T5 T6 what lists can’t take away: skills to look at, files of the skill, questions and capabilities', () => {
  assert.deepEqual(
    names(({ main }) => main === 'kept'),
    ['skills_list', 'skills_search', 'skills_load', 'skills_read_file'],
  );
  assert.deepEqual(
    names(({ runs }) => runs === 'kept'),
    ['skills_read_file', 'ask_person', 'capability_list', 'capability_invoke', 'capability_auth'],
  );
  assert.deepEqual(
    names(({ runs }) => runs === 'named'),
    ['use_skill', 'grep_files', 'skill_write', 'skill_read', 'remember', 'forget_memory', 'recall'],
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
  for (const tool of made) assert.equal(row(tool.name)?.risk, riskOf(tool), tool.name);
});

test('S13 what outlives a conversation is written by these tools alone; people change settings themselves', () => {
  assert.deepEqual(
    names(({ lasts }) => lasts === true),
    ['skill_write', 'remember', 'routine_add', 'routine_change'],
  );
});

test('S14 where a built-in tool writes follows from its row; of others nothing is known', () => {
  const builtIn = (name: string) => ({ row: row(name), traits: { sideEffects: true } });
  const other = (sideEffects: boolean) => ({ traits: { sideEffects } });
  assert.equal(decideWrite(builtIn('skill_write'), true), 'refused');
  assert.equal(decideWrite(builtIn('skill_write'), false), 'outward');
  assert.equal(decideWrite(other(true), true), 'outward');
  assert.equal(decideWrite(other(false), true), 'free');
  for (const name of ['remember', 'routine_add', 'send_file', 'bash'])
    assert.equal(decideWrite(builtIn(name), true), 'free', `${name} is held to its place by itself`);
});

test('T2 two parts never bring the same tool', () => {
  const bash = row('bash');
  assert.ok(bash !== undefined);
  assert.throws(() => toolTable([{ bash }, { bash }]), /bash/);
  assert.deepEqual(toolTable([{ one: bash }, { two: bash }]).names(), ['one', 'two']);
});
