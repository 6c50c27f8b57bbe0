import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listRules } from '../../src/app/gates/list-rules.ts';
import { createStandingRules } from '../../src/app/gates/standing-rules.ts';
import { openStore } from '../../src/stores/open-store.ts';

const chat = { chat: 'telegram:42', sender: 'telegram:42' };

test('T8 X7 a rule stands for one edition of a tool: for no other one, and one that was said before there were editions for none', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const rules = createStandingRules({
    stored: store.keyed('standing-rules'),
    audit: { record: async () => undefined },
  });
  await rules.add({ tool: 'mcp_files_old', ...chat }, chat.sender, 1);
  await rules.add({ tool: 'mcp_files_echo', edition: 'server.one', ...chat }, chat.sender, 2);
  await rules.add({ tool: 'write_file', skill: 'notes', files: 'of notes', ...chat }, chat.sender, 3);

  assert.equal(await rules.covers({ tool: 'mcp_files_echo', edition: 'server.one', ...chat }), true);
  assert.equal(await rules.covers({ tool: 'mcp_files_echo', edition: 'server.two', ...chat }), false);
  assert.equal(await rules.covers({ tool: 'mcp_files_old', edition: 'server.one', ...chat }), false);
  assert.equal(await rules.covers({ tool: 'write_file', skill: 'notes', files: 'of notes', ...chat }), true);

  const shown = async (editions: Readonly<Record<string, string>>) =>
    listRules(await rules.list(), new Map(Object.entries(editions))).map(({ tool, counts }) => [
      tool,
      counts,
    ]);
  const now = { mcp_files_old: 'server.old', mcp_files_echo: 'server.one' };
  assert.deepEqual(await shown(now), [
    ['mcp_files_old', false],
    ['mcp_files_echo', true],
    ['write_file', true],
  ]);
  assert.deepEqual(await shown({ ...now, mcp_files_echo: 'server.two' }), [
    ['mcp_files_old', false],
    ['mcp_files_echo', false],
    ['write_file', true],
  ]);
  assert.deepEqual((await shown({}))[1], ['mcp_files_echo', false], 'the tool is off or gone');
});

test('T8 "Always" is not offered for bash, and a stored rule for it has no effect and is listed as such', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const rules = createStandingRules({
    stored: store.keyed('standing-rules'),
    audit: { record: async () => undefined },
  });
  for (const tool of ['bash', 'skills_run_script']) await rules.add({ tool, ...chat }, chat.sender, 1);
  assert.equal(await rules.covers({ tool: 'bash', ...chat }), false);
  assert.equal(await rules.covers({ tool: 'skills_run_script', ...chat }), true);
  const listed = listRules(await rules.list(), new Map()).map(({ tool, counts }) => [tool, counts]);
  assert.deepEqual(Object.fromEntries(listed), { bash: false, skills_run_script: true });
});
