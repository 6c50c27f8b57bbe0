import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SeenChatType } from '../../src/core/conversation.ts';
import { decideSkill } from '../../src/access/decide-skill.ts';
import { makeSkill } from '../support/make-skill.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { meaningOf } from '../support/slack-payloads.ts';

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
/** What Slack writes as the name of a direct message, a private channel and a group message, and looks like them. */
const tellingNames = ['directmessage', 'privategroup', 'mpdm-anna--ben-1', 'im', 'private', 'channel'];
const skillHere = (chatType: SeenChatType, chat: string) =>
  decideSkill(
    makeSkill('dice'),
    { enabled: true, defaults: {}, skills: new Map() },
    {
      chatType,
      chatIds: [`slack:${chat}`],
      external: false,
      sender: 'slack:U1',
      by: 'person',
    },
  );

test('A3 no name and no id of a channel tells its type: without Slack’s word it is unknown, which denies', () => {
  const me = { team: 'T1', user: 'UBOT', command: '/skill' };
  const name = fc.oneof(fc.constantFrom(...tellingNames), fc.string());
  const chat = fc
    .tuple(fc.constantFrom('C', 'G', 'D'), fc.stringMatching(/^[A-Z0-9]{8}$/))
    .map((all) => all.join(''));
  fc.assert(
    fc.property(name, chat, (name, chat) => {
      const user = { id: 'U1', name: 'anna', team_id: 'T1' };
      const said = {
        channel: chat,
        user: 'U1',
        ts: '1700000000.000001',
        text: '<@UBOT> hi',
        channel_name: name,
      };
      const payloads = [
        {
          command: '/skill',
          trigger_id: '1',
          channel_id: chat,
          channel_name: name,
          user_id: 'U1',
          team_id: 'T1',
        },
        { type: 'event_callback', event: { ...said, type: 'app_mention' } },
        {
          type: 'event_callback',
          event: { ...said, type: 'message', channel_type: name === 'im' ? '' : name },
        },
        {
          type: 'block_actions',
          user,
          container: { message_ts: said.ts, channel_id: chat },
          channel: { id: chat, name },
          actions: [{ action_id: 'skillet:press:0', value: 'yes' }],
        },
      ];
      for (const payload of payloads.filter((one) => !isRealType(one))) {
        const converted = meaningOf(payload, me, 1);
        assert.ok('event' in converted, JSON.stringify(payload));
        const { event } = converted;
        const { chatType } =
          event.type === 'press' ? event.press : event.type === 'message' ? event.message : assert.fail();
        assert.equal(chatType, 'unknown');
        assert.equal(skillHere(chatType, chat).allowed, false);
      }
    }),
    { numRuns: runs },
  );
});

/** A channel type that Slack really has is its word, not a name. */
function isRealType(payload: object): boolean {
  const type = 'event' in payload && (payload.event as { channel_type?: string }).channel_type;
  return ['im', 'app_home', 'mpim', 'group', 'channel'].includes(String(type));
}

test('A3 a public channel called like a direct message stays a channel, and unknown where Slack does not say', async (t) => {
  for (const name of tellingNames) {
    const { slack, channel, message } = await connectSlackChannel(t);
    const anna = slack.workspace.addUser('anna');
    const asked = slack.workspace.addRoom('channel', { members: [anna.id], name });
    await slack.people.slash(anna, asked, 'dice');
    const known = await message();
    assert.deepEqual([known.chatType, skillHere(known.chatType, asked.id).allowed], ['channel', true], name);

    const silent = slack.workspace.addRoom('channel', { members: [anna.id], name });
    slack.faults.always('conversations.info', { kind: 'error', error: 'internal_error' });
    await slack.people.slash(anna, silent, 'dice');
    const unknown = await message(({ conversation }) => conversation.chat === silent.id);
    assert.deepEqual([unknown.chatType, unknown.external], ['unknown', true], name);
    assert.equal(skillHere(unknown.chatType, silent.id).allowed, false);
    const found = await channel.lookUpChat({ channel: 'slack', chat: silent.id });
    assert.deepEqual(found, { chatType: 'unknown', external: true });
  }
});
