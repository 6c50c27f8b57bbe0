import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heardBefore } from '../../src/conversations/heard.ts';
import type { Channel } from '../../src/core/channel.ts';
import type { Message } from '../../src/core/message.ts';
import { DatabaseFault } from '../../src/store/postgres/open-database.ts';
import { openStore } from '../../src/store/open-store.ts';
import { partOf } from '../support/app-of.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

const group = { conversation: { channel: 'telegram', chat: '-5' }, chatType: 'group' } as const;

async function setUp(
  readEarlier: () => Promise<readonly Message[]>,
  mayAct: () => Promise<{ allowed: true }> = async () => ({ allowed: true }),
) {
  const clock = createManualClock();
  const log = quietLog();
  const before = heardBefore(makeMessage({ ...group, text: 'what was that?' }), [], 'telegram:-5', {
    store: await openStore('sqlite::memory:', { clock }),
    heard: {
      channels: new Map([['telegram', partOf<Channel>({ readEarlier })]]),
      users: partOf({ mayAct }),
      most: () => 20,
    },
    clock,
    log,
  });
  return { clock, log, before };
}

const said = [makeMessage({ ...group, id: 'e1', text: 'The ferry leaves at ten.' })];

test('H10 what the platform says of earlier is left out where it fails or takes long', async () => {
  const { before } = await setUp(async () => said);
  assert.deepEqual(
    (await before).map(({ text }) => text),
    ['The ferry leaves at ten.'],
  );
  const refused = await setUp(() => Promise.reject(new Error('missing_scope')));
  assert.deepEqual(await refused.before, []);
  const slow = await setUp(() => new Promise(() => undefined));
  await slow.clock.advance(5_000);
  assert.deepEqual(await slow.before, []);
});

test('H10 Q11 while the store is away it is not left out: the turn waits', async () => {
  const away = new DatabaseFault('Connection terminated', { code: undefined, connected: false });
  const { before } = await setUp(
    async () => said,
    () => Promise.reject(away),
  );
  await assert.rejects(before, away);
});
