import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createChatLookup, createNameLookup } from '../../src/channels/slack/look-up.ts';
import { createIntake } from '../../src/channels/slack/create-intake.ts';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Message } from '../../src/core/message.ts';
import { connectSlackChannel, watchLog } from '../servers/slack/connected-slack.ts';
import { noPartners } from '../servers/slack/no-partners.ts';
import { byBolt, quietIntake } from '../support/slack-payloads.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('Q2 of 1,000 mentions whose twins come shuffled, both twins give one id and together the chat type', async (t) => {
  const { slack, events } = await connectSlackChannel(t, { server: { held: true, twins: 'together' } });
  const anna = slack.workspace.addUser('anna');
  const rooms = (['channel', 'group', 'mpim'] as const).map((kind) =>
    slack.workspace.addRoom(kind, { members: [anna.id] }),
  );
  const said = Array.from({ length: 1000 }, (_, index) =>
    slack.people.mention(anna, rooms[index % 3] ?? assert.fail(), `number ${index}`),
  );
  const [order] = fc.sample(fc.shuffledSubarray([...said.keys(), ...said.keys()], { minLength: 2000 }), 1);
  slack.release((waiting) =>
    [...waiting.entries()]
      .sort(([a], [b]) => (order?.[a] ?? 0) - (order?.[b] ?? 0) || (a % 2 === 0 ? 1 : -1))
      .map(([, event]) => event),
  );
  await Promise.all(said.map(({ delivered }) => delivered));
  const byId = Map.groupBy(
    events.all().flatMap((event) => (event.type === 'message' ? [event.message] : [])),
    ({ id }) => id,
  );
  assert.equal(byId.size, 1000);
  const types = { channel: 'channel', group: 'group', mpim: 'group' } as const;
  for (const [index, { channel, ts }] of said.entries()) {
    const twins = byId.get(`slack:T0HOME:${channel}:${ts}`) ?? [];
    assert.equal(twins.length, 2);
    assert.ok(twins.every(({ addressed, text }) => addressed && text === `number ${index}`));
    assert.deepEqual(new Set(twins.map(({ conversation }) => conversation.thread)), new Set([ts]));
    const kind = rooms[index % 3]?.kind ?? 'im';
    assert.ok(twins.some(({ chatType }) => chatType === (kind === 'im' ? 'private' : types[kind])));
    assert.ok(twins.every(({ chatType }) => chatType === 'unknown' || chatType === types[kind as 'group']));
  }
});

test('Q2 twins differ in nothing but the chat type, whatever was said', async () => {
  const me = { team: 'T1', user: 'UBOT', botId: 'B1', command: '/skill' };
  const { log } = watchLog();
  const word = fc.constantFrom(
    '<@UBOT>',
    '<@U2>',
    '<@UBOT|bot>',
    '/stop',
    '!stop',
    '&lt;',
    '<!here>',
    ' ',
    '\n',
    'x',
    '<',
    '|',
  );
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.boolean(), fc.boolean(), async (words, inThread, external) => {
      const seen: Message[] = [];
      const intake = byBolt(
        createIntake({
          me,
          onEvent: async (event: ChannelEvent) => void (event.type === 'message' && seen.push(event.message)),
          chats: createChatLookup(async () => ({}), log, systemClock),
          names: createNameLookup(async () => ({ user: { name: '/stop Ann' } }), log, systemClock),
          threads: {
            ...quietIntake.threads,
            hasAnswered: async () => true,
            partners: { ...noPartners, get: async () => 'slack:U9' },
          },
          actions: quietIntake.actions,
          log,
          clock: systemClock,
        }),
      );
      const said = {
        channel: 'C1',
        user: 'U9',
        team: 'T1',
        ts: '1700000000.000002',
        text: words,
        ...(inThread ? { thread_ts: '1700000000.000001' } : {}),
      };
      const wrap = (event: object) => ({ type: 'event_callback', is_ext_shared_channel: external, event });
      await intake(wrap({ ...said, type: 'app_mention' }));
      await intake(wrap({ ...said, type: 'message', channel_type: 'channel' }));
      const [mention, message] = seen;
      assert.equal(mention?.chatType, 'unknown');
      assert.equal(mention.sender.name, '/stop Ann');
      assert.deepEqual({ ...mention, chatType: 'channel' }, message);
    }),
    { numRuns: runs },
  );
});
