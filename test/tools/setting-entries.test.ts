import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSettingEntries, entryMs } from '../../src/tools/settings/setting-entries.ts';
import type { Message } from '../../src/core/message.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';

const of = { tool: 'lamp', key: 'room', secret: false };

async function open() {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const make = () =>
    createSettingEntries({ stored: store.keyed('setting-entries'), signals: store.signals, clock });
  const said = (change: Partial<Message> = {}): Message => makeMessage({ sentAt: clock.now(), ...change });
  const { conversation, sender } = said();
  return { clock, make, said, from: { conversation, chatType: 'private' as const, sender: sender.id } };
}

test('X3 Q2 a value that is delivered again, also after a restart, is no words for the model', async () => {
  const { make, said, from } = await open();
  const entries = make();
  assert.equal(await entries.meant(said()), undefined);
  await entries.begin(from, of);
  const message = said({ id: 'telegram:42:7' });
  assert.deepEqual(await entries.meant(message), { ...of, until: entryMs + message.sentAt, took: [] });
  await entries.took(message, true);
  assert.equal(await entries.meant(message), 'again');
  assert.equal(await entries.meant(said({ id: 'telegram:42:8', sentAt: message.sentAt + 1 })), undefined);
  const after = make();
  await after.load();
  assert.equal(await after.meant(message), 'again');
  await after.begin(from, of);
  assert.equal(await after.meant(message), 'again', 'another value is waited for, this one was taken');
});

test('X3 a value counts by the time it was sent, and a command or an empty text is none', async () => {
  const { clock, make, said, from } = await open();
  const entries = make();
  await entries.begin(from, of);
  const inTime = said();
  assert.equal(await entries.meant(said({ text: ' ' })), undefined);
  assert.equal(await entries.meant(said({ command: { name: 'stop', args: '' } })), undefined);
  await clock.advance(entryMs + 1);
  assert.equal(await entries.meant(said()), undefined);
  assert.notEqual(await entries.meant(inTime), undefined, 'it was only delivered late');
  await entries.end(from);
  assert.equal(await entries.meant(said()), undefined);
});

test('X3 two processes: what one waits for the other takes', async () => {
  const { make, said, from } = await open();
  const [one, other] = [make(), make()];
  await one.begin(from, { ...of, secret: true });
  const group = said({ chatType: 'group', addressed: false });
  assert.notEqual(await other.meant(group), undefined, 'of a secret none slips by');
  await one.begin(from, of);
  assert.equal(await other.meant(group), undefined, 'other talk in a group is not meant');
  assert.notEqual(await other.meant(said({ chatType: 'group', addressed: true })), undefined);
});
