import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { meaningOf, type Meaning } from '../support/slack-payloads.ts';

const corpora =
  process.env['SKILLET_CORPORA'] ?? path.join(import.meta.dirname, '..', '..', '..', 'shared', 'corpora');
const skip = existsSync(path.join(corpora, 'slack-socket')) ? false : `no Slack corpora at ${corpora}`;
const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const me = { team: 'T111', user: 'UBOT', botId: 'BBOT', appId: 'ABOT', command: '/skill' };

function read(...parts: readonly string[]): unknown {
  return JSON.parse(readFileSync(path.join(corpora, ...parts), 'utf8'));
}

/** An event, or a reason in plain words. */
function check(payload: unknown, name: string): Meaning {
  const converted = meaningOf(payload, me, 1);
  if ('ignored' in converted) assert.match(converted.ignored, /^[a-z][\w .-]{5,80}$/i, name);
  else assert.match(converted.event.type, /^(message|edited|deleted|press)$/, name);
  return converted;
}

const payloads =
  skip === false ? (read('bolt-python-scenario-payloads.json') as Record<string, unknown>) : {};

test('H4 every recorded payload becomes an event or a named reason', { skip }, () => {
  const kinds = new Map<string, number>();
  for (const [name, payload] of Object.entries(payloads)) {
    const converted = check(payload, name);
    const kind = 'ignored' in converted ? converted.ignored : converted.event.type;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  assert.equal(Object.keys(payloads).length, 81);
  assert.ok((kinds.get('message') ?? 0) >= 20, JSON.stringify([...kinds]));
});

test('H4 recorded mentions, messages, edits, deletions and bots come out as what they are', { skip }, () => {
  const of = (name: string) => {
    const found = Object.entries(payloads).find(([key]) => key.startsWith(name));
    return meaningOf(found?.[1], me, 1);
  };
  const message = (name: string) => {
    const converted = of(name);
    assert.ok('event' in converted && converted.event.type !== 'press', name);
    return converted.event;
  };
  const mention = message('test_app::app_mention_event_body');
  assert.equal(mention.type, 'message');
  assert.equal(mention.message.chatType, 'unknown');
  assert.equal(message('test_events_assistant::user_message_event_body').message.chatType, 'private');
  assert.equal(message('test_events_assistant::channel_user_message').message.chatType, 'channel');
  assert.equal(message('test_message_bot::bot_message_event_payload').message.sender.kind, 'bot');
  assert.equal(message('test_message_bot::classic_bot_message').message.sender.id, 'slack:B888');
  assert.equal(message('test_message_file_share').message.attachments[0]?.kind, 'photo');
  assert.equal(message('test_message_thread_broadcast').message.conversation.thread, '1633663824.000500');
  const edited = message('test_message_changed');
  assert.equal(edited.type, 'edited');
  assert.equal(edited.message.id, 'slack:T111:C111:1665102338.901939');
  assert.equal(message('test_message_deleted').type, 'deleted');
});

test('H4 recorded Socket Mode frames carry payloads that are understood', { skip }, () => {
  for (const file of readdirSync(path.join(corpora, 'slack-socket'))) {
    for (const frame of read('slack-socket', file) as { type: string; payload?: unknown }[]) {
      const converted = check(frame.payload, `${file} ${frame.type}`);
      if (frame.type === 'slash_commands') assert.ok('slash' in converted);
    }
  }
});

test('H4 event shapes with blank values are named, not thrown over', { skip }, () => {
  for (const file of readdirSync(path.join(corpora, 'slack-event-shapes'))) {
    check(read('slack-event-shapes', file), file);
  }
});

test('S6 payloads that are mangled in any place are named, not thrown over', { skip }, () => {
  const junk = fc.constantFrom<unknown>(
    null,
    0,
    -1,
    '',
    'x',
    true,
    [],
    {},
    ['x'],
    { a: 1 },
    '1700000000.000001',
    '<@UBOT>',
  );
  const all = [...Object.values(payloads)];
  fc.assert(
    fc.property(fc.nat(all.length - 1), fc.nat(400), junk, (which, at, value) => {
      const copy = structuredClone(all[which]);
      mangle(copy, at, value);
      check(copy, `${which} ${at}`);
    }),
    { numRuns: runs * 5 },
  );
});

/** Replaces the `at`-th value of the tree. */
function mangle(tree: unknown, at: number, value: unknown): void {
  const places: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key]);
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(tree);
  const place = places[at % Math.max(1, places.length)];
  if (place !== undefined) place[0][place[1]] = value;
}
