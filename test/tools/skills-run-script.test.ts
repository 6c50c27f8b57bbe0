import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { createRedactor } from '../../src/lib/redaction/redact.ts';
import type { Skill } from '../../src/core/skill.ts';
import type { ToolOutcome } from '../../src/core/tool-call.ts';
import { createScriptPackages } from '../../src/sandbox/packages/script-packages.ts';
import { createVirtualSandbox } from '../../src/sandbox/virtual/virtual.ts';
import { skillsRunScriptTool } from '../../src/tools/built-in/skills-run-script.ts';
import { riskOf } from '../../src/tools/policy.ts';
import { openDoor } from '../support/call-one-tool.ts';
import { makeSkill } from '../support/make-skill.ts';
import { equalData } from '../support/equal-data.ts';

const sandbox = createVirtualSandbox();
const root = await mkdtemp(path.join(tmpdir(), 'skillet-script-'));
const scratch = path.join(root, 'scratch');
const packages = createScriptPackages({
  folder: path.join(root, 'uv'),
  hosts: () => [],
  imports: () => false,
  searchPath: root,
});
const skill = makeSkill('worker', { directory: path.join(root, 'worker') });
await mkdir(path.join(root, 'worker', 'scripts'), { recursive: true });
await mkdir(scratch);
after(async () => {
  await sandbox.close();
  await rm(root, { recursive: true, force: true });
});

type Change = { skill?: Skill; env?: Record<string, string>; timeoutMs?: number; signal?: AbortSignal };

/** Writes a script into the skill and calls the tool through the one door, as a run does. */
async function runScript(
  file: string,
  text: string | undefined,
  args?: readonly unknown[],
  change: Change = {},
): Promise<ToolOutcome> {
  if (text !== undefined) {
    await writeFile(path.join(root, 'worker', file), text);
    await chmod(path.join(root, 'worker', file), 0o644);
  }
  const tool = skillsRunScriptTool({
    skill: change.skill ?? skill,
    sandbox,
    scratch,
    env: change.env ?? {},
    packages,
    timeoutMs: change.timeoutMs ?? 20_000,
  });
  const redact = createRedactor(Object.entries(change.env ?? {}).map(([name, value]) => ({ name, value })));
  const input = { path: file, ...(args === undefined ? {} : { args }) };
  const call = { id: 'toolu_1', name: tool.name, input };
  return openDoor([tool], { redact })(call, change.signal ?? new AbortController().signal);
}

test('R5 a script runs by its first line or ending, without an execute bit, and prints its answer', async () => {
  equalData(await runScript('scripts/a.sh', 'echo "$# $1"', ['x y; id']), {
    content: '1 x y; id\n',
    isError: false,
  });
  assert.equal(
    (await runScript('scripts/b', '#!/usr/bin/env bash\n[[ 1 == 1 ]] && echo yes')).content,
    'yes\n',
  );
  const strict = await runScript('strict', '#!/bin/bash -e\necho one "$1"\nfalse\necho two', ['arg']);
  assert.match(strict.content, /^error SCRIPT_FAILED: [^]*one arg/);
  assert.doesNotMatch(strict.content, /two/);
  assert.equal((await runScript('scripts/quiet.sh', ':')).content, 'It printed nothing.');
  const both = await runScript('scripts/both.sh', 'echo out; echo note >&2');
  equalData(both, { content: 'out\n\n[stderr]\nnote\n', isError: false });
});

test('R5 the working directory is the scratch folder of the run, where files stay', async () => {
  await runScript('scripts/write.sh', 'pwd > where.txt');
  assert.equal(await readFile(path.join(scratch, 'where.txt'), 'utf8'), '/scratch\n');
});

