/** What one Web API method takes, besides the token, and what it costs. */
export type SlackMethod = Readonly<{
  required: readonly string[];
  optional: readonly string[];
  /** Calls a minute: t1 1, t2 20, t3 50, t4 100; t5 is special. */
  tier: 't1' | 't2' | 't3' | 't4' | 't5';
  /** Any of these lets a bot token in; none: every token. */
  scopes: readonly string[];
}>;

const row = (required: string, optional: string, tier: SlackMethod['tier'], scopes: string): SlackMethod => ({
  required: words(required),
  optional: words(optional),
  tier,
  scopes: words(scopes),
});

function words(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '');
}

const readScopes = 'channels:read groups:read im:read mpim:read';
const historyScopes = 'channels:history groups:history im:history mpim:history';

/**
 * The methods this server knows and the arguments it takes: all that are required, and of the optional ones those that a
 * bot without impersonation and legacy modes has a use for. A conformance test holds them against the reference.
 */
export const slackMethods: Readonly<Record<string, SlackMethod>> = {
  'auth.test': row('', '', 't5', ''),
  'apps.connections.open': row('', '', 't3', ''),
  'bots.info': row('', 'bot', 't3', 'users:read'),
  'team.info': row('', 'team', 't3', 'team:read'),
  'users.info': row('user', 'include_locale', 't4', 'users:read'),
  'usergroups.users.list': row('usergroup', 'include_disabled', 't2', 'usergroups:read'),
  'chat.postMessage': row(
    'channel',
    'text blocks attachments markdown_text metadata mrkdwn reply_broadcast thread_ts unfurl_links unfurl_media',
    't5',
    'chat:write',
  ),
  'chat.update': row(
    'channel ts',
    'text blocks attachments markdown_text metadata file_ids reply_broadcast',
    't3',
    'chat:write',
  ),
  'chat.delete': row('channel ts', '', 't3', 'chat:write'),
  'chat.postEphemeral': row(
    'channel user',
    'text blocks attachments markdown_text thread_ts',
    't4',
    'chat:write',
  ),
  'chat.startStream': row(
    'channel',
    'thread_ts markdown_text chunks recipient_user_id recipient_team_id task_display_mode',
    't2',
    'chat:write',
  ),
  'chat.appendStream': row('channel ts', 'markdown_text chunks', 't4', 'chat:write'),
  'chat.stopStream': row('channel ts', 'markdown_text chunks blocks metadata', 't2', 'chat:write'),
  'conversations.info': row('channel', 'include_locale include_num_members', 't3', readScopes),
  'conversations.members': row('channel', 'cursor limit', 't4', readScopes),
  'conversations.open': row('', 'users channel return_im prevent_creation', 't3', 'im:write mpim:write'),
  'conversations.history': row(
    'channel',
    'cursor limit oldest latest inclusive include_all_metadata',
    't3',
    historyScopes,
  ),
  'conversations.replies': row(
    'channel ts',
    'cursor limit oldest latest inclusive include_all_metadata',
    't3',
    historyScopes,
  ),
  'assistant.threads.setStatus': row('channel_id thread_ts status', 'loading_messages', 't5', 'chat:write'),
  'assistant.threads.setTitle': row('channel_id thread_ts title', '', 't4', 'assistant:write'),
  'assistant.threads.setSuggestedPrompts': row(
    'channel_id prompts',
    'thread_ts title',
    't4',
    'assistant:write',
  ),
  'agents.sessions.setStatus': row(
    'channel_id status',
    'thread_ts title initiator_user_id',
    't3',
    'chat:write',
  ),
  'reactions.add': row('channel timestamp name', '', 't3', 'reactions:write'),
  'reactions.remove': row('name', 'channel timestamp', 't2', 'reactions:write'),
  'views.open': row('view', 'trigger_id interactivity_pointer', 't4', ''),
  'views.publish': row('user_id view', 'hash', 't4', ''),
  'files.getUploadURLExternal': row('filename length', 'alt_txt snippet_type', 't4', 'files:write'),
  'files.completeUploadExternal': row(
    'files',
    'channel_id thread_ts initial_comment blocks',
    't4',
    'files:write',
  ),
  'files.info': row('file', '', 't4', 'files:read'),
};
