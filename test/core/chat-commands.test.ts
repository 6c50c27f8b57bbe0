import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandTable } from '../../src/core/chat-commands.ts';
import { allCommands } from '../../src/features/list.ts';

test('I3 commands are found by their names, in the order of the parts that bring them', () => {
  const table = commandTable([
    { help: { menu: 'Help' }, exit: { about: 'Leave' } },
    { dice: { menu: 'Roll' } },
  ]);
  assert.deepEqual(table.names, ['help', 'exit', 'dice']);
  assert.deepEqual(table.row('dice'), { menu: 'Roll' });
  for (const name of ['none', 'constructor', '']) assert.equal(table.row(name), undefined);
});

test('I3 two parts never bring the same command', () => {
  assert.throws(() => commandTable([{ dice: { menu: 'One' } }, { dice: { menu: 'Two' } }]), /dice/);
});

test('I1 the bot’s own commands come first in menus, and an everyday word needs its mark', () => {
  const { names, row } = allCommands();
  assert.deepEqual(names.slice(0, 5), ['start', 'help', 'skills', 'skill', 'new']);
  assert.ok(names.indexOf('whoami') < names.indexOf('memory'));
  assert.deepEqual(
    names.filter((name) => row(name)?.onlyWithMark === true),
    ['connect', 'disconnect', 'why'],
  );
});
