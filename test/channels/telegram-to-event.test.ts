import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Message as TelegramMessage, Update } from 'grammy/types';
import type { ChannelEvent } from '../../src/core/channel.ts';
import type { Message } from '../../src/core/message.ts';
import { detectEntities } from '../servers/telegram/detect-entities.ts';
import {
  eventOf,
  group,
  ann,
  ignored,
  inGroup,
  me,
  messageOf,
  said,
  toEvent,
} from '../support/telegram-updates.ts';
import { equalData } from '../support/equal-data.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('H3 a direct message becomes plain data that can be stored', () => {
  equalData(messageOf(said('hello')), {
    id: 'telegram:42:7',
    conversation: { channel: 'telegram', chat: '42' },
    chatType: 'private',
    external: false,
    sender: { id: 'telegram:42', name: 'Ann Lee', kind: 'person' },
    text: 'hello',
    addressed: true,
    attachments: [],
    platformId: '7',
    sentAt: 1_700_000_000_000,
  });
});

test('A1 private, group, supergroup and channel get their normal chat types, anything else is unknown', () => {
  const typeOf = (type: string): string => messageOf(said('x', { chat: { id: -5, type } })).chatType;
  assert.deepEqual(['private', 'group', 'supergroup', 'channel', 'hologram'].map(typeOf), [
    'private',
    'group',
    'group',
    'channel',
    'unknown',
  ]);
});

const mentions: readonly [string, string, boolean][] = [
  ['@Our_Bot hello', 'hello', true],
  ['@our_bot, hello', 'hello', true],
  ['👍👍 @OUR_BOT what is up', '👍👍 what is up', true],
  ['hey @Our_Bot', 'hey', true],
  ['hey @other_bot', 'hey @other_bot', false],
  ['mail me at x@Our_Bot', 'mail me at x@Our_Bot', false],
  ['first @Our_Bot\nsecond', 'first \nsecond', true],
];
for (const [text, rest, addressed] of mentions) {
  test(`H3 in a group ${JSON.stringify(text)} is ${addressed ? '' : 'not '}for the bot`, () => {
    const message = messageOf(inGroup(text));
    assert.equal(message.addressed, addressed);
    assert.equal(message.text, rest);
  });
}

test('H3 a mention inside code is none, and a text_mention of the bot is one', () => {
  const code = [{ type: 'code', offset: 0, length: 8 }];
  assert.equal(messageOf(inGroup('@Our_Bot', { entities: code })).addressed, false);
  const entity = { type: 'text_mention', offset: 3, length: 3, user: { id: 99 } };
  const message = messageOf(inGroup('hi Bot there', { entities: [entity] }));
  assert.deepEqual([message.addressed, message.text], [true, 'hi there']);
});

test('H3 a mention in a caption counts, and the caption is the text', () => {
  const caption = 'look @Our_Bot';
  const photo = [
    { file_id: 'a', file_unique_id: 'a', width: 1, height: 1, file_size: 10 },
    { file_id: 'b', file_unique_id: 'b', width: 9, height: 9, file_size: 90 },
  ];
  const more = {
    text: undefined,
    entities: undefined,
    caption,
    caption_entities: detectEntities(caption),
    photo,
  };
  const message = messageOf(inGroup('', more));
  assert.deepEqual([message.addressed, message.text], [true, 'look']);
  assert.deepEqual(message.attachments, [
    { kind: 'photo', name: 'photo.jpg', mime: 'image/jpeg', size: 90, ref: 'b' },
  ]);
});

const commands: readonly [string, { name: string; args: string; bare?: boolean } | undefined, boolean][] = [
  ['/my-skill do it', { name: 'my-skill', args: 'do it' }, true],
  ['/Deploy@our_bot now\nplease', { name: 'deploy', args: 'now\nplease' }, true],
  ['/my-skill@Our_Bot x', { name: 'my-skill', args: 'x' }, true],
  ['@Our_Bot /skill x', { name: 'skill', args: 'x' }, true],
  ['@Our_Bot deploy: now', { name: 'deploy', args: 'now' }, true],
  ['@Our_Bot !deploy now', { name: 'deploy', args: 'now' }, true],
  ['@Our_Bot deploy this now', { name: 'deploy', args: 'this now', bare: true }, true],
  ['/deploy@Other_Bot now', undefined, false],
  ['/etc/hosts is a file', undefined, false],
  ['please /skill x', undefined, false],
];
for (const [text, command, addressed] of commands) {
  test(`H3 in a group ${JSON.stringify(text)} is read as ${command?.name ?? 'no'} command`, () => {
    const message = messageOf(inGroup(text));
    equalData(message.command, command);
    assert.equal(message.addressed, addressed);
  });
}

