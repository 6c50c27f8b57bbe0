import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatLookup, createNameLookup } from '../../src/channels/slack/look-up.ts';
import { createIntake } from '../../src/channels/slack/create-intake.ts';
import type { ChannelEvent, OnEvent } from '../../src/core/channel.ts';
import { createThreadPartners } from '../../src/replies/threads.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { quietLog } from '../support/quiet-log.ts';
import { noPartners } from '../servers/slack/no-partners.ts';
import { byBolt, quietIntake } from '../support/slack-payloads.ts';

const me = { team: 'T1', user: 'UBOT', botId: 'BBOT', appId: 'ABOT', command: '/skill' };
const log = quietLog();

/** Takes payloads of a workspace whose channels are public and shared with nobody. */
function intakeOf(onEvent: OnEvent, partners = noPartners) {
  const told = { channel: { is_channel: true, is_member: true } };
  return byBolt(
    createIntake({
      me,
      onEvent,
      chats: createChatLookup(async () => told, log, clock),
      names: createNameLookup(async () => ({ user: { name: 'ann' } }), log, clock),
      threads: { ...quietIntake.threads, partners },
      actions: quietIntake.actions,
      log,
      clock,
    }),
  );
}

const slash = {
  command: '/skill',
  text: 'dice',
  trigger_id: '1.2.a',
  channel_id: 'C1',
  user_id: 'U1',
  team_id: 'T1',
};
const press = {
  type: 'block_actions',
  user: { id: 'U1', team_id: 'T1' },
  container: { message_ts: '1700000000.000001', channel_id: 'C1' },
  channel: { id: 'C1' },
  actions: [{ action_id: 'skillet:press:0', action_ts: '1700000001.000001', value: 'yes' }],
};
const form = {
  type: 'view_submission',
  trigger_id: '1.2.b',
  user: { id: 'U1', team_id: 'T1' },
  view: {
    callback_id: 'skillet:form',
    private_metadata: JSON.stringify(['save', 'C1', '']),
    state: { values: {} },
  },
};

for (const [what, payload] of Object.entries({ slash, press, form }))
  test(`Q1 a ${what} that could not be stored is taken when it comes again, and then no more`, async () => {
    const taken: ChannelEvent['type'][] = [];
    let full = true;
    const intake = intakeOf(async ({ type }) => {
      if (full) throw new Error('disk full');
      taken.push(type);
    });
    await assert.rejects(intake(payload), /disk full/);
    full = false;
    await intake(payload);
    await intake(payload);
    assert.equal(taken.length, 1);
  });

test('A1 an event of a shared channel is external, though the channel was shared with nobody before', async () => {
  const seen: boolean[] = [];
  const intake = intakeOf(async (event) => {
    if (event.type === 'message') seen.push(event.message.external);
    if (event.type === 'press') seen.push(event.press.external);
  });
  await intake(slash);
  const said = {
    type: 'app_mention',
    channel: 'C1',
    user: 'U1',
    team: 'T1',
    ts: '1700000000.000002',
    text: 'x',
  };
  await intake({ type: 'event_callback', is_ext_shared_channel: true, event: said });
  await intake({ ...press, user: { id: 'U2', team_id: 'T2' } });
  assert.deepEqual(seen, [false, true, true]);
});

test('A9 the bot knows its own messages by its user, its bot id or its app id', async () => {
  const seen: string[] = [];
  const intake = intakeOf(async (event) => void (event.type === 'message' && seen.push(event.message.text)));
  const say = (text: string, who: object, n: number) =>
    intake({
      type: 'event_callback',
      event: {
        type: 'message',
        channel: 'C1',
        channel_type: 'channel',
        ts: `1700000000.00000${n}`,
        text,
        ...who,
      },
    });
  await say('by its user', { user: me.user, team: 'T1' }, 1);
  await say('by its bot id', { bot_id: me.botId }, 2);
  await say('by its app id', { bot_id: 'BOTHER', bot_profile: { app_id: me.appId } }, 3);
  await say('another bot', { bot_id: 'BOTHER', bot_profile: { app_id: 'AOTHER' } }, 4);
  assert.deepEqual(seen, ['another bot']);
});

test('H11 A9 another bot in a thread neither takes a conversation over nor ends it', async () => {
  const store = await openStore('sqlite::memory:');
  const partners = createThreadPartners(store);
  const heard: boolean[] = [];
  const intake = intakeOf(
    async (event) => void (event.type === 'message' && heard.push(event.message.addressed)),
    partners,
  );
  const thread = '1700000000.000001';
  const say = (text: string, who: object, n: number) => {
    const at = { channel: 'C1', channel_type: 'channel', ts: `1700000000.00000${n}`, thread_ts: thread };
    return intake({ type: 'event_callback', team_id: 'T1', event: { type: 'message', ...at, text, ...who } });
  };
  const ann = { user: 'U1', team: 'T1' };
  const other = { bot_id: 'BOTHER', bot_profile: { app_id: 'AOTHER' } };
  await say('<@UBOT> hi', ann, 2);
  await say('<@UBOT> a build failed', other, 3);
  await say('a build failed', other, 4);
  assert.equal(await partners.get({ channel: 'slack', chat: 'C1', thread }), 'slack:U1');
  await say('and now', ann, 5);
  assert.deepEqual(heard, [true, true, false, true]);
  await store.close();
});

test('H13 the third mention without its message makes a notice, and is taken as ever', async () => {
  const taken: ChannelEvent[] = [];
  const take = intakeOf(async (event) => void taken.push(event));
  for (const ts of ['1700000000.000001', '1700000000.000002', '1700000000.000003']) {
    const event = { type: 'app_mention', channel: 'C1', user: 'U1', ts, text: '<@UBOT> hi' };
    await take({ type: 'event_callback', team_id: 'T1', event });
  }
  assert.deepEqual(
    taken.map(({ type }) => type),
    ['message', 'message', 'notice', 'message'],
  );
  assert.match(JSON.stringify(taken[2]), /message\.channels.*message\.groups/);
});

test('H4 what is said in one conversation stays in order, whatever kinds of event come between', async () => {
  const heard: string[] = [];
  const intake = intakeOf(async (event) => {
    if (event.type === 'message' || event.type === 'edited' || event.type === 'deleted')
      heard.push(event.message.text);
  });
  const texts = Array.from({ length: 60 }, (_, n) => `message ${n}`);
  await Promise.all(
    texts.map((text, n) => {
      const at = { channel: 'C1', channel_type: 'channel', user: 'U1', team: 'T1' };
      const ts = `1700000000.${String(n + 1).padStart(6, '0')}`;
      const said = { ...at, text, ts, thread_ts: '1700000000.000000' };
      const kinds = [
        { ...said, type: 'app_mention' },
        { ...said, type: 'message', subtype: 'message_changed', message: said },
        { ...said, type: 'message', subtype: 'message_deleted', previous_message: said },
        { ...said, type: 'message' },
      ];
      return intake({ type: 'event_callback', team_id: 'T1', event: kinds[n % kinds.length] });
    }),
  );
  assert.deepEqual(heard, texts);
});
