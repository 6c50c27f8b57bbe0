import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conversation } from '../../src/core/conversation.ts';
import { SendError } from '../../src/core/errors.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { equalData } from '../support/equal-data.ts';

test('I1 /skill in a direct message is the command skill, without a root message', async (t) => {
  const { slack, message, events } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.dmWith(anna.id);
  const answer = await slack.people.slash(anna, room, ' research  the <moon> &amp; more ');
  const heard = await message();
  assert.deepEqual(heard.command, { name: 'skill', args: 'research  the moon & more' });
  assert.equal(heard.text, '/skill research  the moon & more');
  assert.equal(heard.chatType, 'private');
  assert.deepEqual(heard.conversation, { channel: 'slack', chat: room.id });
  assert.ok(Math.abs(heard.sentAt - Date.now()) < 60_000);
  assert.equal(answer.ok, true);
  const [event] = events.all();
  assert.ok(event?.type === 'message' && event.openThread === undefined);
});

test('I1 a slash call in a channel opens a thread that says who asked what', async (t) => {
  const opened: Conversation[] = [];
  const { slack, message } = await connectSlackChannel(t, {
    onEvent: async (event) => {
      if (event.type === 'message' && event.openThread)
        opened.push(await event.openThread({ skill: 'dice', text: '2d6 & <!channel>' }));
    },
  });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('group', { members: [anna.id] });
  const answer = await slack.people.slash(anna, room, 'dice 2d6 & <!channel>');
  assert.deepEqual(answer, { ok: true, response: {} });
  assert.equal((await message()).chatType, 'group');
  const root = await slack.posted();
  assert.equal(root.text, `<@${anna.id}> asked for dice: 2d6 &amp; &lt;!channel&gt;`);
  assert.deepEqual(opened, [{ channel: 'slack', chat: room.id, thread: root.ts }]);
});

test('I1 where the bot is not, a slash call is answered to the person alone with how to invite it', async (t) => {
  const { slack, events } = await connectSlackChannel(t);
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const rooms = [
    slack.workspace.addRoom('channel', { members: [anna.id], bot: false }),
    slack.workspace.addRoom('group', { members: [anna.id], bot: false }),
    slack.workspace.addRoom('im', { members: [anna.id, ben.id], bot: false }),
  ];
  for (const room of rooms) {
    const answer = await slack.people.slash(anna, room, 'dice');
    assert.ok(answer.ok);
    const { response_type, text } = answer.response as { response_type: string; text: string };
    assert.equal(response_type, 'ephemeral');
    assert.match(text, /\/invite <@U/);
  }
  const bea = slack.workspace.addUser('bea', { locale: 'de-DE' });
  rooms[0]?.members.add(bea.id);
  const german = await slack.people.slash(bea, rooms[0] ?? assert.fail(), 'dice');
  assert.match(JSON.stringify(german), /Lade mich mit `\/invite <@U\w+>` ein/, 'H14');
  assert.equal(events.all().length, 0);
  // Invited in the meantime: nothing of the refusal is remembered.
  rooms[0]?.members.add(slack.workspace.bot.user);
  await slack.people.slash(anna, rooms[0] ?? assert.fail(), 'dice');
  assert.equal(events.all().length, 1);
});

test('I1 a thread that cannot be opened is told to the person', async (t) => {
  const { slack } = await connectSlackChannel(t, {
    onEvent: async (event) => {
      if (event.type === 'message') await event.openThread?.({ skill: 'dice' });
    },
  });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.faults.next('chat.postMessage', { kind: 'error', error: 'restricted_action' });
  const answer = await slack.people.slash(anna, room, 'dice');
  assert.ok(answer.ok);
  assert.match(JSON.stringify(answer.response), /I can’t post in this channel. Please write to me directly/);
});

test('Q1 a slash call that could not be stored is not acknowledged', async (t) => {
  const { slack } = await connectSlackChannel(t, {
    server: { ackTimeoutMs: 300 },
    onEvent: async () => {
      throw new Error('disk full');
    },
  });
  const anna = slack.workspace.addUser('anna');
  const answer = await slack.people.slash(anna, slack.workspace.dmWith(anna.id), 'dice');
  assert.deepEqual(answer, { ok: false, reason: 'timeout' });
});

