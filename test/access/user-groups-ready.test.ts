import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUserGroups } from '../../src/access/user-groups.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { partOf } from '../support/app-of.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import type { Channel } from '../../src/core/channel.ts';

type MembersOf = (group: string) => Promise<readonly string[]>;

function setUp(users: readonly string[], membersOf?: MembersOf) {
  const parsed = parseConfig(`[access]\nusers = ${JSON.stringify(users)}\n`, { env: {} });
  assert.ok(parsed.ok);
  const { config } = parsed;
  const clock = createManualClock();
  const log = quietLog();
  const slack = partOf<Channel>(membersOf === undefined ? {} : { membersOf });
  const groups = createUserGroups({ channels: new Map([['slack', slack]]), clock, log });
  const began = clock.now();
  return {
    ...{ groups, config, clock, log },
    admitted: () => groups.expand(config).access.users,
    /** What `ready` says, and after how many milliseconds. */
    ready: async () => [await clock.runUntil(groups.ready(config)), clock.now() - began],
  };
}

const first = 'slack:usergroup:S1';
const second = 'slack:usergroup:S2';

test('A13 a config without user groups waits for nothing and stays as it is', async () => {
  const { groups, config, ready } = setUp(['slack:U9'], () => assert.fail('nobody is asked'));
  assert.deepEqual(await ready(), [false, 0]);
  assert.equal(groups.expand(config), config);
});

test('A13 until its groups are read a list admits only the people it names, then each group’s members in its place', async () => {
  const members: Readonly<Record<string, readonly string[]>> = { S1: ['slack:U1', 'slack:U2'], S2: [] };
  const asked: string[] = [];
  const { groups, ready, admitted, log } = setUp([first, 'slack:U9', second], async (group) => {
    asked.push(group);
    return members[group] ?? assert.fail(group);
  });
  assert.equal(groups.membersOf(first), undefined);
  assert.deepEqual(admitted(), ['slack:U9']);
  assert.deepEqual(await ready(), [true, 0]);
  assert.deepEqual(admitted(), ['slack:U1', 'slack:U2', 'slack:U9']);
  assert.deepEqual(groups.membersOf(first), members['S1']);
  assert.deepEqual(groups.membersOf(second), []);
  assert.deepEqual(await ready(), [false, 0], 'each was read once');
  assert.deepEqual([asked, log.lines], [['S1', 'S2'], []]);
});

test('A13 who waits for Slack waits 5 s at most, and again only for groups that gave no answer yet', async () => {
  let answer = (_: readonly string[]): void => assert.fail('not asked yet');
  const { clock, ready, admitted } = setUp(
    [first, second],
    (group) => new Promise((resolve) => (group === 'S1' ? resolve(['slack:U1']) : (answer = resolve))),
  );
  assert.deepEqual(await ready(), [true, 5_000]);
  assert.deepEqual(admitted(), ['slack:U1']);
  assert.deepEqual(await ready(), [true, 10_000], 'the second is still asked');
  answer(['slack:U2']);
  await clock.advance(0);
  assert.deepEqual(admitted(), ['slack:U1', 'slack:U2']);
  assert.deepEqual(await ready(), [false, 10_000]);
});

test('A13 a group that fails is tried and admits nobody; the log names it', async () => {
  const fault = new Error('missing_scope');
  const { groups, ready, admitted, log } = setUp([first, 'slack:U9'], () => Promise.reject(fault));
  assert.deepEqual(await ready(), [true, 0]);
  assert.equal(groups.membersOf(first), undefined);
  assert.deepEqual(admitted(), ['slack:U9']);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields]),
    [['warn', { err: fault, group: first }]],
  );
  assert.deepEqual(await ready(), [false, 0]);
});

test('A13 a Slack that knows no groups admits nobody by them and is no fault', async () => {
  const { groups, ready, admitted, log } = setUp([first, 'slack:U9']);
  assert.deepEqual(await ready(), [true, 0]);
  assert.equal(groups.membersOf(first), undefined);
  assert.deepEqual(admitted(), ['slack:U9']);
  const absent = createUserGroups({ channels: new Map(), clock: createManualClock(), log });
  const { config } = setUp([first]);
  assert.equal(await absent.ready(config), true);
  assert.deepEqual([absent.membersOf(first), log.lines], [undefined, []]);
});

test('A13 who follows groups is called when members change, not each time they are read', async () => {
  const slack = { members: ['slack:U1'], asked: 0 };
  const { groups, config, clock } = setUp([first], async () => {
    slack.asked += 1;
    return slack.members;
  });
  const none = setUp(['slack:U9']);
  let changes = 0;
  const stop = new AbortController();
  const following = [
    groups.follow(
      () => config,
      () => (changes += 1),
      stop.signal,
    ),
    none.groups.follow(
      () => none.config,
      () => assert.fail('there is nothing to change'),
      stop.signal,
    ),
  ];
  await clock.advance(0);
  assert.deepEqual([slack.asked, changes], [1, 1]);
  await clock.advance(119_999);
  assert.deepEqual([slack.asked, changes], [1, 1]);
  await clock.advance(1);
  assert.deepEqual([slack.asked, changes], [2, 1], 'read after 2 minutes, and the same');
  slack.members = ['slack:U2'];
  await clock.advance(120_000);
  assert.deepEqual([slack.asked, changes], [3, 2]);
  stop.abort();
  await Promise.all(following);
  await clock.advance(600_000);
  assert.equal(slack.asked, 3, 'and never after the signal');
});
