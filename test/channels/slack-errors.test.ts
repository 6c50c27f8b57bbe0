import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendError } from '../../src/core/errors.ts';
import { sendFailure } from '../support/send-failure.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';

/** What becomes of a message that Slack answers so, and what the operator reads. */
const outcomes: readonly (readonly [SendError['outcome'], Readonly<Record<string, RegExp>>])[] = [
  [
    'refused',
    {
      not_in_channel: /invite it/,
      channel_not_found: /invite it/,
      is_archived: /archived/,
      restricted_action: /administrator/,
      restricted_action_read_only_channel: /read-only/,
      messages_tab_disabled: /Messages Tab/,
      thread_not_found: /thread is gone/,
      cannot_reply_to_message: /no replies/,
      msg_too_long: /msg_too_long/,
      metadata_too_large: /metadata_too_large/,
      invalid_arguments: /invalid_arguments/,
    },
  ],
  [
    'retry',
    {
      invalid_auth: /not valid/,
      not_authed: /not_authed/,
      token_expired: /expired/,
      token_revoked: /revoked/,
      account_inactive: /removed/,
      missing_scope: /lacks a permission/,
      org_login_required: /org_login_required/,
      ekm_access_denied: /ekm_access_denied/,
      team_access_not_granted: /team_access_not_granted/,
      team_added_to_org: /team_added_to_org/,
      accesslimited: /accesslimited/,
    },
  ],
  [
    'unknown',
    {
      internal_error: /internal/,
      fatal_error: /fatal/,
      request_timeout: /timeout/,
      some_new_error: /some_new/,
    },
  ],
];
for (const [outcome, words] of outcomes) {
  test(`Q6 H4 ${Object.keys(words).join(', ')}: the outbox reads "${outcome}"`, async (t) => {
    const { slack, channel } = await connectSlackChannel(t);
    const room = slack.workspace.addRoom('channel', { members: [] });
    const conversation = { channel: 'slack', chat: room.id };
    for (const [error, told] of Object.entries(words)) {
      slack.faults.always('chat.postMessage', { kind: 'error', error });
      const failed = await sendFailure(channel.send(conversation, { markdown: 'x' }, 'k'));
      assert.deepEqual([error, failed.outcome], [error, outcome]);
      assert.match(failed.message, told);
    }
    slack.faults.clear();
    await channel.send(conversation, { markdown: 'x' }, 'k');
    assert.equal(room.messages.length, 1);
  });
}

test('Q6 H4 while the token is not valid nobody can tell whether a message arrived, or change one: both wait', async (t) => {
  const { slack, channel } = await connectSlackChannel(t);
  const conversation = { channel: 'slack', chat: slack.workspace.addRoom('channel', { members: [] }).id };
  const receipt = await channel.send(conversation, { markdown: 'x' }, 'k');
  slack.faults.always('*', { kind: 'error', error: 'invalid_auth' });
  const failures = await Promise.all([
    sendFailure(channel.find(conversation, 'k')),
    sendFailure(channel.edit(conversation, receipt, { markdown: 'y' })),
    sendFailure(channel.remove(conversation, receipt)),
  ]);
  assert.deepEqual(
    failures.map(({ outcome }) => outcome),
    ['retry', 'retry', 'retry'],
  );
});
