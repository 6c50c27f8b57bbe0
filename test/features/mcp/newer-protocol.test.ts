import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

for (const file of ['mcp-servers', 'mcp-rough-servers', 'prompts-and-resources'])
  test(`X9 X7 what holds of servers of older protocols holds of those of 2026-07-28: ${file}`, async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, `${file}.test.ts`)];
    const run = spawn(process.execPath, args, { env: { ...env, SKILLET_TEST_MCP: '2026-07-28' } });
    const [said] = await Promise.all([text(run.stdout), once(run, 'exit')]);
    assert.equal(run.exitCode, 0, said);
    assert.match(said, /pass [1-9]/);
  });
