import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessLevel, AccessSettings } from '../../src/core/access-settings.ts';
import { decideMessage } from '../../src/access/decide-message.ts';
import type { Message, Sender } from '../../src/core/message.ts';

const ana: Sender = { id: 'telegram:42', name: 'Ana', kind: 'person' };
const nobodyKnown: Readonly<{
  paired: boolean;
  groupAllowed: boolean;
  formerChatIds: readonly string[];
}> = {
  paired: false,
  groupAllowed: false,
  formerChatIds: [],
};

function settings(general: AccessLevel, more: Partial<AccessSettings> = {}): AccessSettings {
  return { owners: [], general, channels: new Map(), chats: new Map(), allowExternal: false, ...more };
}

type Speaker = Pick<Message, 'conversation' | 'chatType' | 'sender' | 'addressed'>;

function direct(sender: Sender = ana): Speaker {
  const [channel = '', chat = ''] = sender.id.split(':');
  return { conversation: { channel, chat }, chatType: 'private', sender, addressed: true };
}

function inGroup(sender: Sender = ana, more: Partial<Speaker> = {}): Speaker {
  const [channel = ''] = sender.id.split(':');
  return {
    conversation: { channel, chat: '-100123', thread: '5' },
    chatType: 'group',
    sender,
    addressed: true,
    ...more,
  };
}

function code(speaker: Speaker, access: AccessSettings, known = nobodyKnown): string {
  const decision = decideMessage(speaker, access, known);
  return decision.allowed ? 'allowed' : decision.code;
}

test('A9 with nothing configured nobody is admitted anywhere', () => {
  assert.equal(code(direct(), settings({})), 'STRANGER');
  assert.equal(code(inGroup(), settings({})), 'CHAT_NOT_ALLOWED');
  assert.equal(code(inGroup(ana, { chatType: 'unknown' }), settings({})), 'CHAT_NOT_ALLOWED');
});

test('A9 a name is never matched, only the immutable id', () => {
  const access = settings({ users: ['Ana', '@ana', 'telegram:Ana', 'telegram:4'] });
  assert.equal(code(direct(), access), 'STRANGER');
  assert.equal(code(direct({ ...ana, name: 'telegram:4' }), access), 'STRANGER');
});

test('A9 a listed group does not admit its members, and a listed person does not admit a group', () => {
  assert.equal(code(inGroup(), settings({ groups: ['-100123'] })), 'NOT_ALLOWED');
  assert.equal(code(inGroup(), settings({ users: ['42'] })), 'CHAT_NOT_ALLOWED');
  assert.equal(code(inGroup(), settings({ users: ['42'], groups: ['-100123'] })), 'allowed');
});

test('H13 a group that an owner allowed is as one that is listed: who may speak there is decided as ever', () => {
  const allowed = { ...nobodyKnown, groupAllowed: true };
  assert.equal(code(inGroup(), settings({ users: ['42'], groups: [] }), allowed), 'allowed');
  assert.equal(code(inGroup(), settings({}), allowed), 'NOT_ALLOWED');
  assert.equal(code(inGroup(), settings({ users: ['42'], groupUsers: [] }), allowed), 'NOT_ALLOWED');
  const quiet = inGroup(ana, { addressed: false });
  assert.equal(code(quiet, settings({ users: ['42'] }), allowed), 'NOT_ADDRESSED');
  assert.equal(code(direct(), settings({}), allowed), 'STRANGER');
});

test('A9 group_users that is set decides instead of users, and set but empty it admits the owner alone', () => {
  const groups = ['telegram:-100123'];
  assert.equal(code(inGroup(), settings({ groups, users: ['42'], groupUsers: [] })), 'NOT_ALLOWED');
  const paired = { paired: true, groupAllowed: false, formerChatIds: [] };
  assert.equal(code(inGroup(), settings({ groups, groupUsers: ['7'] }), paired), 'NOT_ALLOWED');
  assert.equal(code(inGroup(), settings({ groups, groupUsers: [] }, { owners: ['telegram:42'] })), 'allowed');
});

test('A9 a person who does not mean the bot is heard only where mention = "always"', () => {
  const open = { users: ['42'], groups: ['-100123'] };
  const aside = inGroup(ana, { addressed: false });
  assert.equal(code(aside, settings(open)), 'NOT_ADDRESSED');
  assert.equal(code(aside, settings({ ...open, mention: 'always' })), 'allowed');
  assert.equal(code(aside, settings({ groups: ['-100123'] })), 'NOT_ALLOWED', 'admission comes first');
});