test('I3 once the menus are known a bare /name of no menu is not meant for the bot in a group', () => {
  const knowing = { ...me, commands: new Set(['skill', 'code_review']) };
  const addressed = (text: string): boolean => messageOf(inGroup(text), knowing).addressed;
  assert.deepEqual(['/skill x', '/code_review', '/ban', '/ban@Our_Bot'].map(addressed), [
    true,
    true,
    false,
    true,
  ]);
  assert.equal(messageOf(said('/ban'), knowing).addressed, true);
});

test('I1 /start with a payload stays a command with its argument', () => {
  assert.deepEqual(messageOf(said('/start skill_gmail')).command, { name: 'start', args: 'skill_gmail' });
});

test('S1 a forwarded text calls no command', () => {
  const origin = { type: 'user', date: 1, sender_user: ann };
  assert.equal(messageOf(said('/new', { forward_origin: origin })).command, undefined);
});

test('H3 a reply to the bot addresses it, a reply to somebody else does not', () => {
  const bot = { id: 99, is_bot: true, first_name: 'Bot' };
  const reply = (from: object): Message =>
    messageOf(
      inGroup('yes', { reply_to_message: { message_id: 3, from, chat: group, date: 1, text: 'sure?' } }),
    );
  assert.equal(reply(bot).addressed, true);
  equalData(reply(bot).replyTo, { name: 'Bot', text: 'sure?', own: true });
  assert.equal(reply({ id: 5, is_bot: false, first_name: 'Eve' }).addressed, false);
});

test('H3 in a topic that the bot made, a message that answers nothing is no reply to the bot', () => {
  const start = {
    message_id: 3,
    from: { id: 99, is_bot: true, first_name: 'Bot' },
    chat: group,
    date: 1,
    forum_topic_created: { name: 'News', icon_color: 1 },
  };
  const message = messageOf(
    inGroup('hi', { is_topic_message: true, message_thread_id: 3, reply_to_message: start }),
  );
  assert.equal(message.addressed, false);
  assert.equal(message.replyTo, undefined);
  assert.deepEqual(message.conversation, { channel: 'telegram', chat: '-1001', thread: '3' });
});

test('H3 a reply thread outside a forum and the General topic are no threads', () => {
  assert.equal(messageOf(inGroup('x', { message_thread_id: 3 })).conversation.thread, undefined);
  assert.equal(messageOf(inGroup('x', { is_topic_message: true })).conversation.thread, undefined);
});

test('A9 an anonymous admin or a channel is judged by its chat, whoever stands beside it', () => {
  const anonymous = { id: 1087968824, is_bot: true, first_name: 'Group' };
  const sender = messageOf(inGroup('x', { from: anonymous, sender_chat: group })).sender;
  assert.deepEqual(sender, { id: 'telegram:-1001', name: 'Friends', kind: 'chat' });
  const channel = { id: -1009, type: 'channel', title: 'News' };
  const posted = messageOf(
    inGroup('x', { from: { id: 136817688, is_bot: true }, sender_chat: channel }),
  ).sender;
  assert.equal(posted.id, 'telegram:-1009');
  const bot = messageOf(inGroup('x', { from: { id: 8, is_bot: true, first_name: 'B' } })).sender;
  assert.equal(bot.kind, 'bot');
});

test('H3 a channel post is a message of the channel', () => {
  const chat = { id: -1009, type: 'channel', title: 'News' };
  const post = { message_id: 2, chat, date: 1, text: 'hi' } as unknown as NonNullable<Update['channel_post']>;
  const message = messageOf({ update_id: 1, channel_post: post });
  assert.deepEqual(
    [message.chatType, message.sender.id, message.addressed],
    ['channel', 'telegram:-1009', false],
  );
});

test('U16 an ephemeral command has an id of its own, is meant for the bot and says what its answer names', () => {
  const message = messageOf(inGroup('/help', { message_id: 0, ephemeral_message_id: 3, date: 7 }));
  assert.match(message.id, /:e3:7$/);
  assert.deepEqual([message.ephemeral, message.addressed, message.platformId], [true, true, undefined]);
  assert.deepEqual(message.privateReply, { kind: 'command', id: '3', at: 7000 });
});

test('A9 business and guest messages and unsent ones are dropped, each with its reason', () => {
  assert.match(ignored(said('x', { business_connection_id: 'b' })), /business/);
  assert.match(ignored(said('x', { guest_query_id: 'g' })), /guest/);
  assert.match(ignored(said('x', { message_id: 0 })), /not sent yet/);
});

test('H3 own, empty and service messages are ignored, each with its reason', () => {
  assert.match(ignored(inGroup('x', { from: { id: 99, is_bot: true, first_name: 'Bot' } })), /bot wrote it/);
  assert.match(ignored(inGroup('', { text: undefined, new_chat_title: 'x' })), /neither text nor a file/);
  assert.match(ignored(inGroup('x', { is_automatic_forward: true })), /copy/);
  assert.match(ignored(inGroup('x', { from: undefined })), /no sender/);
});

