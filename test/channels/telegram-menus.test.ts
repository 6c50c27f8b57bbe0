import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toMenu } from '../../src/channels/telegram/set-menus.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('I1 menus are set for private chats and for groups, hyphens as underscores, with the hint', async () => {
  await using bot = await startTelegramBot();
  const help = { name: 'help', description: 'What I can do' };
  const review = { name: 'code-review', description: 'Reviews\ncode', hint: '[file]' };
  const diagnostics = await bot.channel.setMenus({ private: [help, review], group: [help] });
  assert.deepEqual(diagnostics, []);
  const menus = bot.server.menus();
  assert.deepEqual(menus.get('all_private_chats'), [
    { command: 'help', description: 'What I can do' },
    { command: 'code_review', description: 'Reviews code · [file]' },
  ]);
  assert.equal(menus.get('all_group_chats')?.length, 1);
});

test('I1 an unchanged menu is not sent again', async () => {
  await using bot = await startTelegramBot();
  const entry = { name: 'help', description: 'x' };
  await bot.channel.setMenus({ private: [entry], group: [entry] });
  await bot.channel.setMenus({ private: [entry], group: [] });
  assert.equal(bot.server.calls('setMyCommands').length, 3);
});

test('I1 what a menu can not show is left out with a reason, and the rest is shown', () => {
  const entries = ['a-b', 'a_b', 'über', 'x'.repeat(33), 'fine'].map((name) => ({ name, description: 'd' }));
  const { commands, diagnostics } = toMenu(entries, 'group');
  assert.deepEqual(
    commands.map(({ command }) => command),
    ['a_b', 'fine'],
  );
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['MENU_NAME_TAKEN', 'MENU_NAME_UNUSABLE', 'MENU_NAME_UNUSABLE'],
  );
  const many = toMenu(
    Array.from({ length: 103 }, (_, index) => ({ name: `n${index}`, description: 'd' })),
    'group',
  );
  assert.equal(many.commands.length, 100);
  assert.equal(many.diagnostics.filter(({ code }) => code === 'MENU_FULL').length, 3);
});

test('I1 whatever skills are called and described as, Telegram takes the menu', async () => {
  await using bot = await startTelegramBot();
  const entry = fc.record(
    {
      name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      description: fc.string({ unit: 'grapheme', maxLength: 400 }),
      hint: fc.string({ unit: 'grapheme', maxLength: 200 }),
    },
    { requiredKeys: ['name', 'description'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 120 }), async (entries) => {
      const diagnostics = await bot.channel.setMenus({ private: entries, group: entries });
      assert.deepEqual(
        diagnostics.filter(({ code }) => code === 'MENU_NOT_SET'),
        [],
      );
    }),
    { numRuns: Math.min(runs, 1000) },
  );
});

test('I1 a refusal of the whole menu is a diagnostic, and the next try sends it again', async () => {
  await using bot = await startTelegramBot();
  const entry = { name: 'help', description: 'x' };
  bot.server.faults.add({ method: 'setMyCommands', times: 2, retryAfter: 3 });
  const menus = { private: [entry], group: [entry] };
  assert.deepEqual(
    (await bot.channel.setMenus(menus)).map(({ code }) => code),
    ['MENU_NOT_SET', 'MENU_NOT_SET'],
  );
  assert.deepEqual(await bot.channel.setMenus(menus), []);
});
