import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Greets people.\n${more}---\nGreet.\n`;

test('F12 skills of .agents/skills in the workspace are used; those of another folder once the config names it', async (t) => {
  const { run, write, folder } = await openCliHome(t);
  for (const one of ['workspace/.agents/skills/hello', 'workspace/skills/hello', '.agents/skills/mine'])
    await mkdir(path.join(folder, one), { recursive: true });
  await write('workspace/.agents/skills/hello/SKILL.md', skill('hello', 'sensitive: true\n'));
  await write('.agents/skills/mine/SKILL.md', skill('mine'));
  const list = async (): Promise<string> => (await run(['skill', 'list'])).stdout;
  const before = await list();
  assert.match(before, /hello +agents +private/);
  assert.doesNotMatch(before, /mine/, 'what people keep for their own agents is not read unasked');

  await write('workspace/skills/hello/SKILL.md', skill('hello'));
  assert.match(await list(), /hello +workspace +private/, 'the nearer copy is as strict');

  await write('config.toml', '[skills]\nagents_dir = ".agents/skills"\n');
  assert.match(await list(), /mine +agents +private, group/);

  await write('config.toml', '[skills]\nagents_dir = ".agent/skills"\n');
  const { stdout } = await run(['doctor']);
  assert.match(stdout, /skills\.agents_dir: there is no folder \S+\.agent\/skills/);
});
