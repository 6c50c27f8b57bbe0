import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createChatLookup } from '../../src/channels/slack/look-up.ts';
import { createIntake } from '../../src/channels/slack/create-intake.ts';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { decideMessage } from '../../src/access/decide-message.ts';
import { openStore } from '../../src/store/open-store.ts';
import { quietLog } from '../support/quiet-log.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { createWatch } from '../servers/slack/watch.ts';
import { equalData } from '../support/equal-data.ts';
import { byBolt, quietIntake, meaningOf } from '../support/slack-payloads.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

test('H14 people are answered in the language of their client, as soon as it is known', async (t) => {
  const { slack, message, press, channel, events } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna', { locale: 'pt-BR' });
  const ben = slack.workspace.addUser('ben');
  slack.people.dm(anna, 'oi');
  const said = await message(({ text }) => text === 'oi');
  assert.equal(said.sender.language, 'pt-BR');
  slack.people.dm(ben, 'hello');
  assert.equal((await message(({ text }) => text === 'hello')).sender.language, undefined);
  const buttons = [{ label: 'Yes', action: 'yes' }];
  const { id } = await channel.send(said.conversation, { markdown: 'Sim?', buttons }, 'key');
  await slack.people.press(anna, { channel: said.conversation.chat, ts: id }, 'Yes');
  assert.equal((await press()).sender.language, 'pt-BR');
  await slack.people.openHome(anna);
  const visit = await events.until(({ type }) => type === 'home');
  assert.equal(visit.type === 'home' && visit.visit.sender.language, 'pt-BR');
});

test('M8 people’s own time zone comes with what they say, unless Slack names none that there is', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const [anna, ben] = ['Asia/Tokyo', 'Mars/Olympus'].map((tz, n) => slack.workspace.addUser(`u${n}`, { tz }));
  assert.ok(anna !== undefined && ben !== undefined);
  slack.people.dm(anna, 'ohayo');
  assert.equal((await message(({ text }) => text === 'ohayo')).sender.timezone, 'Asia/Tokyo');
  slack.people.dm(ben, 'hello');
  assert.equal((await message(({ text }) => text === 'hello')).sender.timezone, undefined);
});

test('H4 sender, mentioned people, presser and caller are called by their names, each asked for once', async (t) => {
  const { slack, channel, message, press } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna.lee', { displayName: 'Anna', realName: 'Anna Lee' });
  const ben = slack.workspace.addUser('ben', { displayName: '', realName: 'Ben Ode' });
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  const said = slack.people.mention(anna, room, `ask: <@${ben.id}> and <@${anna.id}|old-handle>`);
  const heard = await message();
  equalData(heard.sender, { id: `slack:${anna.id}`, name: 'Anna', kind: 'person' });
  assert.equal(heard.text, 'ask: @Ben Ode and @Anna');
  equalData(heard.command, { name: 'ask', args: '@Ben Ode and @Anna' });
  await said.delivered;

  await slack.people.slash(ben, slack.workspace.dmWith(ben.id), `remind <@${anna.id}|anna.lee> soon`);
  const slash = await message(({ id }) => id.includes(':slash:'));
  assert.equal(slash.sender.name, 'Ben Ode');
  assert.deepEqual(slash.command, { name: 'skill', args: 'remind @Anna soon' });

  const buttons = [{ label: 'Approve', action: 'yes' }];
  const receipt = await channel.send({ channel: 'slack', chat: room.id }, { markdown: 'ok?', buttons }, 'k');
  await slack.people.press(ben, { channel: room.id, ts: receipt.id }, 'Approve');
  assert.equal((await press()).sender.name, 'Ben Ode');
  assert.equal(slack.calls.all().filter(({ method }) => method === 'users.info').length, 2);
});

test('H4 where Slack refuses, limits or hides a name, the id stands and the message arrives', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const hidden = slack.workspace.addUser('hidden', { hidden: true });
  const ben = slack.workspace.addUser('ben');
  slack.people.dm(hidden, 'hello <@U0NOBODY>');
  const unseen = await message(({ text }) => text.startsWith('hello'));
  assert.deepEqual([unseen.sender.name, unseen.text], [hidden.id, 'hello @U0NOBODY']);
  slack.faults.always('users.info', { kind: 'ratelimited', retryAfter: 60 });
  slack.people.dm(ben, 'limited');
  assert.equal((await message(({ text }) => text === 'limited')).sender.name, ben.id);
});

