import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeSlackCommand as onSlack } from '../../src/channels/slack/create-slack.ts';
import { writeTelegramCommand as onTelegram } from '../../src/channels/telegram/set-menus.ts';

test('H12 on Slack a command is written under the registered name, and after a mention in threads', () => {
  const me = { command: '/ask', name: 'skillet' };
  const [top, thread] = [{}, { thread: '1.2' }];
  assert.equal(onSlack(me, top, 'status'), '`/ask status`');
  assert.equal(onSlack(me, top, 'skill', 'NAME text'), '`/ask NAME text`');
  assert.equal(onSlack(me, top, 'code-review', '<path>'), '`/ask code-review <path>`');
  assert.equal(onSlack(me, thread, 'status'), '`@skillet status`');
  assert.equal(onSlack(me, thread, 'stop', 'a1b2c3'), '`@skillet /stop a1b2c3`');
  assert.equal(onSlack(me, thread, 'lookup', ''), '`@skillet /lookup`');
  assert.equal(onSlack(undefined, top, 'help'), '`/skill help`');
});

test('H12 on Telegram a command that is whole can be tapped, any other is not sent in half', () => {
  assert.equal(onTelegram('status'), '/status');
  assert.equal(onTelegram('code-review'), '/code_review');
  assert.equal(onTelegram('stop', 'a1b2c3'), '`/stop a1b2c3`');
  assert.equal(onTelegram('größe', 'x'), '`/skill größe x`');
});
