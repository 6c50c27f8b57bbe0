import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { createWrittenSkills } from '../../src/skills/written-skills.ts';
import { marker } from '../../src/skills/written-marker.ts';
import { openCliHome } from '../support/run-cli.ts';

test('D9 L1 skill list shows what waits for approval, skill enable and discard decide over it', async (t) => {
  const { run, runAlone, write, folder } = await openCliHome(t);
  await mkdir(path.join(folder, 'workspace/skills/greet'), { recursive: true });
  await write('workspace/skills/greet/SKILL.md', '---\nname: greet\ndescription: Greets.\n---\nGreet.\n');
  await write(`workspace/skills/greet/${marker}`, '');
  const list = async (): Promise<string> => {
    const { stdout } = await run(['skill', 'list']);
    return stdout
      .split('\n')
      .filter((line) => /greet/.test(line))
      .join('\n');
  };
  assert.match(
    await list(),
    /workspace\s+off.*\n.*written by the bot, waits for approval \(skillet skill enable greet\)/,
  );
  const store = await openStore(`sqlite:${path.join(folder, 'data/skillet.db')}`);
  assert.equal((await createWrittenSkills(store).all()).size, 0, 'looking at skills records nothing');
  await store.close();
  const enabled = await runAlone(['skill', 'enable', 'greet']);
  assert.deepEqual([enabled.code, enabled.stderr], [0, '']);
  assert.match(await list(), /workspace\s+private, group/);
  await write('workspace/skills/greet/more.md', 'x');
  assert.match(await list(), /waits for approval/);
  const discarded = await run(['skill', 'discard', 'greet']);
  assert.equal(discarded.code, 1);
  assert.match(discarded.stderr, /changed by hand/);
});