test('Q1 messages that queue behind each other wait for their names together, half a second in all', async (t) => {
  const never = Promise.withResolvers<void>();
  const waiting = createWatch<number>();
  const over = Promise.withResolvers<void>();
  const clock: Clock = {
    now: systemClock.now,
    sleep(ms, signal) {
      if (ms !== 500) return systemClock.sleep(ms, signal);
      waiting.add(ms);
      return over.promise;
    },
  };
  const { slack, events } = await connectSlackChannel(t, { channel: { clock } });
  t.after(() => never.resolve());
  slack.faults.always('users.info', { kind: 'hold', until: never.promise });
  const people = Array.from({ length: 6 }, (_, index) => slack.workspace.addUser(`person ${index}`));
  const room = slack.workspace.addRoom('mpim', { members: people.map(({ id }) => id) });
  const root = slack.people.post(people[0] ?? assert.fail(), room, 'root');
  const said = people.map((user, index) => slack.people.post(user, room, `${index}`, { thread: root.ts }));
  // Were they asked for one by one, the second would never be waited for.
  await waiting.untilCount(people.length);
  over.resolve();
  for (const { delivered } of [root, ...said]) {
    const attempts = (await delivered).flatMap((one) => one.attempts.map(({ ok }) => ok));
    assert.deepEqual(attempts, [true]);
  }
  const texts = events.all().map((event) => (event.type === 'message' ? event.message.text : ''));
  assert.deepEqual(texts, ['root', '0', '1', '2', '3', '4', '5']);
});

test('Q2 a twin that comes with names is merged into the one that came without', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const log = quietLog();
  const known = [new Map<string, string>(), new Map([['U1', 'Anna']])];
  const accepted: string[] = [];
  const intake = byBolt(
    createIntake({
      me: { team: 'T1', user: 'UBOT', command: '/skill' },
      onEvent: async (event) => {
        if (event.type !== 'message') return;
        accepted.push(event.message.text, await store.inbox.accept(event.message, { now: 1 }));
      },
      chats: createChatLookup(async () => ({}), log, systemClock),
      names: { of: async () => known.shift() ?? assert.fail(), clientOf: () => ({}) },
      threads: quietIntake.threads,
      actions: quietIntake.actions,
      log,
      clock: systemClock,
    }),
  );
  const said = { channel: 'C1', user: 'U1', ts: '1700000000.000001', text: '<@UBOT> see <@U1>' };
  await intake({ type: 'event_callback', event: { ...said, type: 'app_mention' } });
  await intake({ type: 'event_callback', event: { ...said, type: 'message', channel_type: 'group' } });
  assert.deepEqual(accepted, ['see @U1', 'stored', 'see @Anna', 'merged']);
  const [next] = await store.inbox.list('waiting');
  const item = next && (await store.inbox.take(next.queue, 1));
  assert.deepEqual([item?.message.chatType, item?.message.sender.id], ['group', 'slack:U1']);
});

test('A9 a name that is written like an owner’s id admits nobody', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const eve = slack.workspace.addUser('eve', { displayName: 'slack:U0OWNER', realName: 'U0OWNER' });
  slack.people.dm(eve, 'let me in');
  const heard = await message();
  assert.equal(heard.sender.name, 'slack:U0OWNER');
  const general = { users: ['slack:U0OWNER', 'U0OWNER'], dm: 'allowlist' } as const;
  const settings = {
    owners: ['slack:U0OWNER'],
    general,
    channels: new Map(),
    chats: new Map(),
    allowExternal: true,
  };
  const decision = decideMessage(heard, settings, { paired: false, groupAllowed: false, formerChatIds: [] });
  assert.deepEqual('code' in decision && decision.code, 'NOT_ALLOWED');
});

test('A9 whatever people are called, only what is shown differs: never who, where, for whom or which command', () => {
  const me = { team: 'T1', user: 'UBOT', botId: 'B1', command: '/skill' };
  const word = fc.constantFrom(
    '<@UBOT>',
    '<@U2>',
    '<@U3|x>',
    '/stop',
    '!stop',
    'dice',
    ' ',
    ' ',
    '\n',
    '<!here>',
  );
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(''));
  const name = fc.oneof(
    fc.constantFrom('/stop', '@UBOT', '<@UBOT>', 'Anna Lee', '!stop now', '@', 'a/b c'),
    fc.string({ minLength: 1, maxLength: 12 }).map((one) => `${one}x`),
  );
  const shown = (event: ChannelEvent): object => {
    if (event.type !== 'message') return assert.fail();
    const { sender, command, text: _, replyTo, shared, ...rest } = event.message;
    return {
      ...rest,
      id: sender.id,
      kind: sender.kind,
      command: command?.name,
      bare: command?.bare,
      quoted: replyTo?.own,
      shared: shared?.map((quote) => quote.sender),
    };
  };
  fc.assert(
    fc.property(text, text, name, name, fc.boolean(), (words, root, first, second, slash) => {
      const event = { channel: 'C1', user: 'U2', ts: '1700000000.000002', text: words, type: 'message' };
      const quoted = { user: 'U3', ts: '1700000000.000001', text: root };
      const payload = slash
        ? { command: '/skill', text: words, trigger_id: '1', channel_id: 'C1', user_id: 'U2', team_id: 'T1' }
        : { type: 'event_callback', event: { ...event, thread_ts: quoted.ts, root: quoted } };
      const bare = meaningOf(payload, me, 1);
      const named = meaningOf(
        payload,
        me,
        1,
        new Map([
          ['U2', first],
          ['U3', second],
        ]),
      );
      assert.ok('event' in bare && 'event' in named);
      assert.deepEqual(shown(named.event), shown(bare.event));
      assert.deepEqual({ ...named, event: 0 }, { ...bare, event: 0 });
    }),
    { numRuns: runs },
  );
});
