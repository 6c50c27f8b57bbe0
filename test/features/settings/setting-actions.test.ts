import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  menuOf,
  nameOf,
  readAction,
  writeAction,
  type SettingAction,
} from '../../../src/features/settings/setting-views.ts';

const tool = nameOf('mcp_a_server_whose_tools_have_names_as_long_as_the_api_takes_them');
const [field, option] = [nameOf('a_key_of_forty_characters_at_the_most___'), nameOf('an option')];
const actions: readonly SettingAction[] = [
  { view: 'tools', page: 999 },
  { view: 'tool', tool, page: 999 },
  { view: 'field', tool, field, page: 999 },
  { view: 'choose', tool, field, option, page: 999 },
  { view: 'up', tool, field },
  { view: 'down', tool, field },
  { view: 'reset', tool, field },
  { view: 'done' },
];
const menu = menuOf({ channel: 'telegram', chat: '-1001234567890' }, 'telegram:1234567890');

test('X3 H3 every button of a menu fits into 64 bytes and reads back as what it was', () => {
  for (const action of actions) {
    const written = writeAction(menu, action);
    assert.ok(Buffer.byteLength(written) <= 64, written);
    assert.deepEqual(readAction(written), { menu, does: action });
  }
});

test('X3 a menu is that of one person in one chat, threads included', () => {
  const chat = { channel: 'telegram', chat: '-7' };
  const mine = menuOf(chat, 'telegram:1');
  assert.equal(menuOf({ ...chat, thread: '3' }, 'telegram:1'), mine);
  for (const other of [menuOf({ ...chat, chat: '-8' }, 'telegram:1'), menuOf(chat, 'telegram:2')])
    assert.notEqual(other, mine);
});

test('X3 S6 what is no such action is none, and pages stay in bounds', () => {
  for (const odd of ['', 'set', 'set:x', 'set:x:q', 'run:dice', 'set:x:nothing:a:b'])
    assert.equal(readAction(odd), undefined, odd);
  assert.deepEqual(readAction('set:x:m:-5')?.does, { view: 'tools', page: 0 });
  assert.deepEqual(readAction('set:x:m:99999999')?.does, { view: 'tools', page: 1000 });
});
