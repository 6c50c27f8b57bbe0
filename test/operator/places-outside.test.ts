import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { archiveParts } from '../../src/operator/archive/archive-parts.ts';
import { placesOutside } from '../../src/operator/archive/places-outside.ts';
import { storeBytes, type MadeArchive } from '../support/make-archive.ts';
import { refused, stageRestore } from '../support/stage-restore.ts';

test('S18 restore writes inside its folder only: places outside are listed with what led there, and nothing is written', async (t) => {
  const out = mkdtempSync(path.join(tmpdir(), 'skillet-out-'));
  t.after(() => rmSync(out, { recursive: true }));
  const whole = await storeBytes();
  const [data, files, skills] = ['[bot] data_dir', '[bot] workspace', '[skills] user_dir'];
  const cases: readonly (readonly [config: string, member: string, place: string, key: string])[] = [
    [`[skills]\nuser_dir = "${out}/a"`, 'user-skills/authorized_keys', `${out}/a`, skills],
    ['[skills]\nuser_dir = "../out"', 'user-skills/authorized_keys', '../out', skills],
    ['[skills]\nuser_dir = "../bot-2"', 'user-skills/authorized_keys', '../bot-2', skills],
    ['[skills]\nuser_dir = "~/out"', 'user-skills/authorized_keys', '../home/out', skills],
    ['', 'user-skills/mine/SKILL.md', '../home/.skillet/skills', skills],
    [`[bot]\ndata_dir = "${out}/d"`, 'data/audit.key', `${out}/d/audit.key`, data],
    [`[bot]\ndata_dir = "${out}/d"`, 'data/capabilities.key', `${out}/d/capabilities.key`, data],
    [`[bot]\ndata_dir = "${out}/d"`, 'data/installed/x', `${out}/d/installed`, data],
    ['[bot]\nworkspace = "../bot-2"', 'workspace/chats/x/y', '../bot-2/chats', files],
    ['[bot]\nworkspace = ".."', 'workspace/skills/x', '../skills', files],
    ['[capabilities]\nkey_file = "../key"', 'data/capabilities.key', '../key', '[capabilities] key_file'],
    ['[store]\nurl = "sqlite:../s.db"', 'store.db', '../s.db', '[store] url'],
  ];
  for (const [config, member, place, key] of cases) {
    const { at, names, restore, outside } = stageRestore(t);
    const hasStore = member === 'store.db';
    const made: MadeArchive = {
      ...{ config, members: { [member]: hasStore ? whole : 'mine' }, store: hasStore ? 'copied' : 'none' },
    };
    const real = path.resolve(at('bot'), place);
    await refused(restore(made), /archive would write outside \S+bot:\n[^]*--elsewhere/, config);
    assert.deepEqual(names(), [], config);
    const name = /^(store\.db|user-skills|data\/\w+(\.key)?|workspace\/\w+)/.exec(member)?.[0] ?? '';
    const why = `${key} of the archive's config leads there`;
    assert.deepEqual(await outside(made), [{ name, at: real, why }]);
    assert.ok(existsSync(real), real);
  }
  const { at, restore, names } = stageRestore(t);
  // The folder itself is outside, too: its draft would lie beside it.
  await refused(
    restore({ config: '[skills]\nuser_dir = "."', members: { 'user-skills/config.toml': 'x' } }),
    new RegExp(`user-skills to ${at('bot')}: \\[skills\\] user_dir`),
  );
  assert.deepEqual(names(), []);
});

test('S18 links in the folder lead restore nowhere else, whether their ends are there or not', async (t) => {
  for (const [what, files, place] of [
    ['a folder beside it', { 'out/x': '', 'bot/data': '→../out' }, 'out'],
    ['nothing yet', { 'bot/data': '→../out' }, 'out'],
    ['a folder by its whole path', { 'out/x': '', 'bot/data': '→ABSOLUTE' }, 'out'],
    ['nothing by a chain', { 'bot/data': '→second', 'bot/second': '→../far/out' }, 'far/out'],
    ['the home of the folder', { 'bot/data': '→..' }, ''],
  ] as const) {
    const { at, names, write, restore, outside } = stageRestore(t);
    write(
      Object.fromEntries(
        Object.entries(files).map(([name, text]) => [name, text.replace('ABSOLUTE', at('out'))]),
      ),
    );
    const before = names();
    const made: MadeArchive = { config: '', members: { 'data/audit.key': 'key' } };
    await refused(restore(made), /a link in \S+bot leads there/, what);
    assert.deepEqual(names(), before, what);
    if (what === 'a folder beside it') {
      const why = `a link in ${at('bot')} leads there`;
      assert.deepEqual(await outside(made), [{ name: 'data/audit.key', at: at(place, 'audit.key'), why }]);
      assert.equal(readFileSync(at(place, 'audit.key'), 'utf8'), 'key');
    }
  }
  for (const [what, files, place] of [
    [
      'the folder itself is a link, which is the own choice of a person',
      { 'disk/x': '', bot: '→disk' },
      'disk',
    ],
    ['a link stays inside', { 'bot/deep/x': '', 'bot/data': '→deep' }, 'bot/deep'],
  ] as const) {
    const { at, write, restore } = stageRestore(t);
    write(files);
    await restore({ config: '', members: { 'data/audit.key': 'key' } });
    assert.equal(
      readFileSync(at(place, what.startsWith('the') ? 'data/audit.key' : 'audit.key'), 'utf8'),
      'key',
    );
  }
});

test('S18 a place is looked at without restoring: what leads through a file or a loop of links is no place', (t) => {
  const { at, write } = stageRestore(t);
  write({ 'bot/file': '', 'bot/loop': '→loop' });
  const placesOf = (dataDir: string) => {
    const parsed = parseConfig(`[bot]\ndata_dir = "${dataDir}"\n[capabilities]\nkey_file = "key"\n`, {
      ...{ env: {}, home: at('home'), cwd: at('bot') },
    });
    assert.ok(parsed.ok);
    const parts = archiveParts(parsed.config).filter(({ name }) => name.endsWith('.key'));
    return placesOutside(parts, at('bot'), parsed.config);
  };
  assert.deepEqual(placesOf('none/deep'), []);
  assert.throws(() => placesOf('file/deep'), { code: 'ENOTDIR' });
  const why = "[bot] data_dir of the archive's config leads there";
  assert.deepEqual(placesOf('../out'), [{ name: 'data/audit.key', at: at('out/audit.key'), why }]);
  assert.throws(() => placesOf('loop'), { code: 'ELOOP' });
});

test('S18 a place whose path steers a terminal is refused, inside the folder or not, used or not', async (t) => {
  for (const place of ['../a\\u001b[2J', 'a\\nRestored.', 'a\\u0085']) {
    const { names, restore, outside } = stageRestore(t);
    const made = { config: `[skills]\nuser_dir = "${place}"`, members: { 'data/audit.key': 'x' } };
    for (const restoring of [restore, outside])
      await refused(restoring(made), /the place of user-skills in the archive's config has control/, place);
    assert.deepEqual(names(), []);
  }
  const { at, restore } = stageRestore(t);
  await restore({ config: '[bot]\ndata_dir = "größer  ❤️ "', members: { 'data/audit.key': 'x' } });
  assert.ok(existsSync(at('bot/größer  ❤️ /audit.key')));
});
