import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelEvent } from '../../src/core/channel.ts';
import { createJoinParts } from '../../src/channels/telegram/take-updates.ts';
import { detectEntities } from '../servers/telegram/detect-entities.ts';
import { eventOf, inGroup, said } from '../support/telegram-updates.ts';

test('H3 the pieces of an album share a key, and one mention addresses them all', () => {
  const caption = '@Our_Bot these';
  const photo = [{ file_id: 'a', file_unique_id: 'a', width: 1, height: 1 }];
  const piece = (id: number, more: object = {}): ChannelEvent =>
    eventOf(
      inGroup('', {
        text: undefined,
        entities: undefined,
        message_id: id,
        media_group_id: 'g',
        photo,
        ...more,
      }),
    );
  const events = [piece(1), piece(2, { caption, caption_entities: detectEntities(caption) }), piece(3)];
  const parts = createJoinParts();
  parts.foresee(events);
  const joined = events.map((event) => parts.join(event));
  assert.deepEqual(joined.map(describe), [
    ['telegram:-1001:album:g', true],
    ['telegram:-1001:album:g', true],
    ['telegram:-1001:album:g', true],
  ]);
});

test('H3 a text that the client cut is joined: same sender, chat and thread, following at once', () => {
  const parts = createJoinParts();
  const say = (id: number, text: string, more: object = {}): ChannelEvent =>
    parts.join(eventOf(inGroup(text, { message_id: id, entities: undefined, ...more })));
  const first = say(1, `/skill ${'a'.repeat(4089)}`);
  const other = say(2, 'me too', { from: { id: 5, is_bot: false, first_name: 'Eve' } });
  const second = say(3, 'b'.repeat(4050));
  const last = say(4, '/c end');
  const after = say(5, 'a new thought');
  const key = 'telegram:-1001:1:text';
  assert.deepEqual([first, second, last].map(describe), [
    [key, true],
    [key, true],
    [key, true],
  ]);
  assert.deepEqual([other, after].map(describe), [
    [undefined, false],
    [undefined, false],
  ]);
  assert.deepEqual([glueOf(second), glueOf(last)], ['', '\n']);
  assert.equal(last.type === 'message' && last.message.command, undefined);
  assert.deepEqual(say(5, 'a new thought'), after);
});

test('H3 a cut text that arrives again is joined in the same way again', () => {
  const parts = createJoinParts();
  const piece = (id: number, text: string): ChannelEvent => eventOf(said(text, { message_id: id }));
  parts.join(piece(1, 'a'.repeat(4096)));
  const once = parts.join(piece(2, 'rest'));
  assert.deepEqual(parts.join(piece(2, 'rest')), once);
  assert.deepEqual(describe(once), ['telegram:42:1:text', true]);
});

test('H3 a long text and a later remark of the same person stay two messages', () => {
  const parts = createJoinParts();
  parts.join(eventOf(said('a'.repeat(4096), { message_id: 1 })));
  const later = parts.join(eventOf(said('and then', { message_id: 2, date: 1_700_000_003 })));
  assert.deepEqual(describe(later), [undefined, true]);
});

function describe(event: ChannelEvent): readonly [string | undefined, boolean] {
  assert.ok(event.type === 'message');
  return [event.join?.key, event.message.addressed];
}

function glueOf(event: ChannelEvent): string | undefined {
  return event.type === 'message' ? event.join?.glue : undefined;
}