test('R5 R8 a script that fails is SCRIPT_FAILED with its exit code and the end of both streams', async () => {
  const { content, isError } = await runScript('scripts/fail.sh', 'seq 1 5000; echo broke >&2; exit 3');
  assert.ok(isError);
  assert.match(content, /^error SCRIPT_FAILED: scripts\/fail\.sh ended with exit code 3\n/);
  assert.match(content, /\n5000\n[^]*broke\n$/);
  assert.ok(!content.includes('\n1\n2\n3\n') && content.length < 10_000);
});

test('R5 a script that does not end in time is SCRIPT_TIMEOUT', async () => {
  const { content, isError } = await runScript('scripts/loop.sh', 'while :; do :; done', [], {
    timeoutMs: 1_000,
  });
  assert.ok(isError);
  assert.match(content, /^error SCRIPT_TIMEOUT: scripts\/loop\.sh did not end within 1 s/);
});

test('T11 a cancelled script is CANCELLED and no error', async () => {
  const controller = new AbortController();
  const running = runScript('scripts/wait.sh', 'sleep 1000', [], { signal: controller.signal });
  controller.abort();
  const { content, isError } = await running;
  assert.match(content, /^error CANCELLED: /);
  assert.equal(isError, false);
});

test('R5 long output is cut with a marker and keeps its end', async () => {
  const { content } = await runScript('scripts/long.sh', 'seq 1 20000');
  assert.match(content, /^1\n2\n[^]*characters left out[^]*\n20000\n$/);
  assert.ok(content.length <= 30_000);
});

test('R5 T4 a script for a program that the sandbox lacks is SKILL_UNAVAILABLE with what to install', async () => {
  for (const [file, program] of [
    ['a.py', 'python3'],
    ['a.js', 'node'],
    ['a.mjs', 'node'],
    ['a.ts', 'node'],
  ] as const) {
    const { content, isError } = await runScript(`scripts/${file}`, 'print(1)');
    assert.ok(isError);
    assert.match(
      content,
      new RegExp(`^error SKILL_UNAVAILABLE: scripts/${file}: ${program} .*apt-get install`),
    );
  }
});

test('R4 R5 only files of the skill are run: anything else is refused without an oracle', async () => {
  await writeFile(path.join(root, 'outside.sh'), 'echo outside');
  const expected = {
    '../outside.sh': 'INVALID_PATH',
    [path.join(root, 'outside.sh')]: 'INVALID_PATH',
    'scripts/absent.sh': 'FILE_NOT_FOUND',
    scripts: 'FILE_NOT_FOUND',
  };
  for (const [file, code] of Object.entries(expected)) {
    assert.match((await runScript(file, undefined)).content, new RegExp(`^error ${code}: `), file);
  }
  assert.match(
    (await runScript('scripts/what', 'no first line')).content,
    /^error ARGUMENTS_INVALID: .*\.sh, \.py/,
  );
  const { directory: _, ...flat } = skill;
  assert.match((await runScript('a.sh', undefined, [], { skill: flat })).content, /^error FILE_NOT_FOUND: /);
});

test('T1 arguments are a list of strings', async () => {
  await writeFile(path.join(root, 'worker', 'scripts', 'a.sh'), 'echo ran');
  for (const args of [[1], [null], ['a\0b']]) {
    assert.match((await runScript('scripts/a.sh', undefined, args)).content, /^error ARGUMENTS_INVALID: /);
  }
});

test('U3 a script has the declared environment, and its value is redacted where it shows', async () => {
  const env = { TEST_API_KEY: 'canary-key-123456' };
  const { content } = await runScript(
    'scripts/key.sh',
    'echo "Key: $TEST_API_KEY"; echo ${#TEST_API_KEY}',
    [],
    { env },
  );
  assert.equal(content, 'Key: [redacted TEST_API_KEY]\n17\n');
});

test('T7 running a script is moderate: the sandbox reaches no network', () => {
  const tool = skillsRunScriptTool({
    skill: { ...skill, network: ['example.com'] },
    sandbox,
    scratch,
    env: {},
    packages,
    timeoutMs: 1_000,
  });
  assert.equal(riskOf(tool), 'moderate');
});
