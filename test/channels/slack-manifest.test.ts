import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { toHomeVisit } from '../../src/channels/slack/home-tab.ts';
import { missedScopes, neededScopes } from '../../src/channels/slack/identify.ts';
import { fromSlackReaction, fromSlackStanding, fromSlackStop } from '../../src/channels/slack/to-event.ts';
import { manifest, slackEvents } from '../servers/slack/manifest.ts';
import { slackMethods } from '../servers/slack/method-table.ts';
import { meaningOf } from '../support/slack-payloads.ts';

const root = path.join(import.meta.dirname, '..', '..');
const me = { team: 'T1', user: 'UBOT', command: '/skill' };

/** Every Web API method that the channel's sources name. */
function methodsUsed(): readonly string[] {
  const folder = path.join(root, 'src', 'channels', 'slack');
  const text = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'));
  const named = [...text.join('\n').matchAll(/'([a-z]+(?:\.[a-zA-Z]+)+)'/g)].map((match) => match[1] ?? '');
  const called = [...text.join('\n').matchAll(/\bcall\(\s*'([^']+)'/g)].map((match) => match[1] ?? '');
  assert.deepEqual(
    called.filter((name) => !(name in slackMethods)),
    [],
    'a method that the strict server does not know',
  );
  return [...new Set(named)].filter((name) => name in slackMethods);
}

const thumb = {
  reaction: '+1',
  item_user: 'UBOT',
  item: { type: 'message', channel: 'C1', ts: '1700000000.000001' },
  event_ts: '1700000000.000002',
};

/** `message.*` by the channel type it brings, and the events that are taken as they are named. */
const events: Readonly<Record<string, object>> = {
  agent_session_stopped: {
    type: 'agent_session_stopped',
    thread_ts: '1700000000.000001',
    event_ts: '1700000000.000002',
  },
  app_home_opened: { type: 'app_home_opened', tab: 'home' },
  app_mention: { type: 'app_mention' },
  channel_left: { type: 'channel_left' },
  group_left: { type: 'group_left' },
  member_joined_channel: { type: 'member_joined_channel', user: 'UBOT' },
  'message.channels': { type: 'message', channel_type: 'channel' },
  'message.groups': { type: 'message', channel_type: 'group' },
  'message.im': { type: 'message', channel_type: 'im' },
  'message.mpim': { type: 'message', channel_type: 'mpim' },
  reaction_added: { type: 'reaction_added', ...thumb },
  reaction_removed: { type: 'reaction_removed', ...thumb },
};

test('H4 the manifest asks for exactly the scopes that the calls and events need', () => {
  const used = methodsUsed();
  assert.ok(used.length >= 8, used.join());
  const scopesOfCalls = used.flatMap((method) => slackMethods[method]?.scopes ?? []);
  const scopesOfEvents = Object.keys(events).flatMap((name) => slackEvents[name] ?? []);
  const needed = new Set([...scopesOfCalls, ...scopesOfEvents, 'commands']);
  assert.deepEqual([...manifest.oauth_config.scopes.bot].sort(), [...needed].sort());
});

test('H13 owners and operators read what fails without a scope, for each scope of the manifest', () => {
  assert.deepEqual([...neededScopes.keys()], manifest.oauth_config.scopes.bot);
  const docs = readFileSync(path.join(root, 'docs', 'how-to', 'slack-app.md'), 'utf8');
  const rows = [...docs.matchAll(/^\| `([a-z_]+(?::[a-z]+)?)` \| (.+) \|$/gm)].map(([, ...row]) => row);
  const shown = rows.filter(([scope]) => neededScopes.has(scope ?? ''));
  assert.deepEqual(shown, [...neededScopes]);
});

test('H4 the manifest subscribes to exactly the events that the code understands', () => {
  assert.deepEqual([...manifest.settings.event_subscriptions.bot_events].sort(), Object.keys(events).sort());
  for (const event of Object.values(events)) {
    const said = { channel: 'C1', ts: '1700000000.000001', user: 'U1', text: 'hi', ...event };
    const payload = { type: 'event_callback', team_id: 'T1', event: said };
    const direct = [fromSlackStop(payload, me), fromSlackReaction(payload, me)];
    const other = fromSlackStanding(payload, me) ?? toHomeVisit(payload, me) ?? meaningOf(payload, me, 0);
    const meant = direct.find((one) => !('ignored' in one)) ?? other;
    assert.ok(!('ignored' in meant), JSON.stringify(event));
  }
});

test('I1 the manifest registers the one slash command, escaped, and switches on what the bot lives on', () => {
  const { features, settings } = manifest;
  assert.deepEqual(
    features.slash_commands.map(({ command, should_escape }) => [command, should_escape]),
    [['/skill', true]],
  );
  assert.ok((features.agent_view?.agent_description.length ?? 301) <= 300);
  assert.equal(features.app_home.home_tab_enabled, true);
  assert.equal(features.app_home.messages_tab_enabled, true);
  assert.equal(features.app_home.messages_tab_read_only_enabled, false);
  assert.equal(settings.interactivity.is_enabled, true);
  assert.equal(settings.socket_mode_enabled, true);
  assert.equal(settings.org_deploy_enabled, false);
  assert.equal(settings.token_rotation_enabled, false);
});

test('H4 A13 scopes are missed only where a feature that is on needs them', () => {
  const all = [...neededScopes.keys()];
  const optional = ['usergroups:read', 'reactions:read', 'reactions:write', 'assistant:write'];
  const few = all.filter((scope) => !optional.includes(scope) && scope !== 'chat:write');
  const off = { agentView: false, reaction: false, ratings: false, userGroups: false };
  const on = { agentView: true, reaction: true, ratings: true, userGroups: true };
  assert.deepEqual(missedScopes(few, off), ['chat:write']);
  assert.deepEqual(missedScopes(few, { ...off, userGroups: true }), ['chat:write', 'usergroups:read']);
  assert.deepEqual(missedScopes(few, { ...off, ratings: true }), ['chat:write', 'reactions:read']);
  assert.deepEqual(missedScopes(few, on).length, 5);
  assert.deepEqual(missedScopes(all, on), []);
});
