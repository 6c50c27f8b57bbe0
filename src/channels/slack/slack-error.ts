import { SendError } from '../../core/errors.ts';

export const formatErrors: readonly string[] = [
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_blocks_too_long',
  'msg_blocks_too_many',
  'msg_too_long',
  'markdown_text_conflict',
  'invalid_attachments',
  'block_mismatch',
];

export const tokenErrors: readonly string[] = [
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'not_allowed_token_type',
  'missing_scope',
  'no_permission',
  'org_login_required',
  'ekm_access_denied',
  'user_removed_from_team',
  'team_disabled',
  'team_access_not_granted',
  'app_access_restricted',
];

/** Slack's code of an error, such as `channel_not_found`; undefined for other errors. */
export function slackErrorCode(error: unknown): string | undefined {
  if (!isSdkError(error) || error.code !== 'slack_webapi_platform_error') return undefined;
  // Otherwise it is a whole answer that is not JSON.
  return /^[a-z][a-z0-9_]{0,80}$/i.test(error.data.error) ? error.data.error : undefined;
}

/**
 * Reads an error as a failed send. `refused` can never work, `unknown` may have happened, and what an operator can fix
 * is retried (Q6, H8).
 */
export function toSendError(error: unknown, doing: string): SendError {
  if (error instanceof SendError) return error;
  const rateLimited = retryAfterOf(error);
  if (rateLimited !== undefined) {
    const more = { cause: error, retryAfterMs: rateLimited };
    return new SendError('retry', `Slack limits ${doing}: again in ${rateLimited} ms`, more);
  }
  const code = slackErrorCode(error);
  const outcome = code === undefined ? 'unknown' : outcomeOf(code);
  if (code === undefined || outcome === 'unknown') {
    const why = code ?? (error instanceof Error ? error.message : 'no answer');
    return new SendError('unknown', `it is not known whether ${doing} reached Slack: ${why}`, {
      cause: error,
    });
  }
  const sentence = sentences[code] ?? `Slack refused ${doing} (${code})`;
  return new SendError(outcome, `${sentence}${scopeOf(error)}`, { cause: error });
}

function outcomeOf(code: string): SendError['outcome'] {
  if (refusals.includes(code) || formatErrors.includes(code)) return 'refused';
  return tokenErrors.includes(code) || passing.includes(code) ? 'retry' : 'unknown';
}

/** The shape of the SDK's errors, because their classes would load the SDK. */
type SdkError = Error &
  (
    | Readonly<{ code: 'slack_webapi_platform_error'; data: Readonly<{ error: string; needed?: unknown }> }>
    | Readonly<{ code: 'slack_webapi_rate_limited_error'; retryAfter: number }>
    | Readonly<{ code: 'slack_webapi_request_error' | 'slack_webapi_http_error' }>
  );

function isSdkError(error: unknown): error is SdkError {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && error.code.startsWith('slack_webapi_');
}

const refusals: readonly string[] = [
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'cannot_dm_bot',
  'user_not_found',
  'user_not_in_channel',
  'user_disabled',
  'messages_tab_disabled',
  'restricted_action',
  'restricted_action_read_only_channel',
  'restricted_action_thread_only_channel',
  'restricted_action_non_threadable_channel',
  'restricted_action_thread_locked',
  'cannot_reply_to_message',
  'thread_not_found',
  'invalid_thread_ts',
  'message_not_found',
  'cant_update_message',
  'cant_delete_message',
  'compliance_exports_prevent_deletion',
  'edit_window_closed',
  'no_text',
  'metadata_too_large',
  'invalid_metadata_format',
  'invalid_metadata_schema',
  'invalid_arguments',
  'invalid_arg_name',
  'invalid_array_arg',
  'invalid_form_data',
  'unknown_method',
  'method_deprecated',
  'deprecated_endpoint',
];

const passing: readonly string[] = [
  'team_added_to_org',
  'accesslimited',
  'access_denied',
  'enterprise_is_restricted',
  'two_factor_setup_required',
];

/** Milliseconds to wait after a rate limit; half a minute without `Retry-After`. */
function retryAfterOf(error: unknown): number | undefined {
  if (isSdkError(error) && error.code === 'slack_webapi_rate_limited_error') return error.retryAfter * 1000;
  const code = slackErrorCode(error);
  if (code === 'ratelimited' || code === 'rate_limited' || code === 'message_limit_exceeded') return 30_000;
  // A 429 without a usable header.
  return error instanceof Error && error.message.startsWith('Retry header did not') ? 30_000 : undefined;
}

function scopeOf(error: unknown): string {
  if (!isSdkError(error) || error.code !== 'slack_webapi_platform_error') return '';
  const { needed } = error.data;
  return typeof needed === 'string' ? `: the app needs the scope ${needed}` : '';
}

const sentences: Readonly<Record<string, string>> = {
  not_in_channel: 'The bot is not in that Slack channel: invite it with /invite',
  channel_not_found: 'Slack shows the bot no such channel: invite it with /invite if the channel is private',
  is_archived: 'That Slack channel is archived',
  account_inactive: 'The bot was removed from the Slack workspace',
  token_revoked: 'The Slack bot token was revoked',
  invalid_auth: 'The Slack bot token is not valid',
  missing_scope: 'The Slack app lacks a permission',
  token_expired: 'The Slack bot token has expired',
  messages_tab_disabled: 'Direct messages to the Slack app are switched off (App Home, Messages Tab)',
  restricted_action: 'An administrator does not let the bot post in that Slack channel',
  restricted_action_read_only_channel: 'That Slack channel is read-only',
  restricted_action_thread_only_channel: 'That Slack channel takes replies in threads only',
  restricted_action_non_threadable_channel: 'That Slack channel takes no threads',
  restricted_action_thread_locked: 'That Slack thread is locked',
  cannot_reply_to_message: 'That Slack message takes no replies',
  thread_not_found: 'That Slack thread is gone',
  message_not_found: 'That Slack message is gone',
  cant_update_message: 'That Slack message is not the bot’s to change',
  edit_window_closed: 'That Slack message is too old to change',
};

/** Calls a method of Slack's API. Rejects with the SDK's error and retries nothing. */
export type CallSlack = (
  method: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>>>;

/** A text field of an answer. Throws if Slack left it out. */
export function textField(answer: Readonly<Record<string, unknown>>, field: string): string {
  const value = answer[field];
  if (typeof value !== 'string' || value === '') throw new Error(`Slack answered without ${field}`);
  return value;
}
