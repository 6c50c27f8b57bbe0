import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { z } from 'zod';
import { createChatSettings } from '../../src/tools/settings/chat-settings.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { createSettingsInForce } from '../../src/tools/settings/settings-in-force.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { SettingField } from '../../src/core/setting-field.ts';
import { toolSettings } from '../../src/core/tool-settings.ts';
import { openStore } from '../../src/store/open-store.ts';
import { configOf } from '../support/config-of.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const weather = {
  name: 'weather',
  settings: toolSettings(
    z.object({
      days: z.int().min(1).max(14).default(3),
      units: z.enum(['metric', 'imperial']).default('metric'),
      token: z.string().optional().meta({ secret: true }),
    }),
  ),
};
const field = (key: string): SettingField => weather.settings.fields.find((one) => one.key === key)!;
const ann = { channel: 'telegram', chat: '42' };
const group = { channel: 'telegram', chat: '-7' };

const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing) await close();
});

async function open(url: string) {
  const log = quietLog();
  const store = await openStore(url, { clock: systemClock, log });
  closing.unshift(() => store.close());
  const moved = createChatMigrations({
    stored: store.keyed('moved'),
    signals: store.signals,
    clock: systemClock,
  });
  const chats = createChatSettings({ store, migrations: moved, log });
  return { store, moved, chats, log };
}

test('X3 defaults < config < chat, kept for each chat with its threads, given up again by a reset', async () => {
  const { chats, log } = await open('sqlite::memory:');
  const config = configOf('[tools.weather]\ndays = 5\nunits = "parsec"\n');
  const inForce = createSettingsInForce({
    config: () => config,
    chats,
    audit: { record: async () => undefined },
    log,
  });
  const days = async (place: typeof ann) => (await inForce.forCall(place)(weather))['days'];
  assert.equal(await days(ann), 5);
  await chats.set(group, 'weather', field('days'), 9);
  assert.equal(await days(group), 9);
  assert.equal(await days({ ...group, thread: '3' } as typeof group), 9);
  assert.equal(await days(ann), 5, 'another chat has its own');
  await chats.set(group, 'weather', field('days'), undefined);
  assert.equal(await days(group), 5);
  assert.equal((await inForce.forCall(ann)(weather))['units'], undefined, 'a wrong value is passed over');
  const told = log.lines.filter(({ message }) => /setting of a tool/.test(message));
  assert.equal(told.length, 1, 'said once');
  assert.doesNotMatch(JSON.stringify(told), /parsec/);
});

test('X3 S2 a secret is known as soon as it is set, before anybody asks for it', async () => {
  const { chats } = await open('sqlite::memory:');
  await chats.set(ann, 'weather', field('token'), 'tok-long-enough');
  assert.deepEqual(chats.secrets(), [{ name: 'weather.token', value: 'tok-long-enough' }]);
});

test('X3 A6 a chat that gets a new id keeps its settings', async () => {
  const { chats, moved } = await open('sqlite::memory:');
  await chats.set(group, 'weather', field('days'), 9);
  await moved.remember('telegram:-7', 'telegram:-1007');
  assert.deepEqual(await chats.of({ channel: 'telegram', chat: '-1007' }, weather), { days: 9 });
});

test('X3 Q12 forgetting a person removes what is set in their direct messages, and nothing of a group', async () => {
  const { chats, store } = await open('sqlite::memory:');
  const slack = { channel: 'slack', chat: 'D1' };
  await chats.set(ann, 'weather', field('days'), 1, 'telegram:42');
  await chats.set(slack, 'weather', field('days'), 2);
  await chats.set(group, 'weather', field('days'), 3);
  const entries = store.keyed('setting-entries');
  await entries.set('telegram:42 telegram:42', {});
  await entries.set('telegram:-7 telegram:7', {});
  await chats.forget('telegram:42', ['slack:D1/1.2']);
  assert.deepEqual(await entries.hasMany(['telegram:42 telegram:42', 'telegram:-7 telegram:7']), [
    false,
    true,
  ]);
  const left = await Promise.all([ann, slack, group].map((place) => chats.of(place, weather)));
  assert.deepEqual(left, [{}, {}, { days: 3 }]);
});

test('X3 a damaged or foreign row counts as not set', async () => {
  const { chats, store } = await open('sqlite::memory:');
  const stored = store.keyed('tool-settings');
  await stored.set(JSON.stringify(['telegram:42', 'weather', 'days']), { value: { odd: true } });
  await stored.set(JSON.stringify(['telegram:42', 'weather', 'units']), 'imperial');
  await chats.load();
  assert.deepEqual(await chats.of(ann, weather), {});
});

test('X3 Q9 on PostgreSQL a setting of one process holds in the other, and its secret is known there', async (t) => {
  const server = await startPostgres();
  if (server === undefined) return t.skip(noPostgres);
  closing.push(() => server.close());
  const url = await server.database();
  const [one, other] = [await open(url), await open(url)];
  await one.chats.set(ann, 'weather', field('days'), 7);
  assert.deepEqual(await other.chats.of(ann, weather), { days: 7 });
  // Signals are hints: one that is sent before the other process listens is lost.
  let hears = false;
  other.store.signals.on('reload', () => (hears = true));
  await t.waitFor(
    async () => {
      await one.store.signals.send('reload', '');
      assert.ok(hears);
    },
    { interval: 20, timeout: 60_000 },
  );
  await one.chats.set(ann, 'weather', field('token'), 'tok-long-enough');
  const secret = { name: 'weather.token', value: 'tok-long-enough' };
  await t.waitFor(() => assert.deepEqual(other.chats.secrets(), [secret]), { interval: 20, timeout: 60_000 });
  assert.deepEqual(await other.chats.of(ann, weather), { days: 7, token: 'tok-long-enough' });
  const third = await open(url);
  await third.chats.load();
  assert.deepEqual(third.chats.secrets(), [secret]);
});