test('A9 a member of another workspace stays out, listed, paired or open, unless allow_external is set', () => {
  const guest: Sender = { id: 'slack:U9', name: 'Guest', kind: 'guest' };
  const access = settings({ users: ['slack:U9', 'slack:*'], dm: 'open' }, { owners: ['slack:U9'] });
  assert.equal(
    code(direct(guest), access, { paired: true, groupAllowed: false, formerChatIds: [] }),
    'OUTSIDER',
  );
  assert.equal(code(direct(guest), { ...access, allowExternal: true }), 'allowed');
  const home = settings({ users: ['slack:*'] }, { allowExternal: true });
  assert.equal(code(direct(guest), home), 'STRANGER', 'slack:* is the home workspace only');
});

test('A9 another bot is ignored unless its id is listed where it speaks', () => {
  const bot: Sender = { id: 'slack:B1', name: 'Bot', kind: 'bot' };
  const open: AccessLevel = { users: ['slack:*'], groupsMode: 'open', groupUsers: ['*'], dm: 'open' };
  assert.equal(code(inGroup(bot), settings(open)), 'BOT');
  assert.equal(code(direct(bot), settings(open)), 'BOT');
  assert.equal(code(inGroup(bot), settings({ ...open, groupUsers: ['B1'] })), 'allowed');
  assert.equal(code(direct(bot), settings({ ...open, groupUsers: ['B1'] })), 'BOT');
  assert.equal(code(direct(bot), settings({ ...open, users: ['slack:B1'] })), 'allowed');
});

test('S17 a bot that carries the user id of an owner or of a listed or paired person has none of their rights', () => {
  const known = { ...nobodyKnown, paired: true, groupAllowed: true };
  for (const id of ['telegram:42', 'slack:U42', 'slack:W42']) {
    const lists = { users: [id], groupUsers: [id] };
    const access = settings({ ...lists, groupsMode: 'open', dm: 'open' }, { owners: [id] });
    for (const speak of [direct, inGroup])
      assert.equal(code(speak({ id, name: 'Ana', kind: 'bot' }), access, known), 'BOT', id);
  }
});

test('A9 a voice of a kind that is not known is kept out like a bot', () => {
  const odd = { ...ana, kind: 'webhook' as Sender['kind'] };
  assert.equal(code(direct(odd), settings({ dm: 'open' })), 'BOT');
});

test('A9 an anonymous admin is judged by the id of the chat', () => {
  const admin: Sender = { id: 'telegram:-100123', name: 'Group', kind: 'chat' };
  assert.equal(code(inGroup(admin), settings({ groups: ['-100123'], users: ['42'] })), 'NOT_ALLOWED');
  assert.equal(code(inGroup(admin), settings({ groups: ['-100123'], users: ['-100123'] })), 'allowed');
});

test('A9 an id of one platform never admits the same number on another', () => {
  const other: Sender = { id: 'slack:42', name: 'Ana', kind: 'person' };
  assert.equal(code(direct(other), settings({ users: ['telegram:42'] })), 'STRANGER');
});

test('A6 a migrated group keeps its rules under its new id, and rules for the new id win', () => {
  const known = { paired: false, groupAllowed: false, formerChatIds: ['telegram:-7'] };
  const access = settings({ users: ['42'], groups: ['telegram:-7'] });
  assert.equal(code(inGroup(), access), 'CHAT_NOT_ALLOWED');
  assert.equal(code(inGroup(), access, known), 'allowed');
  const both = settings(
    { users: ['42'], groups: ['-7'] },
    {
      chats: new Map([
        ['-7', { mention: 'always' as const }],
        ['telegram:-100123', { groupUsers: [] }],
      ]),
    },
  );
  assert.equal(code(inGroup(), both, known), 'NOT_ALLOWED');
});

test('A4 a thread has the rules of its chat', () => {
  const access = settings({ users: ['42'], groups: ['-100123'] });
  const other = inGroup(ana, { conversation: { channel: 'telegram', chat: '-100124', thread: '-100123' } });
  assert.equal(code(inGroup(), access), 'allowed');
  assert.equal(code(other, access), 'CHAT_NOT_ALLOWED');
});

