import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showProgress, type ProgressWork } from '../../src/conversations/progress.ts';
import type { Channel, Placeholder } from '../../src/core/channel.ts';
import { createKeptWords } from '../../src/conversations/kept-words.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

const here = { channel: 'telegram', chat: '42' };
const work: ProgressWork = {
  conversation: here,
  part: 'm1#0',
  resumed: false,
  mayRead: async () => true,
  signal: new AbortController().signal,
};

/** A channel that posts a line as message 100, 101 … and changes it, as a platform would. */
async function setUp(findable: Readonly<Record<string, string>> = {}) {
  const seen: string[] = [];
  const looked: string[] = [];
  let posts = 99;
  async function write(text: string, placeholder: Placeholder): Promise<void> {
    const before = await placeholder.posted();
    const receipt = before ?? { id: String(++posts) };
    seen.push(`${receipt.id}:${text}`);
    if (before === undefined) await placeholder.keep(receipt);
  }
  const channel = {
    name: 'telegram',
    async status(_conversation, status, placeholder) {
      if (status?.kind === 'line') return write(status.text, placeholder);
      if (status?.kind === 'words') return write(`words ${status.markdown}`, placeholder);
      seen.push(status === undefined ? 'end' : 'typing');
    },
    async find(_conversation, key) {
      looked.push(key);
      const id = findable[key];
      return id === undefined ? undefined : { id };
    },
  } satisfies Pick<Channel, 'name' | 'status' | 'find'>;
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const deps = {
    channels: new Map([['telegram', channel as unknown as Channel]]),
    outbox: store.outbox,
    words: createKeptWords({ store, clock }),
    clock,
    log: quietLog(),
  };
  const begin = (of: ProgressWork) => showProgress(of, deps);
  return { seen, looked, clock, begin, store };
}

test('U13 what is answered at once shows no typing', async () => {
  const { seen, clock, begin } = await setUp();
  const shown = begin(work);
  await clock.advance(299);
  await shown.end();
  await clock.advance(10_000);
  assert.deepEqual(seen, ['end']);
});

test('U13 typing shows in a moment, a line after some seconds, which changes until the work ends', async () => {
  const { seen, clock, begin } = await setUp();
  const shown = begin(work);
  shown.progress('research: step 1');
  await clock.advance(299);
  assert.deepEqual(seen, []);
  await clock.advance(2_700);
  assert.deepEqual(seen, ['typing']);
  await clock.advance(1);
  shown.progress('research: step 2');
  await clock.advance(1);
  await shown.end();
  shown.progress('research: step 3');
  await clock.advance(10_000);
  await shown.end();
  assert.deepEqual(seen, ['typing', '100:research: step 1', '100:research: step 2', 'end']);
});

test('Q6 the line’s receipt is in the store at once, and work that is taken up again goes on with the same message', async () => {
  const { seen, clock, begin, store } = await setUp();
  const shown = begin(work);
  shown.progress('step 1');
  await clock.advance(3_000);
  assert.deepEqual(await store.outbox.shown('m1#0'), { id: '100' });
  await shown.end();
  const again = begin({ ...work, resumed: true });
  again.progress('step 2');
  await clock.advance(3_000);
  await again.end();
  assert.deepEqual(seen, ['typing', '100:step 1', 'end', 'typing', '100:step 2', 'end']);
});

test('Q6 a line whose receipt was lost with the process is looked for once, under a key that is not the answer’s', async () => {
  const { seen, looked, clock, begin, store } = await setUp({ 'm1#0!status': '55' });
  const first = begin(work);
  await first.end();
  assert.deepEqual(looked, [], 'nothing is looked for where nothing was cut off');
  const quick = begin({ ...work, resumed: true });
  await quick.end();
  assert.deepEqual(await store.outbox.shown('m1#0'), { id: '55', silent: true });
  const slow = begin({ ...work, resumed: true });
  slow.progress('step 2');
  await clock.advance(3_000);
  await slow.end();
  assert.deepEqual(looked, ['m1#0!status']);
  assert.ok(seen.includes('55:step 2'));
});

test('Q9 a line that was posted when the work was lost to another process is not kept', async () => {
  const { seen, clock, begin, store } = await setUp();
  const lost = new AbortController();
  const shown = begin({ ...work, signal: lost.signal });
  shown.progress('step 1');
  lost.abort(new Error('lost'));
  await clock.advance(3_000);
  await shown.end();
  assert.equal(seen[1], '100:step 1');
  assert.equal(await store.outbox.shown('m1#0'), undefined);
});

