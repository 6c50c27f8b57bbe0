import type { Outbound } from './delivery.ts';
import type { Json } from './event-payloads.ts';
import { pressPayload } from './press-payload.ts';
import type { OpenView, Views } from './views.ts';
import type { SlackUser, Workspace } from './workspace.ts';

/** Somebody opened a tab of the app: the event names their direct message, and the Home tab that they see, once there is one. */
export function homeVisit(
  workspace: Workspace,
  views: Views,
  user: SlackUser,
  tab: 'home' | 'messages' = 'home',
): Outbound {
  const room = workspace.dmWith(user.id);
  const shown = views.homeOf(user.id);
  const event = {
    type: 'app_home_opened',
    user: user.id,
    channel: room.id,
    tab,
    ...(shown === undefined || tab === 'messages' ? {} : { view: viewBody(workspace, shown) }),
    event_ts: workspace.nextTs(),
  };
  return { room, event };
}

/** A press on the Home tab: no channel, no message, no response_url. */
export function homePress(workspace: Workspace, views: Views, user: SlackUser, label: string): Json {
  const shown = views.homeOf(user.id);
  if (shown === undefined) throw new Error(`${user.name} sees no Home tab`);
  const blocks = shown.view['blocks'] as readonly Json[];
  return {
    ...pressPayload(workspace, views, user, { blocks }, label),
    container: { type: 'view', view_id: shown.id },
    view: viewBody(workspace, shown),
  };
}

function viewBody(workspace: Workspace, { id, view, hash }: OpenView): Json {
  return {
    callback_id: '',
    external_id: '',
    private_metadata: '',
    ...view,
    id,
    hash,
    team_id: workspace.team,
    app_id: workspace.bot.appId,
    app_installed_team_id: workspace.team,
    bot_id: workspace.bot.botId,
    root_view_id: id,
    previous_view_id: null,
    title: { type: 'plain_text', text: 'View Title', emoji: true },
    close: null,
    submit: null,
    state: { values: {} },
    clear_on_close: false,
    notify_on_close: false,
  };
}