test('A9 a refusal tells the operator who was meant, and which key decided', () => {
  const bot = (id: string): Sender => ({ id, name: 'Bot', kind: 'bot' });
  const guest: Sender = { id: 'slack:U9', name: 'Guest', kind: 'guest' };
  const open = { groups: ['-100123'] };
  const cases: readonly (readonly [Speaker, AccessSettings, string])[] = [
    [direct(bot('telegram:7')), settings({}), 'a bot speaks as telegram:7, which may be the id of a person'],
    [direct(bot('slack:B7')), settings({}), 'slack:B7 is a bot and not listed in [access] users'],
    [
      direct(guest),
      settings({ dm: 'open' }),
      'slack:U9 belongs to another workspace: [slack] allow_external is false',
    ],
    [direct(), settings({ dm: 'allowlist' }), 'telegram:42 is not in [access] users'],
    [direct(), settings({}), 'telegram:42 is not in [access] users and not paired'],
    [inGroup(), settings({ users: ['42'] }), 'telegram:-100123 is not in [access] groups'],
    [
      inGroup(),
      settings(open),
      'telegram:42 may not talk to the bot in telegram:-100123 until [access] users lists "telegram:42"',
    ],
    [
      inGroup(),
      settings({ ...open, groupUsers: ['7'] }),
      'telegram:42 may not talk to the bot in telegram:-100123 until [access] group_users lists "telegram:42"',
    ],
    [inGroup(ana, { addressed: false }), settings({ ...open, users: ['42'] }), 'the bot was not addressed'],
  ];
  for (const [speaker, access, reason] of cases) {
    const decision = decideMessage(speaker, access, nobodyKnown);
    assert.equal(decision.allowed ? 'allowed' : decision.reason, reason);
  }
});

test('S17 only an id that no person can have lets a listed bot speak', () => {
  const heard = ['slack:B7', 'slack:B012ABC'];
  const not = ['slack:B', 'slack:B7/U7', 'slack:b7', 'x-slack:B7', 'telegram:B7', 'slack:BU-7'];
  for (const id of [...heard, ...not])
    assert.equal(
      code(direct({ id, name: 'Bot', kind: 'bot' }), settings({ users: [id] })),
      heard.includes(id) ? 'allowed' : 'BOT',
      id,
    );
});

test('A9 everybody of a channel are its people: no chat that speaks, no other channel', () => {
  const everybody = settings({ users: ['telegram:*'], groups: ['-100123', 'slack:-100123'] });
  const other: Sender = { id: 'slack:U1', name: 'Ben', kind: 'person' };
  assert.equal(code(direct(), everybody), 'allowed');
  assert.equal(code(inGroup(), everybody), 'allowed');
  assert.equal(code(direct(other), everybody), 'STRANGER');
  assert.equal(code(inGroup(other), everybody), 'NOT_ALLOWED');
  assert.equal(code(inGroup({ id: 'telegram:-7', name: 'Club', kind: 'chat' }), everybody), 'NOT_ALLOWED');
});

test('A9 dm = "open" admits to direct messages, and to no group', () => {
  const access = settings({ dm: 'open', groups: ['-100123'] });
  assert.equal(code(direct(), access), 'allowed');
  assert.equal(code(inGroup(), access), 'NOT_ALLOWED');
});

test('A9 keys of a chat override those of its channel, and both what is general; what they leave out stays', () => {
  const absent: AccessLevel = { users: undefined, groups: undefined, dm: undefined };
  const general = { users: ['42'], groups: ['-100123'] };
  assert.equal(code(inGroup(), settings(general, { channels: new Map([['telegram', absent]]) })), 'allowed');
  const channels = new Map([
    ['telegram', { groupUsers: ['7'] }],
    ['slack', { groupUsers: ['42'] }],
  ]);
  assert.equal(code(inGroup(), settings(general, { channels })), 'NOT_ALLOWED');
  const chats = new Map<string, AccessLevel>([
    ['-100999', { groupUsers: ['7'] }],
    ['-100123', { groupUsers: ['42'] }],
  ]);
  assert.equal(code(inGroup(), settings(general, { channels, chats })), 'allowed');
  // The qualified name is that of this chat alone, wherever it stands.
  const both = new Map<string, AccessLevel>([...chats, ['telegram:-100123', { groupUsers: [] }]]);
  assert.equal(code(inGroup(), settings(general, { channels, chats: both })), 'NOT_ALLOWED');
});
