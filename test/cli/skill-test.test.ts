import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';

test('L3 L1 skill test says a line a case, gives data with --json, and ends with 1 when one fails', async (t) => {
  const { run, runAlone, write, folder } = await openCliHome(t);
  const recorded = await runAlone(['skill', 'test', 'dice', '--record', 'tape.json']);
  assert.equal(recorded.code, 0, recorded.stdout + recorded.stderr);
  assert.match(
    recorded.stdout,
    /^ok {4}dice\/tests\/rolls\.toml: dice are rolled by the script \(\d+\.\d s\)$/m,
  );
  assert.match(recorded.stdout, /4 passed, 0 failed; recorded in tape\.json\n$/);
  await mkdir(path.join(folder, 'workspace/skills/zebra/tests'), { recursive: true });
  await write('workspace/skills/zebra/SKILL.md', '---\nname: zebra\ndescription: Zebra things.\n---\nGo.\n');
  await write('workspace/skills/zebra/tests/a.toml', '[[case]]\nmessage = "zebra things"\nskill = "dice"\n');
  const failed = await run(['skill', 'test', 'zebra', '--json']);
  assert.equal(failed.code, 1);
  const data = JSON.parse(failed.stdout) as { failed: number; cases: { problems: string[] }[] };
  assert.deepEqual([data.failed, data.cases[0]?.problems], [1, ['the skill dice was not used, but zebra']]);
  await write('workspace/skills/zebra/tests/a.toml', '[[case]]\nmessage = "x"\nskills = "dice"\n');
  const wrong = await run(['skill', 'test', 'zebra', '--replay', 'tape.json']);
  assert.deepEqual(
    [wrong.code, wrong.stdout],
    [1, 'zebra/tests/a.toml:3:1: case[0].skills is not a known key: did you mean skill?\n'],
  );
});

test('L3 skill test without tests names the folder of the skill, not that of its copy', async (t) => {
  const { run, write, folder } = await openCliHome(t);
  await mkdir(path.join(folder, 'workspace/skills/weather'), { recursive: true });
  await write('workspace/skills/weather/SKILL.md', '---\nname: weather\ndescription: Weather.\n---\nGo.\n');
  await write('config.toml', '[bot]\nworkspace = "workspace"\n');
  const { code, stderr } = await run(['skill', 'test', 'weather']);
  assert.equal(code, 1);
  assert.match(stderr, /^weather has no tests: write workspace\/skills\/weather\/tests\/basic\.toml \(/);
});
