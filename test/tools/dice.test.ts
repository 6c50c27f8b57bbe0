import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { createVirtualSandbox } from '../../src/sandbox/virtual/virtual.ts';
import { loadSkills } from '../../src/skills/load-skills.ts';
import { validateTree } from '../../src/skills/parse/validate-skill.ts';
import { parseAllowedTools } from '../../src/tools/allowed-tools.ts';

const skills = path.join(import.meta.dirname, '..', '..', 'skills');
const folder = path.join(skills, 'dice');
const sandbox = createVirtualSandbox();
const scratch = await mkdtemp(path.join(tmpdir(), 'skillet-dice-'));
after(async () => {
  await sandbox.close();
  await rm(scratch, { recursive: true, force: true });
});

type Rolled = Readonly<{ exitCode: number | null; stdout: string; stderr: string }>;

const shells: Readonly<Record<string, (args: readonly string[]) => Promise<Rolled>>> = {
  async virtual(args) {
    const outcome = await sandbox.run({
      argv: ['sh', `${sandbox.seen('skill', folder)}/scripts/roll.sh`, ...args],
      skillDirectory: folder,
      scratch,
      network: [],
      env: {},
      timeoutMs: 20_000,
      outputCap: 10_000,
      signal: new AbortController().signal,
    });
    assert.ok(outcome.status === 'exited', JSON.stringify(outcome));
    return outcome;
  },
  async 'real sh'(args) {
    const file = path.join(folder, 'scripts', 'roll.sh');
    const { status, stdout, stderr } = spawnSync('/bin/sh', [file, ...args], {
      cwd: scratch,
      encoding: 'utf8',
    });
    return { exitCode: status, stdout, stderr };
  },
};

test('F5 the dice skill is valid and loads, and its own tool is within its ceiling', async () => {
  const [validation] = validateTree(folder);
  assert.ok(validation?.valid, JSON.stringify(validation?.problems));
  const skill = (await loadSkills([{ origin: 'bundled', path: skills }])).get('dice');
  assert.deepEqual(skill?.diagnostics, []);
  const allowedTools = parseAllowedTools(
    skill?.allowedTools,
    ['bash', 'skills_read_file', 'skills_run_script'],
    {
      builtInTools: allTools(),
      invalid: 'error',
    },
  );
  assert.ok(allowedTools.ok);
  assert.deepEqual(allowedTools.names, ['skills_read_file', 'skills_run_script']);
});

for (const [shell, roll] of Object.entries(shells)) {
  test(`R5 dice (${shell}): rolls are within range, differ, and are summed`, async () => {
    const specs = ['2d6+1', 'd20', '3D4-2', '100d6', '5d100000', '1d2', '2 d 6', '1d6+0'];
    const { exitCode, stdout, stderr } = await roll(specs);
    assert.deepEqual([exitCode, stderr], [0, '']);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, specs.length);
    for (const [index, line] of lines.entries()) {
      const spec = specs[index]?.toLowerCase().replaceAll(' ', '') ?? '';
      const [, count = '', sides = '', sign = '', bonus = '0'] =
        /^(\d*)d(\d+)(?:([+-])(\d+))?$/.exec(spec) ?? [];
      const [, shown = '', sum = ''] = /^[^:]+: (.*) = (-?\d+)$/.exec(line) ?? [];
      const rolls = (sign === '' ? shown : shown.slice(0, shown.lastIndexOf(` ${sign} `)))
        .split(' + ')
        .map(Number);
      assert.ok(line.startsWith(`${spec}: `), line);
      assert.equal(rolls.length, Number(count || 1), line);
      for (const value of rolls) assert.ok(value >= 1 && value <= Number(sides), line);
      const added = Number(bonus) * (sign === '-' ? -1 : 1);
      assert.equal(
        rolls.reduce((total, value) => total + value, added),
        Number(sum),
        line,
      );
    }
    const hundred = new Set(/: (.*) =/.exec(lines[3] ?? '')?.[1]?.split(' + '));
    assert.equal(hundred.size, 6, 'a hundred dice show every side (all but once in fourteen million)');
  });

  test(`R5 dice (${shell}): with nothing asked for, one ordinary die is rolled`, async () => {
    const { exitCode, stdout } = await roll([]);
    assert.equal(exitCode, 0);
    assert.match(stdout, /^1d6: ([1-6]) = \1\n$/);
  });

  test(`R5 dice (${shell}): what is no roll is refused with what to write, and runs nothing`, async () => {
    const bad = [
      'x',
      '',
      '0d6',
      '101d6',
      '2d1',
      '2d',
      'd',
      '2d6+',
      '2d6+x',
      '2d6+1+1',
      '1d02',
      '2d6;id',
      '$(id)d6',
    ];
    for (const spec of [...bad, '1d6\n1d6', '2d1000000', '-n', '*d6', '9999999999999999999d6']) {
      const { exitCode, stdout, stderr } = await roll([spec]);
      assert.deepEqual([exitCode, stdout], [2, ''], spec);
      assert.match(stderr, /^roll\.sh: '/, spec);
    }
  });
}