test('A6 both halves of a migration tell the same move', () => {
  const old = { id: -5, type: 'group', title: 'Friends' };
  const expected = { type: 'moved', from: 'telegram:-5', to: 'telegram:-1001' };
  assert.deepEqual(eventOf(said('', { text: undefined, chat: old, migrate_to_chat_id: -1001 })), expected);
  assert.deepEqual(eventOf(said('', { text: undefined, chat: group, migrate_from_chat_id: -5 })), expected);
});

test('H3 an edit is told as an edit of the same message', () => {
  const event = eventOf({ update_id: 1, edited_message: said('new').message } as unknown as Update);
  assert.equal(event.type, 'edited');
  assert.equal(
    messageOf({ update_id: 1, edited_message: said('new').message } as unknown as Update).id,
    'telegram:42:7',
  );
});

test('H3 a press names who pressed, where and what, and an old message without its text is enough', () => {
  const query = { id: 'q1', from: ann, chat_instance: 'c', data: 'approve:1' };
  const topic = { message_id: 5, chat: group, date: 1, is_topic_message: true, message_thread_id: 3 };
  const press = (message: object): ChannelEvent =>
    eventOf({ update_id: 1, callback_query: { ...query, message } } as unknown as Update);
  equalData(press(topic), {
    type: 'press',
    press: {
      id: 'q1',
      conversation: { channel: 'telegram', chat: '-1001', thread: '3' },
      chatType: 'group',
      external: false,
      sender: { id: 'telegram:42', name: 'Ann Lee', kind: 'person' },
      action: 'approve:1',
      receipt: { id: '5' },
      privateReply: { kind: 'press', id: 'q1', at: 0 },
      at: 0,
    },
  });
  assert.equal(press({ message_id: 5, chat: group, date: 0 }).type, 'press');
  assert.match(ignored({ update_id: 1, callback_query: query }), /inline/);
});

test('H13 the bot comes into a group or goes; a change of its rights, and a direct message, are neither', () => {
  const ann = { id: 42, is_bot: false, first_name: 'Ann' };
  const anonymous = { id: 1087968824, is_bot: true, first_name: 'Group' };
  const user = { id: 7, is_bot: true, first_name: 'Bot' };
  const change = (from: string, to: object, by: object = ann, where: object = group) =>
    toEvent(
      {
        update_id: 1,
        my_chat_member: {
          chat: where,
          from: by,
          date: 0,
          old_chat_member: { status: from, user },
          new_chat_member: { user, ...to },
        },
      } as unknown as Update,
      me,
    );
  const place = { channel: 'telegram', chat: String(group.id) };
  const joined = { event: { type: 'joined', conversation: place, by: { id: 'telegram:42', name: 'Ann' } } };
  assert.deepEqual(change('left', { status: 'member' }), joined);
  assert.deepEqual(change('kicked', { status: 'restricted', is_member: true }), joined);
  const unnamed = { event: { type: 'joined', conversation: place } };
  equalData(change('left', { status: 'administrator' }, anonymous), unnamed);
  const left = { event: { type: 'left', conversation: place } };
  assert.deepEqual(change('member', { status: 'kicked' }), left);
  assert.deepEqual(change('administrator', { status: 'restricted', is_member: false }), left);
  assert.ok('ignored' in change('member', { status: 'administrator' }));
  assert.ok('ignored' in change('kicked', { status: 'member' }, ann, { id: 42, type: 'private' }));
});

test('S6 no update, however broken, is read as anything but an event, a reason or an error', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const keys = ['message', 'edited_message', 'channel_post', 'callback_query', 'my_chat_member', 'poll'];
  const fields = fc.dictionary(
    fc.constantFrom(
      'text',
      'entities',
      'from',
      'chat',
      'reply_to_message',
      'photo',
      'caption',
      'date',
      'sender_chat',
    ),
    value,
  );
  const whole = said('x').message as TelegramMessage;
  fc.assert(
    fc.property(fc.constantFrom(...keys), fields, (key, broken) => {
      const update = { update_id: 1, [key]: { ...whole, ...broken } } as unknown as Update;
      const outcome = attempt(() => toEvent(update, me));
      assert.ok(outcome instanceof TypeError || 'event' in outcome || 'ignored' in outcome);
    }),
    { numRuns: runs },
  );
});

test('S6 a mention anywhere in any text is found, and only the mention goes', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      (a, b) => {
        const text = `${a} @Our_Bot ${b}`;
        const entity = { type: 'mention', offset: a.length + 1, length: 8 };
        const message = messageOf(inGroup(text, { entities: [entity], photo: [{ file_id: 'a' }] }));
        assert.equal(message.addressed, true);
        const words = (t: string): string => t.replace(/[\s,:]+/g, '');
        assert.equal(words(message.text), words(a + b));
      },
    ),
    { numRuns: runs },
  );
});

function attempt<T>(act: () => T): T | Error {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}
