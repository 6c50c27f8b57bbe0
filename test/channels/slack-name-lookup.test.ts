import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallSlack } from '../../src/channels/slack/slack-error.ts';
import { createNameLookup } from '../../src/channels/slack/look-up.ts';
import { slackName } from '../../src/channels/slack/plain-text.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

/** A look-up over answers that the test gives, and who was asked about. */
function lookUpOver(answer: (user: string) => Promise<unknown>) {
  const clock = createManualClock();
  const log = quietLog();
  const asked: string[] = [];
  const call: CallSlack = async (_method, { user }) => {
    asked.push(String(user));
    return (await answer(String(user))) as Readonly<Record<string, unknown>>;
  };
  return { names: createNameLookup(call, log, clock), clock, log, asked };
}

const called = (name: string) => ({ ok: true, user: { profile: { display_name: name } } });
const refusal = (code: string, more: object) => Object.assign(new Error(code), { code, ...more });
const platformError = (error: string) =>
  refusal('slack_webapi_platform_error', { data: { ok: false, error } });
const minute = 60_000;

test('H4 a name is asked for once a day, an absent one again after five minutes', async () => {
  const { names, clock, asked } = lookUpOver(async (user) => {
    if (user === 'UGONE') throw platformError('user_not_found');
    return called('Anna');
  });
  const look = async () => Object.fromEntries(await names.of(['U1', 'UGONE', 'U1', 'B1', 'somebody']));
  assert.deepEqual(await look(), { U1: 'Anna' });
  assert.deepEqual(await look(), { U1: 'Anna' });
  assert.deepEqual(asked, ['U1', 'UGONE']);
  await clock.advance(5 * minute);
  assert.deepEqual(await look(), { U1: 'Anna' });
  assert.deepEqual(asked.splice(0), ['U1', 'UGONE', 'UGONE']);
  await clock.advance(24 * 60 * minute - 5 * minute - 1);
  await look();
  assert.deepEqual(asked.splice(0), ['UGONE']);
  await clock.advance(1);
  await look();
  assert.deepEqual(asked, ['U1']);
});

test('Q1 a look-up is waited for half a second at most; its late answer serves the next message', async () => {
  const late = Promise.withResolvers<unknown>();
  const { names, clock, asked } = lookUpOver(async (user) =>
    user === 'USLOW' ? late.promise : called('Ben'),
  );
  const began = clock.now();
  const first = await clock.runUntil(names.of(['USLOW', 'UBEN']));
  assert.deepEqual([...first], [['UBEN', 'Ben']]);
  assert.equal(clock.now() - began, 500);
  // Who did not answer in time is not waited for again.
  assert.equal((await names.of(['USLOW'])).size, 0);
  assert.equal(clock.now() - began, 500);
  late.resolve(called('Slow Sue'));
  await clock.advance(0);
  assert.deepEqual([...(await names.of(['USLOW']))], [['USLOW', 'Slow Sue']]);
  assert.deepEqual(asked, ['USLOW', 'UBEN']);
});

test('H8 a rate limit stops all looking up for as long as Slack says; known names stay', async () => {
  const limited = { yet: false };
  const { names, clock, asked, log } = lookUpOver(async () => {
    if (limited.yet) throw refusal('slack_webapi_rate_limited_error', { retryAfter: 30 });
    return called('Anna');
  });
  await names.of(['U1']);
  limited.yet = true;
  assert.equal((await names.of(['U2'])).size, 0);
  limited.yet = false;
  await clock.advance(29_999);
  assert.deepEqual([...(await names.of(['U1', 'U2', 'U3'])).keys()], ['U1']);
  assert.deepEqual(asked, ['U1', 'U2']);
  await clock.advance(1);
  assert.deepEqual([...(await names.of(['U2', 'U3'])).keys()], ['U2', 'U3']);
  assert.equal(log.lines.filter(({ level }) => level === 'warn').length, 1);
});

test('H4 a missing scope is said once, with its name, and not tried with every person', async () => {
  const { names, asked, log } = lookUpOver(async () => {
    const data = { ok: false, error: 'missing_scope', needed: 'users:read' };
    throw refusal('slack_webapi_platform_error', { data });
  });
  await names.of(['U1']);
  await names.of(['U2']);
  assert.deepEqual(asked, ['U1']);
  assert.match(JSON.stringify(log.lines), /needs the scope users:read/);
});

test('H4 an answer that is none, or a call that throws, leaves the id and nothing under way', async () => {
  for (const answer of [{}, { user: null }, { user: {} }, { user: { profile: { display_name: 7 } } }]) {
    const { names } = lookUpOver(async () => answer);
    assert.equal((await names.of(['U1'])).size, 0, JSON.stringify(answer));
  }
  const clock = createManualClock();
  const asked: unknown[] = [];
  const throwing: CallSlack = (_method, { user }) => {
    asked.push(user);
    throw new Error('no network');
  };
  const names = createNameLookup(throwing, quietLog(), clock);
  assert.equal((await names.of(['U1'])).size, 0);
  await clock.advance(5 * minute);
  assert.equal((await names.of(['U1'])).size, 0);
  assert.equal(asked.length, 2);
});

test('S6 a message that names hundreds has twenty looked up at once, and ten thousand names are kept', async () => {
  const gate = Promise.withResolvers<unknown>();
  const held = lookUpOver(() => gate.promise);
  const crowd = Array.from({ length: 500 }, (_, index) => `U${index}`);
  await held.clock.runUntil(held.names.of(crowd));
  await held.names.of(crowd);
  assert.equal(held.asked.length, 20);
  gate.resolve(called('x'));

  const { names, asked } = lookUpOver(async (user) => called(`n${user}`));
  for (let index = 0; index <= 10_000; index++) await names.of([`U${index}`]);
  await names.of(['U1', 'U10000']);
  assert.equal(asked.length, 10_001);
  await names.of(['U0']);
  assert.equal(asked.length, 10_002);
});

test('H4 the display name comes before the real name and the handle; a name is one line, nothing hidden in it', async () => {
  const name = async (user: object) => (await lookUpOver(async () => ({ user })).names.of(['U1'])).get('U1');
  const profile = { display_name: 'anna', real_name: 'Anna Lee' };
  assert.equal(await name({ name: 'al', real_name: 'A', profile }), 'anna');
  assert.equal(await name({ name: 'al', profile: { ...profile, display_name: ' ' } }), 'Anna Lee');
  assert.equal(await name({ name: 'al', real_name: 'A. Lee', profile: { display_name: null } }), 'A. Lee');
  assert.equal(await name({ name: 'al' }), 'al');
  assert.equal(slackName('An\nna\u0007\u202e \u200b\u{e0041}'), 'An na');
  assert.equal(slackName('👩\u200d🔧'), '👩\u200d🔧');
  assert.equal(slackName('x'.repeat(81))?.length, 80);
  assert.equal(slackName(undefined, null, '\u2060'), undefined);
});
