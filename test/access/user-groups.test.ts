import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUserGroups } from '../../src/access/user-groups.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { partOf } from '../support/app-of.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import type { Channel } from '../../src/core/channel.ts';

/** A bot whose config admits one user group, with a Slack that tells its members or fails. */
function setUp({ takesMs = 0 } = {}) {
  const parsed = parseConfig('[access]\nusers = ["slack:usergroup:S1"]\n', { env: {} });
  assert.ok(parsed.ok);
  const { config } = parsed;
  const clock = createManualClock();
  const log = quietLog();
  const slack = { members: ['slack:U1'], fails: false, asked: 0 };
  const membersOf = async (group: string) => {
    assert.equal(group, 'S1');
    slack.asked += 1;
    const { members } = slack;
    if (takesMs > 0) await clock.sleep(takesMs);
    if (slack.fails) throw new Error('missing_scope');
    return members;
  };
  const groups = createUserGroups({
    channels: new Map([['slack', partOf<Channel>({ membersOf })]]),
    clock,
    log,
  });
  const stop = new AbortController();
  let changes = 0;
  const following = groups.follow(
    () => config,
    () => (changes += 1),
    stop.signal,
  );
  return {
    groups,
    config,
    clock,
    log,
    slack,
    changes: () => changes,
    admitted: () => groups.expand(config).access.users,
    async end() {
      stop.abort();
      await following;
    },
  };
}

test('A13 members of a Slack user group are known before anybody is judged, and read again within minutes', async () => {
  const { groups, config, clock, slack, changes, admitted, end } = setUp();
  await groups.ready(config);
  assert.deepEqual(admitted(), ['slack:U1']);
  assert.equal(slack.asked, 1, 'once for both who wait');
  await clock.advance(60_000);
  assert.equal(changes(), 1);
  slack.members = ['slack:U2'];
  await clock.advance(90_000);
  assert.deepEqual(admitted(), ['slack:U2']);
  assert.equal(changes(), 2);
  await end();
});

test('A13 what can’t be read any more counts for 5 minutes at most, then admits nobody until it can', async () => {
  const { groups, config, clock, log, slack, admitted, changes, end } = setUp();
  await groups.ready(config);
  slack.fails = true;
  for (let half = 0; half < 8; half++) await clock.advance(30_000);
  assert.deepEqual(admitted(), ['slack:U1']);
  for (let half = 0; half < 2; half++) await clock.advance(30_000);
  assert.deepEqual(admitted(), []);
  assert.equal(changes(), 2, 'who uses the lists is told');
  assert.ok(log.lines.some(({ message }) => message.includes('user group could not be read')));
  slack.fails = false;
  await clock.advance(30_000);
  assert.deepEqual(admitted(), ['slack:U1']);
  await end();
});

test('A13 members count from when they were asked for, however long the answer takes', async () => {
  const { clock, slack, admitted, end } = setUp({ takesMs: 60_000 });
  await clock.advance(60_000);
  assert.deepEqual(admitted(), ['slack:U1']);
  slack.fails = true;
  await clock.advance(209_000);
  assert.deepEqual(admitted(), ['slack:U1']);
  await clock.advance(1_000);
  assert.deepEqual(admitted(), [], '270 s after the question');
  await end();
});
