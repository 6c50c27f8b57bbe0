import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import Keyv from 'keyv';
import { createForgetSomebody } from '../../src/operator/forget-somebody.ts';
import type { Message } from '../../src/core/message.ts';
import type { ListedItem } from '../../src/store/inbox.ts';
import { partOf } from '../support/app-of.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

const ann = 'telegram:42';
const counts = { messages: 1, entries: 2, outbox: 3, usage: 4, asks: 5, routines: 6, memories: 7 };

type Lists = Readonly<Record<'waiting' | 'dead', readonly ListedItem[]>>;

function itemOf(key: string, message?: Message): ListedItem {
  return { key, message } as unknown as ListedItem;
}

/** What is called, in order, with what is asked about. `lists`: of the inbox, by how much time has passed. */
function forgetOver(options: {
  waitMs?: number;
  lists?: (passedMs: number) => Lists;
  pending?: readonly Readonly<{ sender: string; conversation: Message['conversation'] }>[];
}) {
  const clock = createManualClock();
  const begun = clock.now();
  const log = quietLog();
  const calls: (readonly unknown[])[] = [];
  const did =
    <T>(name: string, result: T) =>
    async (...given: readonly unknown[]): Promise<T> => {
      calls.push([name, ...given]);
      return result;
    };
  const forget = createForgetSomebody({
    store: {
      inbox: {
        list: async (status: 'waiting' | 'dead') => (options.lists?.(clock.now() - begun) ?? noItems)[status],
      },
      keyed: () => new Keyv(),
      signals: { send: did('signal', undefined) },
      stop: did('stop', { stopping: [], stopped: [] }),
      forget: did('store', { ...counts, places: ['telegram:-7'], files: ['a.png'] }),
    } as unknown as Parameters<typeof createForgetSomebody>[0]['store'],
    kept: {
      users: partOf({ forget: did('users', true) }),
      pairing: partOf({
        pending: async () => (options.pending ?? []) as never,
        forget: did('pairing', false),
      }),
      partners: { forget: did('partners', undefined) },
      features: [{ forget: did('rules', undefined) }, {}, { forget: did('capabilities', { accounts: 8 }) }],
      settings: partOf({ forget: did('settings', undefined) }),
      files: partOf({ forget: did('files', 9) }),
    },
    access: () => ({
      ...{ owners: [], general: {}, channels: new Map(), chats: new Map(), allowExternal: false },
    }),
    audit: partOf({
      record: did('record', undefined),
      meetings: async () => [],
      forget: did('audit', undefined),
    }),
    waitMs: options.waitMs ?? 0,
    clock,
    log,
  });
  return { run: () => clock.runUntil(forget(ann)), calls, log, passed: () => clock.now() - begun };
}

const noItems: Lists = { waiting: [], dead: [] };
const theirs = makeMessage();
const busyUntil = (end: number) => (passed: number) => ({
  waiting: [
    itemOf('unreadable'),
    itemOf(
      'other',
      makeMessage({
        id: 'other',
        conversation: { channel: 'telegram', chat: '7' },
        sender: { id: 'telegram:7', name: 'Bob', kind: 'person' },
      }),
    ),
    ...(passed < end ? [itemOf('theirs', theirs)] : []),
  ],
  dead: [itemOf('unreadable too')],
});

test('Q12 a person is forgotten in one order: first nothing new, then work, the audit, rows, files, the record', async () => {
  const { run, calls, log } = forgetOver({
    lists: busyUntil(0),
    pending: [{ sender: ann, conversation: theirs.conversation }],
  });
  const removed = { ...counts, accounts: 8, files: 9 };
  assert.deepEqual(await run(), { forgotten: ann, known: true, removed, inConfig: false });
  const rooms = ['telegram:42'];
  const subject = createHash('sha256').update(ann).digest('hex');
  assert.deepEqual(calls, [
    ...['users', 'pairing', 'partners'].map((name) => [name, ann]),
    ['stop', { items: [] }],
    ['audit', [ann, ...rooms]],
    ['settings', ann, rooms],
    ['rules', ann],
    ['capabilities', ann],
    ['store', ann, rooms],
    ['audit', ['telegram:-7']],
    ['settings', ann, ['telegram:-7']],
    ['files', { sender: ann, places: ['telegram:-7'], files: ['a.png'] }],
    ['record', { event: 'forgotten', subject, counts: removed }],
  ]);
  assert.deepEqual(log.lines, [
    { level: 'info', fields: { subject, ...removed }, message: 'a person was forgotten' },
  ]);
});

test('Q12 running work is stopped and waited for, as long as is allowed, and not at all if no bot runs', async () => {
  for (const [waitMs, end, passed] of [
    [0, 1_000, 0],
    [15_000, 0, 0],
    [15_000, 120, 150],
    [15_000, 15_000, 15_000],
    [15_000, 15_001, undefined],
    [200, 1_000, undefined],
  ] as const) {
    const row = `${waitMs} ${end}`;
    const one = forgetOver({ waitMs, lists: busyUntil(end) });
    if (passed === undefined) {
      await assert.rejects(
        one.run(),
        /^OperatorError: A message of telegram:42 is still being answered/,
        row,
      );
      assert.equal(one.passed(), waitMs, row);
      assert.deepEqual(one.calls.at(-1), ['stop', { items: ['theirs'] }], 'nothing was removed yet');
    } else {
      await one.run();
      assert.equal(one.passed(), passed, row);
      assert.deepEqual(
        one.calls.find(([name]) => name === 'stop'),
        ['stop', { items: end === 0 ? [] : ['theirs'] }],
      );
    }
  }
});
