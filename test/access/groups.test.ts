import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGroups, createMeetGroup } from '../../src/access/groups.ts';
import { createUsers } from '../../src/access/users.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import type { AccessSettings } from '../../src/core/access-settings.ts';
import type { Conversation } from '../../src/core/conversation.ts';
import { openStore } from '../../src/store/open-store.ts';
import { partOf } from '../support/app-of.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';

const access: AccessSettings = {
  owners: ['telegram:1'],
  general: {},
  channels: new Map(),
  chats: new Map(),
  allowExternal: false,
};

async function setUp() {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const moved = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const people = createUsers({ stored: store.keyed('people'), access: () => access, migrations: moved });
  const recorded: object[] = [];
  const audit = { record: async (event: object) => void recorded.push(event) };
  const groups = createGroups({
    stored: store.keyed('groups'),
    users: people,
    migrations: moved,
    audit,
    clock,
  });
  const answersIn = async (chat: string, sender = 'telegram:1'): Promise<boolean> => {
    const conversation = { channel: 'telegram', chat };
    const said = makeMessage({
      conversation,
      chatType: 'group',
      sender: { id: sender, name: 'N', kind: 'person' },
      addressed: true,
    });
    return (await people.decide(said)).allowed;
  };
  const mayAsk = async (place: Conversation, name: string, byOwner: boolean): Promise<boolean> =>
    (await groups.mayAsk(place, async () => name, byOwner)) === name;
  return { clock, moved, people, recorded, groups, mayAsk, answersIn };
}

const telegram = (chat: string) => ({ channel: 'telegram', chat });

test('H13 a group is allowed once an owner says so, for people who are known, until that is revoked or the bot leaves', async () => {
  const { groups, mayAsk, people, recorded, answersIn } = await setUp();
  assert.equal(await groups.decide('telegram:-5', 'allow', 'telegram:1'), undefined, 'nobody asked');
  assert.equal(await answersIn('-5'), false);
  assert.equal(await mayAsk(telegram('-5'), 'Five', false), true);
  assert.equal(await answersIn('-5'), false, 'to ask allows nothing');
  assert.equal((await groups.decide('telegram:-5', 'allow', 'telegram:1'))?.name, 'Five');
  assert.equal(await groups.decide('telegram:-5', 'ignore', 'telegram:1'), undefined, 'one owner decides');
  assert.deepEqual(
    [await answersIn('-5'), await answersIn('-6'), await answersIn('-5', 'telegram:7')],
    [true, false, false],
  );
  assert.deepEqual(
    (await people.allowedGroups()).map(({ id, name }) => [id, name]),
    [['telegram:-5', 'Five']],
  );
  assert.deepEqual([await groups.revoke('telegram:-5'), await groups.revoke('telegram:-5')], [true, false]);
  assert.equal(await answersIn('-5'), false);
  await mayAsk(telegram('-5'), 'Five', true);
  await groups.decide('telegram:-5', 'allow', 'telegram:1');
  await groups.left(telegram('-5'));
  assert.equal(await answersIn('-5'), false);
  assert.deepEqual(
    recorded.map((event) => ('verdict' in event ? event.verdict : '')),
    ['allowed', 'revoked', 'allowed', 'left'],
  );
});

test('H13 owners are not asked twice in an hour, never about what they ignored, and strangers cause three questions an hour', async () => {
  const { clock, groups, mayAsk } = await setUp();
  const asks = (chat: string, byOwner = false) => mayAsk(telegram(chat), 'G', byOwner);
  assert.deepEqual([await asks('-1'), await asks('-1'), await asks('-2')], [true, false, true]);
  await groups.decide('telegram:-2', 'ignore', 'telegram:1');
  assert.deepEqual([await asks('-3'), await asks('-4'), await asks('-5')], [true, true, false]);
  assert.equal(await asks('-5', true), true, 'an owner’s own is asked about');
  assert.equal(await mayAsk({ channel: 'slack', chat: 'C1' }, 'G', false), true);
  await clock.advance(3_600_001);
  assert.deepEqual([await asks('-1'), await asks('-2'), await asks('-2', true)], [true, false, false]);
  await groups.left(telegram('-2'));
  assert.equal(await asks('-2', true), false, 'ignored stays ignored');
  assert.deepEqual(
    (await groups.ignored()).map(({ id }) => id),
    ['telegram:-2'],
  );
  assert.equal(await groups.revoke('telegram:-2'), true);
  assert.equal(await asks('-2'), true);
});

test('H13 A6 a group keeps what was decided when it gets a new id', async () => {
  const { moved, groups, mayAsk, answersIn } = await setUp();
  for (const [chat, verdict] of [
    ['-1', 'allow'],
    ['-2', 'ignore'],
  ] as const) {
    await mayAsk(telegram(chat), 'G', true);
    await groups.decide(`telegram:${chat}`, verdict, 'telegram:1');
    await moved.remember(`telegram:${chat}`, `telegram:-100${chat.slice(1)}`);
  }
  assert.equal(await mayAsk(telegram('-1002'), 'G', true), false);
  await groups.left(telegram('-1'));
  assert.equal(await answersIn('-1001'), true, 'only the old id was left');
  await groups.left(telegram('-1001'));
  assert.equal(await answersIn('-1001'), false);
});

test('H13 A9 owners are asked about a group for words of an owner to the bot, and not for those of a bot in their name', async () => {
  const { groups, people, clock } = await setUp();
  const told: string[] = [];
  const { spoken } = createMeetGroup({
    groups,
    users: people,
    channels: new Map(),
    replies: partOf({ tellOwners: async (key) => void told.push(key) }),
    clock,
  });
  const owner = { id: 'telegram:1', name: 'Ann', kind: 'person' } as const;
  const said = makeMessage({
    conversation: telegram('-5'),
    chatType: 'group',
    addressed: true,
    sender: owner,
  });
  await spoken({ ...said, sender: { ...owner, kind: 'bot' } });
  await spoken({ ...said, addressed: false });
  await spoken({ ...said, sender: { ...owner, id: 'telegram:7' } });
  assert.deepEqual(told, []);
  await spoken(said);
  assert.equal(told.length, 1);
});
