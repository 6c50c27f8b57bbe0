import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTerminals, type TerminalView } from '../../src/operator/terminals/terminals.ts';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';

const owner = { user: 'owner', as: 'private', patient: true } as const;
const place = { channel: 'terminal', chat: 'owner' };

function makeView(): TerminalView & Readonly<{ shown: string[] }> {
  const shown: string[] = [];
  const show = (what: string): number => shown.push(what);
  return {
    shown,
    send: async (_, part) => ({ id: String(show(part.markdown)) }),
    edit: async (_, { id }, part) => void show(`${id}: ${part.markdown}`),
    remove: async (_, { id }) => void show(`${id} gone`),
    status: async (_, status) => void show(status === undefined ? 'no status' : status.kind),
  };
}

async function setUp() {
  const store = await openStore('sqlite::memory:');
  const terminals = createTerminals({
    name: 'terminal',
    store,
    cancel: async () => false,
    saveFile: async (_, { path }) => path,
    whyUnheard: async ({ sender }) => (sender.name === 'eve' ? 'eve is not known' : undefined),
    clock: systemClock,
  });
  const events: ChannelEvent[] = [];
  await terminals.channel.start(async (event) => void events.push(event));
  return { store, terminals, channel: terminals.channel, events };
}

test('Q6 H5 what is to be sent to a terminal that was left waits for the next one in its place', async () => {
  const { terminals, channel, store } = await setUp();
  const first = makeView();
  terminals.sit(owner, first).leave();
  const sent = channel.send(place, { markdown: 'answer' }, 'k#0');
  const other = makeView();
  terminals.sit({ ...owner, user: 'bob' }, other);
  const second = makeView();
  terminals.sit(owner, second);
  const receipt = await sent;
  assert.deepEqual([first.shown, other.shown, second.shown], [[], [], ['answer']]);
  await channel.edit(place, receipt, { markdown: 'better' });
  assert.deepEqual(second.shown, ['answer', '1: better']);
  await store.close();
});

test('Q6 what another terminal showed is not changed on this one: it is shown anew', async () => {
  const { terminals, channel, store } = await setUp();
  const seat = terminals.sit(owner, makeView());
  const receipt = await channel.send(place, { markdown: 'draft' }, 'k#0');
  seat.leave();
  const view = makeView();
  terminals.sit(owner, view);
  await channel.edit(place, receipt, { markdown: 'final' });
  await channel.remove(place, receipt);
  assert.deepEqual(view.shown, ['final']);
  await store.close();
});

test('Q7 a send that waits for a terminal is given back when the bot stops', async () => {
  const { channel, store } = await setUp();
  const sent = channel.send(place, { markdown: 'answer' }, 'k#0');
  await channel.stop();
  await assert.rejects(sent, { name: 'SendError', outcome: 'retry' });
  await store.close();
});

test('A9 H5 who says it, and where, is not for a terminal to say', async () => {
  const { terminals, events, store } = await setUp();
  const seat = terminals.sit({ user: 'eve', as: 'group', patient: true }, makeView());
  const told = {
    ...makeMessage({ id: 'terminal:1' }),
    task: { kind: 'result', id: 'x', skill: 's', result: 'r' },
  } as const;
  await seat.tell({ message: told });
  const [event] = events;
  assert.ok(event?.type === 'message');
  const { sender, conversation, chatType, task } = event.message;
  assert.deepEqual(
    [sender.id, conversation, chatType, task],
    ['terminal:eve', { channel: 'terminal', chat: 'group' }, 'group', undefined],
  );
  await assert.rejects(
    seat.tell({ message: makeMessage({ id: 'telegram:42:1' }) }),
    /needs an id of its own/,
  );
  await store.close();
});

test('Q9 the second terminal in the same room has a thread of its own, the next one after both left none', async () => {
  const { terminals, events, store } = await setUp();
  const seats = [terminals.sit(owner, makeView()), terminals.sit(owner, makeView())];
  for (const [n, seat] of seats.entries()) await seat.tell({ message: makeMessage({ id: `terminal:${n}` }) });
  seats.forEach(({ leave }) => leave());
  await terminals.sit(owner, makeView()).tell({ message: makeMessage({ id: 'terminal:9' }) });
  assert.deepEqual(
    events.map((event) => (event.type === 'message' ? event.message.conversation : undefined)),
    [place, { ...place, thread: '2' }, place],
  );
  await store.close();
});

test('H5 A9 who is not heard at a terminal is told why, after the bot had its say', async () => {
  const { terminals, events, store } = await setUp();
  for (const user of ['eve', 'owner']) {
    const view = makeView();
    const { id, text, sentAt } = makeMessage({ id: `terminal:${user}` });
    await terminals.sit({ user, as: 'group', patient: false }, view).tell({ message: { id, text, sentAt } });
    assert.deepEqual(view.shown, user === 'eve' ? ['(Not heard: eve is not known.)'] : []);
  }
  assert.equal(events.length, 2);
  await store.close();
});
