import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { Json } from './event-payloads.ts';

/** The app that an operator installs: what it leaves out, this Slack refuses. */
export const manifest = parse(
  readFileSync(path.join(import.meta.dirname, '..', '..', '..', 'app-manifest.yaml'), 'utf8'),
) as {
  features: {
    agent_view?: { agent_description: string };
    app_home: {
      home_tab_enabled: boolean;
      messages_tab_enabled: boolean;
      messages_tab_read_only_enabled: boolean;
    };
    slash_commands: { command: string; should_escape: boolean }[];
  };
  oauth_config: { scopes: { bot: string[] } };
  settings: {
    event_subscriptions: { bot_events: string[] };
    interactivity: { is_enabled: boolean };
    socket_mode_enabled: boolean;
    org_deploy_enabled: boolean;
    token_rotation_enabled: boolean;
  };
};

/** Events by the name they are subscribed by, each with the scopes of which it needs one. */
export const slackEvents: Readonly<Record<string, readonly string[]>> = {
  agent_session_stopped: [],
  app_home_opened: [],
  app_mention: ['app_mentions:read'],
  channel_left: ['channels:read'],
  group_left: ['groups:read'],
  member_joined_channel: ['channels:read', 'groups:read'],
  'message.channels': ['channels:history'],
  'message.groups': ['groups:history'],
  'message.im': ['im:history'],
  'message.mpim': ['mpim:history'],
  reaction_added: ['reactions:read'],
  reaction_removed: ['reactions:read'],
};

/** Whether Slack tells an app with these scopes of an event: only if it is subscribed to it. */
export function isTold(
  { type, channel_type: kind }: Json,
  scopes: ReadonlySet<string>,
  events: readonly string[],
): boolean {
  const name = type === 'message' ? `message.${ofRoom[String(kind)]}` : String(type);
  const needed = slackEvents[name];
  if (needed === undefined) throw new Error(`this Slack knows no event ${name}`);
  if (!events.includes(name)) return false;
  return needed.length === 0 || needed.some((scope) => scopes.has(scope));
}

const ofRoom: Readonly<Record<string, string>> = {
  channel: 'channels',
  group: 'groups',
  im: 'im',
  mpim: 'mpim',
};