test('H8 a line waits until the answer before it is out', async () => {
  const { seen, clock, begin, store } = await setUp();
  const part = { markdown: 'the answer before' };
  await store.commit({ outbox: [{ key: 'm0#0', conversation: here, part }] });
  const shown = begin(work);
  shown.progress('step 1');
  await clock.advance(5_000);
  assert.deepEqual(seen, ['typing']);
  await store.outbox.sent('m0#0', { id: '7' });
  await clock.advance(3_000);
  assert.deepEqual(seen, ['typing', '100:step 1']);
  await shown.end();
});

test('H6 words show a quarter of a second after the first, then so often, whole from their beginning', async () => {
  const { seen, clock, begin } = await setUp();
  const shown = begin(work);
  await clock.advance(1_000);
  shown.onText('It');
  await clock.advance(100);
  shown.onText(' is');
  await clock.advance(149);
  assert.deepEqual(seen, ['typing']);
  await clock.advance(1);
  shown.onText(' so');
  await clock.advance(250);
  await clock.advance(1_000);
  assert.deepEqual(seen, ['typing', '100:words It is', '100:words It is so']);
  shown.onText(', and');
  shown.onWritten(true);
  await clock.advance(1_000);
  await shown.end();
  shown.onText(' more');
  await clock.advance(1_000);
  assert.deepEqual(seen.slice(3), ['end'], 'an answer that is whole goes out by itself');
});

test('H6 U13 M16 words before a tool call become the line, and what is shown next are the words after it', async () => {
  const { seen, clock, begin } = await setUp();
  const shown = begin(work);
  await clock.advance(300);
  shown.onText('I look\nit up.');
  await clock.advance(250);
  shown.onWritten(false);
  await clock.advance(1_000);
  shown.onText('It is so.');
  await clock.advance(250);
  // The time for a line comes meanwhile.
  await clock.advance(3_000);
  shown.onWritten(false);
  await clock.advance(10);
  shown.onText('Complete at once.');
  shown.onWritten(false);
  await clock.advance(240);
  assert.deepEqual(seen.at(-1), '100:It is so.');
  await clock.advance(10);
  shown.onText('Before an answer.');
  shown.onWritten(false);
  await clock.advance(100);
  shown.onText('The answer');
  await clock.advance(250);
  await shown.end();
  assert.deepEqual(seen, [
    'typing',
    '100:words I look\nit up.',
    '100:I look it up.',
    '100:words It is so.',
    '100:It is so.',
    '100:Complete at once.',
    '100:words The answer',
    'end',
  ]);
});

test('A9 H6 no words are shown to a person who was removed meanwhile', async () => {
  const { seen, clock, begin } = await setUp();
  let allowed = true;
  const shown = begin({ ...work, mayRead: async () => allowed });
  await clock.advance(300);
  shown.onText('It');
  await clock.advance(250);
  allowed = false;
  shown.onText(' is so');
  await clock.advance(1_000);
  await shown.end();
  assert.deepEqual(seen, ['typing', '100:words It', 'end']);
});

test('H8 words wait until the answer before them is out', async () => {
  const { seen, clock, begin, store } = await setUp();
  const part = { markdown: 'the answer before' };
  await store.commit({ outbox: [{ key: 'm0#0', conversation: here, part }] });
  const shown = begin(work);
  await clock.advance(300);
  shown.onText('It is');
  await clock.advance(1_000);
  assert.deepEqual(seen, ['typing']);
  await store.outbox.sent('m0#0', { id: '7' });
  await clock.advance(3_000);
  await shown.end();
  assert.deepEqual(seen, ['typing', '100:words It is', 'end']);
});

test('H7 no sign of work is set once the words have begun', async () => {
  const { seen, clock, begin } = await setUp();
  const shown = begin(work);
  await clock.advance(200);
  shown.onText('It is');
  await clock.advance(250);
  await clock.advance(5_000);
  await shown.end();
  assert.deepEqual(seen, ['100:words It is', 'end']);
});

test('U13 a model that falls silent is told below its words, once, until it goes on', async () => {
  const { seen, clock, begin } = await setUp();
  const shown = begin(work);
  shown.onText('The **answer');
  await clock.advance(3_000);
  shown.onSilence('I wait.');
  await clock.advance(600_000);
  shown.onText(' is** 42.');
  await clock.advance(3_000);
  await shown.end();
  assert.deepEqual(seen, [
    '100:words The **answer',
    '100:words The **answer**\n\nI wait.',
    '100:words The **answer is** 42.',
    'end',
  ]);
});

test('U13 a model that says nothing at all is told in the line of the work', async () => {
  const { seen, clock, begin } = await setUp();
  const shown = begin(work);
  await clock.advance(60_000);
  shown.onSilence('I wait.');
  await clock.advance(600_000);
  shown.onText('Found.');
  await clock.advance(3_000);
  await shown.end();
  assert.deepEqual(seen, ['typing', '100:I wait.', '100:words Found.', 'end']);
});
