import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { MessagesRequest } from '../support/messages-server/request-shape.ts';
import type { Chat } from '../support/telegram-server/room.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';

const lamp = path.join(import.meta.dirname, '../support/lamp-plugin');
const toml = `[bot]\nowner = ["telegram:1001", "slack:U1"]\n[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]
[skills]\nbundled = false\n[policy]\napprovers = ["telegram:1002"]\n[[plugins]]\npath = "${lamp}"\n[tools.lamp_state]\nroom = "cellar"\n`;

/** A model that asks the lamp whatever it is told, and says what it heard. */
const asksTheLamp = (body: MessagesRequest) => {
  const last = JSON.stringify(body.messages.at(-1));
  return last.includes('tool_result')
    ? `Heard: ${last.replaceAll('\\', '')}`
    : {
        content: [
          { type: 'tool_use' as const, id: `toolu_${body.messages.length}`, name: 'lamp_state', input: {} },
        ],
      };
};

const start = (t: Parameters<typeof startWholeBot>[0], more = '') =>
  startWholeBot(t, { toml: toml + more, script: asksTheLamp });

/** What the message that was pressed says now. */
async function edited({ telegram }: WholeBot, chat: Chat, id: number, match: RegExp) {
  return telegram.until(`message ${id} says ${match}`, () =>
    chat.sent().find((message) => message.id === id && match.test(message.text)),
  );
}