test('I1 a root message whose posting was cut off is found again and not posted twice', async (t) => {
  const opened: Conversation[] = [];
  const { slack, events } = await connectSlackChannel(t, {
    onEvent: async (event) => {
      if (event.type === 'message' && event.openThread)
        opened.push(await event.openThread({ skill: 'dice', text: '2d6 & <!channel>' }));
    },
  });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.faults.next('chat.postMessage', { kind: 'cut', when: 'after' });
  await slack.people.slash(anna, room, 'dice');
  await events.untilCount(1);
  assert.equal(room.messages.length, 1);
  assert.equal(opened[0]?.thread, room.messages[0]?.ts);
});

test('H4 a press carries its action, its presser, its message and the kind of room', async (t) => {
  const { slack, channel, press } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id], external: true });
  const root = slack.people.mention(anna, room, 'go');
  const conversation = { channel: 'slack', chat: room.id, thread: root.ts };
  const buttons = [
    { label: 'Approve', action: 'yes:1' },
    { label: 'Read', url: 'https://example.org' },
  ];
  const receipt = await channel.send(conversation, { markdown: 'May I?', buttons }, 'key-1');
  assert.deepEqual(await slack.people.press(anna, { channel: room.id, ts: receipt.id }, 'Approve'), {
    ok: true,
    response: {},
  });
  const { id, at = 0, ...rest } = await press();
  assert.match(id, new RegExp(`^slack:T0HOME:${room.id}:${receipt.id}:press:${anna.id}:`));
  assert.equal(Math.floor(at / 1000), Number(id.split(':').at(-1)?.split('.')[0]));
  equalData(rest, {
    conversation,
    chatType: 'channel',
    external: true,
    sender: { id: `slack:${anna.id}`, name: 'anna', kind: 'person' },
    action: 'yes:1',
    receipt,
  });
  await slack.people.press(anna, { channel: room.id, ts: receipt.id }, 'Read');
});

test('A9 a press by a member of another workspace is a guest’s', async (t) => {
  const { slack, channel, press } = await connectSlackChannel(t);
  const eve = slack.workspace.addUser('eve', { team: 'T0OTHER' });
  const room = slack.workspace.addRoom('channel', { members: [eve.id], external: true });
  const buttons = [{ label: 'Approve', action: 'yes' }];
  const receipt = await channel.send({ channel: 'slack', chat: room.id }, { markdown: 'ok?', buttons }, 'k');
  await slack.people.press(eve, { channel: room.id, ts: receipt.id }, 'Approve');
  assert.equal((await press()).sender.kind, 'guest');
});

test('H4 many buttons become a menu whose picks are presses', async (t) => {
  const { slack, channel, press } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.dmWith(anna.id);
  const buttons = Array.from({ length: 130 }, (_, index) => ({
    label: `Skill ${index} ${'x'.repeat(80)}`,
    action: `s:${index}`,
  }));
  const receipt = await channel.send({ channel: 'slack', chat: room.id }, { markdown: 'Pick', buttons }, 'k');
  const menus = (await slack.posted()).blocks?.slice(1) as {
    elements: { options: { text: { text: string } }[] }[];
  }[];
  assert.deepEqual(
    menus.map(({ elements }) => elements[0]?.options.length),
    [100, 30],
  );
  const label = menus[1]?.elements[0]?.options[7]?.text.text ?? '';
  await slack.people.press(anna, { channel: room.id, ts: receipt.id }, label);
  const pressed = await press();
  assert.equal(pressed.action, 's:107');
  equalData(pressed.conversation, { channel: 'slack', chat: room.id });
});

test('S1 a slash call or a press that is replayed acts once', async (t) => {
  const { slack, events, channel } = await connectSlackChannel(t, {
    onEvent: async (event) => {
      if (event.type === 'message') await event.openThread?.({ skill: 'dice' });
    },
  });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const payload = {
    command: '/skill',
    text: 'dice',
    trigger_id: '1.2.abc',
    channel_id: room.id,
    user_id: anna.id,
    user_name: 'anna',
    team_id: slack.workspace.team,
  };
  await slack.socket.transport('slash_commands', payload, undefined);
  await slack.socket.transport('slash_commands', payload, undefined);
  assert.equal(room.messages.length, 1);
  assert.equal(events.all().length, 1);
  await assert.rejects(
    channel.send({ channel: 'slack', chat: 'C0NOWHERE' }, { markdown: 'x' }, 'k'),
    SendError,
  );
});
