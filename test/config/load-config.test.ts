import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { findConfigPath, loadConfig } from '../../src/config/load-config.ts';

async function places(t: TestContext) {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-config-'));
  t.after(() => rm(root, { recursive: true }));
  const [cwd, home] = [path.join(root, 'work'), path.join(root, 'home')];
  await mkdir(cwd);
  await mkdir(path.join(home, '.skillet'), { recursive: true });
  const write = async (file: string, text: string | Buffer = ''): Promise<string> => {
    await writeFile(path.join(root, file), text);
    return path.join(root, file);
  };
  return { root, cwd, home, write };
}

test('G1 the file is --config, else $SKILLET_CONFIG, else ./config.toml, else ~/.skillet/config.toml', async (t) => {
  const { root, cwd, home, write } = await places(t);
  const find = (flag?: string, variable?: string) =>
    findConfigPath({ flag, env: variable === undefined ? {} : { SKILLET_CONFIG: variable }, cwd, home });
  assert.equal(await find(), undefined);
  const atHome = await write('home/.skillet/config.toml');
  assert.equal(await find(), atHome);
  const here = await write('work/config.toml');
  assert.equal(await find(), here);
  assert.equal(await find(undefined, ''), here, 'an empty variable names nothing');
  assert.equal(await find(undefined, '../other.toml'), path.join(root, 'other.toml'));
  assert.equal(await find('mine.toml', '../other.toml'), path.join(cwd, 'mine.toml'));
});

test('G1 with no file anywhere the config is all defaults and has no path', async (t) => {
  const { cwd, home } = await places(t);
  const loaded = await loadConfig({ env: {}, cwd, home });
  assert.ok(loaded.ok);
  assert.equal(loaded.config.path, undefined);
  assert.equal(loaded.config.bot.dataDir, path.join(cwd, 'data'));
  assert.equal(loaded.config.skills.userDir, path.join(home, '.skillet/skills'));
});

test('G1 a file that was named and is not there is an error that names it', async (t) => {
  const { cwd, home } = await places(t);
  for (const search of [{ flag: 'no.toml', env: {} }, { env: { SKILLET_CONFIG: 'no.toml' } }]) {
    const loaded = await loadConfig({ ...search, cwd, home });
    assert.ok(!loaded.ok);
    assert.equal(loaded.problems[0]?.file, path.join(cwd, 'no.toml'));
    assert.match(loaded.problems[0]?.message ?? '', /no such config file: create one with `skillet init`/);
  }
});

test('G1 the file that is found is the one that is read', async (t) => {
  const { cwd, home, write } = await places(t);
  await write('home/.skillet/config.toml', '[bot]\nname = "Home"');
  const atHome = await loadConfig({ env: {}, cwd, home });
  assert.ok(atHome.ok);
  assert.equal(atHome.config.bot.name, 'Home');
  assert.equal(atHome.config.path, path.join(home, '.skillet/config.toml'));
  assert.equal(atHome.config.bot.workspace, path.join(home, '.skillet/workspace'));
  await write('work/config.toml', '[bot]\nname = 3');
  const here = await loadConfig({ env: {}, cwd, home });
  assert.ok(!here.ok, 'a broken nearer file is not passed over');
  assert.equal(here.problems[0]?.file, path.join(cwd, 'config.toml'));
});

test('G2 a file that cannot be read is a problem with its fix', async (t) => {
  const { root, cwd, home, write } = await places(t);
  const message = async (flag: string): Promise<string> => {
    const loaded = await loadConfig({ flag, env: {}, cwd, home });
    return loaded.ok ? 'none' : (loaded.problems[0]?.message ?? '');
  };
  assert.match(await message(root), /is a folder/);
  assert.match(
    await message(await write('latin.toml', Buffer.from('# caf\xe9', 'latin1'))),
    /save it as UTF-8/,
  );
  const closed = await write('closed.toml');
  await chmod(closed, 0);
  if (process.getuid?.() === 0)
    t.diagnostic('root may read every file: the case of missing rights was not tried');
  else assert.match(await message(closed), /may not be read/);
});
