import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { Chat } from '../servers/telegram/room.ts';
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
  startWholeBot(t, { toml: toml + more, script: asksTheLamp, flood: false });

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
  assert.deepEqual(menu.buttons, ['💡 Lamp', '📝 Memory', '🌐 Reading pages', 'Done']);
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
  await press('Done', /^Settings closed\.$/);
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
  await olga.dm.nextMessage(/Lamp, Room: that doesn't work\. Please write text from 2 to 40 characters/);
  olga.says('kitchen');
  await olga.dm.nextMessage(/Lamp, Room in this chat: kitchen\./);
  olga.says('/settings lamp_state room default');
  await olga.dm.nextMessage(/no longer set in this chat; it is now: cellar/);
  assert.equal(bot.messages.requests.length, 0);
  olga.says('kitchen');
  await olga.dm.nextMessage(/Heard/);
});

test('X3 S2 a secret is deleted, masked, and in no transcript, model request, log or audit; a tool gets it', async (t) => {
  const secret = 'hue-SECRET-4711-token';
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  olga.says('/settings lamp_state token');
  await olga.dm.nextMessage(/never sees it/);
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

test('X3 others get one plain sentence, for a press, too, which changes nothing; an approver may', async (t) => {
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  const ann = bot.telegram.person({ name: 'Ann' });
  const ed = bot.telegram.person({ name: 'Ed', id: 1002 });
  const team = bot.telegram.group({ title: 'Team' });
  team.setBot('administrator');
  ann.says('/settings@test_bot lamp_state on true', { in: team });
  await team.nextShownTo(ann, /^Only an owner or an approver can change settings\.$/);
  olga.says('/settings@test_bot lamp_state colour', { in: team });
  const menu = await team.nextShownTo(olga, /Colour in this chat: Warm white/);
  assert.throws(() => ann.pressesAlone(menu.id, 'cold', team), /does not see/);
  ed.says('/settings@test_bot lamp_state colour', { in: team });
  const own = await team.nextShownTo(ed, /Colour in this chat: Warm white \(default\)/);
  ed.pressesAlone(own.id, 'cold', team);
  await bot.telegram.until('his view says so', () =>
    team.shownTo(ed).find(({ id, text }) => id === own.id && /cold \(this chat\)/.test(text)),
  );
  await team.nextMessage('Ed changed this for the whole chat: 💡 Lamp.');
  assert.match(team.shownTo(olga).find(({ id }) => id === menu.id)?.text ?? '', /Warm white \(default\)/);
  // Who may no longer change settings still sees the buttons.
  await bot.reconfigure(toml.replace('"telegram:1002"', '"telegram:1003"'));
  await bot.log.line(({ message }) => /config was changed/.test(message));
  const pressed = ed.pressesAlone(own.id, 'Warm white', team);
  const told = await bot.telegram.until('a word on the press', () => pressed.text());
  assert.equal(told, 'Only an owner or an approver can change settings.');
  const refused = bot.log.lines.filter(({ message }) => /settings button that is not theirs/.test(message));
  assert.equal(refused.length, 1);
  assert.deepEqual(
    team.everSent().map(({ text }) => text),
    ['Ed changed this for the whole chat: 💡 Lamp.'],
  );
});

test('X3 U16 settings of a group can be changed in the direct message, by who is in the group at each press', async (t) => {
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  const team = bot.telegram.group({ title: 'Team' });
  olga.says('/settings@test_bot lamp_state', { in: team });
  await team.nextMessage('I can say that only in a direct message.');
  olga.says('/whoami');
  await olga.dm.nextMessage(/^You: /);
  const menu = await olga.dm.nextMessage(/Lamp in this chat/);
  const press = async (label: string, match: RegExp) => {
    olga.presses(menu.id, label);
    return edited(bot, olga.dm, menu.id, match);
  };
  await press('Colour', /Colour in this chat: Warm white/);
  await press('cold', /Colour in this chat: cold \(this chat\)/);
  await press('Back', /colour Colour: cold/);
  await press('Room', /Or write the value as your next message/);
  olga.says('garden');
  await olga.dm.nextMessage(/Lamp, Room in this chat: garden/);
  olga.says('/settings@test_bot lamp_state token', { in: team });
  const question = await olga.dm.nextMessage(/Or write the value as a reply/);
  olga.says('hue-SECRET-0815', { replyTo: question.id });
  await olga.dm.nextMessage(/set, not shown\. Your message was deleted here/);
  olga.says('/settings lamp_state');
  await olga.dm.nextMessage(/room Room: cellar \(config\)/);
  // The group hears where the answer went and that something changed, each once.
  await bot.bot.idle();
  assert.deepEqual(
    team.everSent().map(({ text }) => text),
    [
      'I can say that only in a direct message. Write to me there, and you get it.',
      'Olga changed this for the whole chat: 💡 Lamp.',
      'I answered you in a direct message.',
    ],
  );
  olga.leaves(team);
  const pressed = olga.presses(menu.id, 'Back');
  assert.match((await bot.telegram.until('a word', () => pressed.text())) ?? '', /This button has expired/);
  assert.equal(bot.messages.requests.length, 0);
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
  team.setBot('administrator');
  olga.says('/settings@test_bot lamp_state room', { in: team });
  const menu = await team.nextShownTo(olga, /Or write the value as a reply to this message/);
  olga.says('just talk', { in: team });
  olga.whispers('garden', { in: team, replyTo: menu.id });
  await team.nextShownTo(olga, /Room in this chat: garden/);
  olga.says('@test_bot attic', { in: team });
  await team.nextMessage(/Heard/);
  olga.says('/settings lamp_state');
  await olga.dm.nextMessage(/room Room: cellar \(config\)/);
  assert.equal(bot.messages.requests.length, 2);
});

/** Olga owns the bot: her id is made by the workspace, so config hears of it when she is there. */
async function onSlack(t: Parameters<typeof startWholeBot>[0]) {
  const bot = await startWholeBot(t, { toml, script: asksTheLamp, channels: ['slack'] });
  const olga = bot.slack.workspace.addUser('olga');
  const ann = bot.slack.workspace.addUser('ann');
  const room = bot.slack.workspace.addRoom('channel', { members: [olga.id, ann.id] });
  await bot.reconfigure(
    toml.replace('"slack:U1"', `"slack:${olga.id}"`).replace('[access]\n', '[access]\nusers = ["slack:*"]\n'),
  );
  await bot.log.line(({ message }) => /config was changed/.test(message));
  return { ...bot, olga, ann, room };
}

test('X3 on Slack a modal shows what is set, refuses at the field, and tells the chat what was changed', async (t) => {
  const { slack, olga, room, messages, log } = await onSlack(t);
  const attempt = await slack.people.slash(olga, room, 'settings');
  assert.ok(attempt.ok);
  const menu = await slack.shown.until(({ text }) => String(text).includes('Settings of tools'));
  await slack.people.pressAlone(olga, menu, '💡 Lamp');
  const opened = await slack.views.until(({ user }) => user === olga.id);
  const shown = JSON.stringify(opened.view);
  assert.match(shown, /"initial_value":"cellar"/);
  assert.match(shown, /"initial_value":"40"/);
  assert.match(shown, /Default: Warm white/);
  const secret = 'hue-SECRET-0815';
  const refused = await slack.people.submit(olga, opened, { Room: 'x', Token: secret });
  assert.deepEqual(refused.ok && refused.response, {
    response_action: 'errors',
    errors: { room: 'Please write text from 2 to 40 characters.' },
  });
  const done = await slack.people.submit(olga, opened, {
    Room: 'attic',
    On: 'On',
    Colour: 'cold',
    Days: ['mo', 'we'],
    Token: secret,
    Bridge: 'https://bridge.example/',
  });
  assert.ok(done.ok);
  assert.doesNotMatch(JSON.stringify(done), /response_action/, 'the modal closes');
  const told = await slack.shown.until(({ text }) => String(text).includes('set in this chat by'));
  assert.deepEqual([told['kind'], told['user']], ['ephemeral', olga.id]);
  await slack.posted(({ text }) => text.includes('changed this for the whole chat: 💡 Lamp.'));
  const text = JSON.stringify(told['blocks']);
  for (const part of [
    /Room: `attic`/,
    /On: on/,
    /Colour: `cold`/,
    /Days: `mo`, `we`/,
    /Token: set, not shown/,
  ])
    assert.match(text, part);
  assert.doesNotMatch(text, /Level|SECRET/);
  slack.people.mention(olga, room, 'how is it?');
  const heard = await slack.posted((message) => message.text.includes('Heard'));
  assert.match(JSON.stringify(heard.blocks), /attic.*redacted lamp_state.token/s);
  assert.doesNotMatch(JSON.stringify([messages.requests.map(({ body }) => body), log.lines]), /SECRET/);
});

test('X3 on Slack a modal keeps a secret that is left empty, and what is emptied is no longer set', async (t) => {
  const { slack, olga } = await onSlack(t);
  const dm = slack.workspace.dmWith(olga.id);
  await slack.people.slash(olga, dm, 'settings lamp_state room attic');
  await slack.posted(({ text }) => text.includes('attic'));
  await slack.people.slash(olga, dm, 'settings lamp_state token hue-SECRET-0815');
  await slack.posted(({ text }) => text.includes('set, not shown.'));
  // Nor is one shown that was written where none belongs.
  await slack.people.slash(olga, dm, 'settings lamp_state note by hue-SECRET-0815');
  await slack.posted(({ text }) => /Note.*redacted/.test(text));
  await slack.people.slash(olga, dm, 'settings lamp_state');
  const opened = await slack.views.until(() => true);
  assert.equal(
    JSON.stringify(opened.view).split('A value is set. Leave this empty to keep it').length - 1,
    2,
  );
  assert.doesNotMatch(JSON.stringify(opened.view), /SECRET/);
  await slack.people.submit(olga, opened, { Room: '' });
  const told = await slack.posted(({ text }) => text.includes('no longer set'));
  assert.match(told.text, /Room: `cellar`, no longer set in this chat/);
  assert.doesNotMatch(told.text, /Note/);
  assert.doesNotMatch(told.text, /Token/);
});

test('X3 on Slack others open no modal and are told so alone, a foreign or made-up form sets nothing, and without a trigger there are buttons', async (t) => {
  const { slack, olga, ann, room, log, reconfigure } = await onSlack(t);
  slack.people.mention(ann, room, 'settings lamp_state');
  const told = await slack.shown.until(({ kind }) => kind === 'ephemeral');
  assert.deepEqual(
    [told['user'], told['text']],
    [ann.id, 'Only an owner or an approver can change settings.'],
  );
  slack.people.mention(olga, room, 'settings');
  const menu = await slack.shown.until(({ text }) => String(text).includes('Settings of tools'));
  assert.equal(slack.views.all().length, 0);
  await slack.people.pressAlone(olga, menu, '💡 Lamp');
  const opened = await slack.views.until(() => true);
  const foreign = await slack.people.submit(ann, opened, { Room: 'attic' });
  assert.match(JSON.stringify(foreign), /Only an owner or an approver/);
  // An approver's own menus are not hers either, and who may no more, may not send what was opened before.
  const rights = async (approver: string, owner: string) => {
    const changed = toml
      .replace('"telegram:1002"', approver)
      .replace('"slack:U1"', owner)
      .replace('[access]\n', '[access]\nusers = ["slack:*"]\n');
    const told = () => log.lines.filter(({ message }) => /config was changed/.test(message)).length;
    const before = told();
    await reconfigure(changed);
    await t.waitFor(() => assert.ok(told() > before), { interval: 20, timeout: 60_000 });
  };
  await rights(`"slack:${ann.id}"`, `"slack:${olga.id}"`);
  assert.match(
    JSON.stringify(await slack.people.submit(ann, opened, { Room: 'attic' })),
    /Somebody else opened/,
  );
  await rights(`"slack:${ann.id}"`, '"slack:U1"');
  assert.match(JSON.stringify(await slack.people.submit(olga, opened, { Room: 'attic' })), /Only an owner/);
  await rights('"telegram:1002"', `"slack:${olga.id}"`);
  const odd = { ...opened, view: { ...opened.view, private_metadata: 'not ours' } };
  assert.ok((await slack.people.submit(olga, odd, { Room: 'attic' })).ok);
  slack.faults.next('views.open', { kind: 'error', error: 'expired_trigger_id' });
  await slack.people.pressAlone(olga, menu, '💡 Lamp');
  await slack.shown.until(({ text }) => /Room: `cellar` \(config\)/.test(String(text)));
  assert.equal(log.lines.filter((line) => /settings form that is not theirs/.test(line.message)).length, 3);
});

test('H12 X3 settings opened by a slash command in a channel stay with who opened them', async (t) => {
  const { slack, bot, olga, room } = await onSlack(t);
  const alone = (words: string) => slack.shown.until(({ text }) => String(text).includes(words));
  await slack.people.slash(olga, room, 'settings');
  slack.faults.next('views.open', { kind: 'error', error: 'expired_trigger_id' });
  await slack.people.pressAlone(olga, await alone('Settings of tools'), '💡 Lamp');
  await alone('Room: `cellar` (config)');
  await bot.idle();
  assert.deepEqual(slack.transcript(room), []);
});

test('X3 on Slack words after a mention are the command where they name a tool with settings', async (t) => {
  const { slack, olga, room, messages } = await onSlack(t);
  slack.people.mention(olga, room, 'settings lamp_stat token hue-SECRET-0815');
  const alone = (words: string) => slack.shown.until(({ text }) => String(text).includes(words));
  await alone('No tool with that name');
  slack.people.mention(olga, room, 'settings lamp_state token hue-SECRET-0815');
  await alone('Please delete yours');
  assert.equal(messages.requests.length, 0);
});

test('X3 a wrong table of a plugin’s tool is told at start, and the default holds', async (t) => {
  const bot = await start(t, '[tools.lamp_inner]\nx = 1\n');
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  const told = await bot.log.line(({ fields }) => fields['code'] === 'TOOL_SETTING_INVALID');
  assert.match(
    told.message,
    /config\.toml:\d+:\d+: tools\.lamp_inner\.x is not a known key: this tool has no settings/,
  );
  await bot.reconfigure(toml.replace('room = "cellar"', 'room = "x"\ntoken = "literal-SECRET"'));
  await bot.log.line(({ message }) => /config was changed/.test(message));
  olga.says('/settings lamp_state');
  const { text } = await olga.dm.nextMessage(/Lamp in this chat/);
  assert.match(text, /room Room: hall \(default\)/);
  assert.match(text, /token Token: set, not shown \(config\)/);
  assert.match(
    text,
    /\[tools\.lamp_state\] in the config can't be used for room: write text from 2 to 40 characters/,
  );
  olga.says('tell me');
  assert.match((await olga.dm.nextMessage(/Heard/)).text, /redacted [^"]*token/);
});

test('X3 Q12 what is set in a person’s direct messages is forgotten with them, what is set in a group is not', async (t) => {
  const { telegram, bot } = await start(t);
  const ed = telegram.person({ name: 'Ed', id: 1002 });
  const team = telegram.group({ title: 'Team' });
  team.setBot('administrator');
  ed.says('/settings lamp_state room attic');
  await ed.dm.nextMessage(/attic/);
  ed.says('/settings@test_bot lamp_state room garden', { in: team });
  await team.nextShownTo(ed, /garden/);
  await bot.operate('forget', 'telegram:1002');
  ed.says('/settings lamp_state');
  await ed.dm.nextMessage(/room Room: cellar \(config\)/);
  ed.says('/settings@test_bot lamp_state', { in: team });
  await team.nextShownTo(ed, /room Room: garden \(this chat\)/);
});

test('X3 S2 in a group a secret that is waited for is taken though it is said to nobody, and who wrote it hears what is left to do', async (t) => {
  const bot = await start(t);
  const olga = bot.telegram.person({ name: 'Olga', id: 1001 });
  const team = bot.telegram.group({ title: 'Team' });
  team.setBot('administrator');
  olga.says('/settings@test_bot lamp_state token', { in: team });
  await team.nextShownTo(olga, /Or write the value/);
  team.setBot('member');
  olga.says('hue-SECRET-0815', { in: team });
  await team.nextMessage('I can say that only in a direct message.');
  olga.says('/whoami');
  await olga.dm.nextMessage(/set, not shown\. I can’t delete messages here/);
  olga.says('@test_bot what did I say?', { in: team });
  await team.nextMessage(/Heard/);
  assert.doesNotMatch(JSON.stringify(bot.messages.requests.map(({ body }) => body)), /SECRET/);
});