test('X3 on Telegram an owner goes from tools to a field by buttons, in one message, and what is chosen holds', async (t) => {
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  olga.says('/settings');
  const menu = await olga.dm.nextMessage(/Settings of tools/);
  assert.deepEqual(menu.buttons, ['💡 Lamp', 'Web fetch', 'Done']);
  const press = async (label: string, match: RegExp) => {
    olga.presses(menu.id, label);
    return edited(bot, olga.dm, menu.id, match);
  };
  const tool = await press('💡 Lamp', /Lamp in this chat/);
  assert.match(tool.text, /room Room: cellar \(config\)/);
  assert.match(tool.text, /level Level: 40 % \(default\)/);
  assert.match(tool.text, /token Token: not set/);
  await press('Colour', /Colour in this chat: Warm white \(default\)/);
  await press('cold', /Colour in this chat: cold \(this chat\)/);
  await press('Back', /colour Colour: cold \(this chat\)/);
  await press('On', /On in this chat: off \(default\)/);
  await press('On', /On in this chat: on \(this chat\)/);
  await press('Back', /on On: on/);
  await press('Days', /Days in this chat: none/);
  await press('mo', /Days in this chat: mo \(/);
  await press('tu', /Days in this chat: mo, tu/);
  const full = await press('we', /Not changed: write a list of mo, tu or we, at most 2 of them/);
  assert.ok(full.buttons.includes('✓ mo'));
  await press('✓ mo', /Days in this chat: tu \(/);
  await press('Back', /days Days: tu/);
  await press('Level', /Level in this chat: 40 %/);
  await press('+ → 65', /Level in this chat: 65 % \(this chat\)/);
  await press('+ → 90', /90 %/);
  await press('+ → 100', /100 %/);
  await press('Unset in this chat', /40 % \(default\)/);
  await press('Back', /level Level: 40/);
  await press('Done', /as you left them/);
  assert.equal(olga.dm.sent().length, 1, 'one message all the way');
  olga.says('how is it?');
  const { text } = await olga.dm.nextMessage(/Heard/);
  for (const part of [
    /"room": "cellar"/,
    /"colour": "cold"/,
    /"on": true/,
    /"days": \[\s*n? *"tu"/,
    /"level": 40/,
  ])
    assert.match(text.replaceAll('n "', ' "'), part);
});

test('X3 a value is written as the next message; a wrong one is refused with what to write, and neither reaches the model', async (t) => {
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  olga.says('/settings lamp_state room');
  await olga.dm.nextMessage(/Or write the value as your next message, such as kitchen/);
  olga.says('x');
  await olga.dm.nextMessage(/Lamp, Room: that can't be set\. Please write text from 2 to 40 characters/);
  olga.says('kitchen');
  await olga.dm.nextMessage(/Lamp, Room in this chat: kitchen\./);
  olga.says('/settings lamp_state room default');
  await olga.dm.nextMessage(/no longer set in this chat; in force: cellar/);
  assert.equal(bot.messages.requests.length, 0);
  olga.says('kitchen');
  await olga.dm.nextMessage(/Heard/);
});

test('X3 S2 a secret is deleted, masked, and in no transcript, model request, log or audit; a tool gets it', async (t) => {
  const secret = 'hue-SECRET-4711-token';
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  olga.says('/settings lamp_state token');
  await olga.dm.nextMessage(/kept from the model/);
  const typed = olga.says('short');
  await olga.dm.nextMessage(/Please write text from 8 to .* deleted here/);
  olga.says(secret);
  await olga.dm.nextMessage(/Token in this chat: set, not shown\. Your message was deleted here\./);
  olga.says(`/settings lamp_state token ${secret}2`);
  await olga.dm.nextMessage(/set, not shown\. Your message was deleted/);
  olga.says('what is the token?');
  const { text } = await olga.dm.nextMessage(/Heard/);
  assert.match(text, /"token": "\[redacted lamp_state\.token\]/);
  assert.ok(typed !== undefined);
  const again = await bot.restart();
  olga.says(`I repeat: ${secret}`);
  await olga.dm.nextMessage(/Heard/);
  await again.bot.idle();
  const told = [
    JSON.stringify(again.messages.requests.map(({ body }) => ({ tools: body.tools, system: body.system }))),
    JSON.stringify([bot.log.lines, again.log.lines]),
    ...(await audits(bot.home)),
  ].join('\n');
  assert.doesNotMatch(told, /SECRET/);
  const results = again.messages.requests.flatMap(({ body }) => body.messages.map((m) => JSON.stringify(m)));
  assert.doesNotMatch(results.filter((m) => m.includes('tool_result')).join(), /SECRET/);
});

async function audits(home: string): Promise<readonly string[]> {
  const folder = path.join(home, 'data', 'audit');
  const files = await readdir(folder).catch(() => []);
  return Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
}

test('X3 others get one plain sentence; their presses and made-up ones change nothing; an approver may', async (t) => {
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  const ann = bot.telegram.person({ name: 'Ann' });
  const ed = bot.telegram.person({ name: 'Ed', id: 1002 });
  const team = bot.telegram.group({ title: 'Team' });
  ann.says('/settings@test_bot lamp_state on true', { in: team });
  await team.nextMessage(/^Only an owner or an approver can change settings\.$/);
  olga.says('/settings@test_bot lamp_state colour', { in: team });
  const menu = await team.nextMessage(/Colour in this chat: Warm white/);
  ann.presses(menu.id, 'cold', team);
  ed.presses(menu.id, 'cold', team);
  ed.says('/settings@test_bot lamp_state colour', { in: team });
  const own = await team.nextMessage(/Colour in this chat: Warm white \(default\)/);
  ed.presses(own.id, 'cold', team);
  await edited(bot, team, own.id, /cold \(this chat\)/);
  assert.match(team.sent().find(({ id }) => id === menu.id)?.text ?? '', /Warm white \(default\)/);
  const refused = bot.log.lines.filter(({ message }) =>
    /button of settings that is not theirs/.test(message),
  );
  assert.equal(refused.length, 2);
});

test('X3 Q5 a menu and a value that is waited for outlive a restart', async (t) => {
  const first = await start(t);
  const olga = first.telegram.person({ name: 'Olga', id: 1001 });
  olga.says('/settings lamp_state');
  const menu = await olga.dm.nextMessage(/Lamp in this chat/);
  const second = await first.restart();
  olga.presses(menu.id, 'Room');
  await edited(second, olga.dm, menu.id, /Or write the value/);
  await second.restart();
  olga.says('attic');
  await olga.dm.nextMessage(/Room in this chat: attic/);
  assert.equal(first.messages.requests.length, 0);
});

test('X3 settings hold for one chat, in a group a value is an answer to the bot, and a late answer is not passed on', async (t) => {
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  const team = bot.telegram.group({ title: 'Team' });
  olga.says('/settings@test_bot lamp_state room', { in: team });
  const menu = await team.nextMessage(/Or write the value as an answer to this message/);
  olga.says('just talk', { in: team });
  olga.says('garden', { in: team, replyTo: menu.id });
  await team.nextMessage(/Room in this chat: garden/);
  olga.says('attic', { in: team, replyTo: menu.id });
  await team.nextMessage(/That came too late: write \/settings again\./);
  olga.says('/settings lamp_state');
  await olga.dm.nextMessage(/room Room: cellar \(config\)/);
  assert.equal(bot.messages.requests.length, 0);
});
