import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceOf } from '../src/access/own-words.ts';
import { splitForSlack } from '../src/channels/slack/from-markdown.ts';
import { foreignText, type Reads } from './support/linear/foreign-text.ts';
import { markdownShapes } from './support/linear/markdown-shapes.ts';
import { plain, repeated, singles, type Pattern } from './support/linear/patterns.ts';

/** Length of what stands for the longest text where many patterns are tried. */
const shorter = 30_000;
/** Enough to tell what grows with the square: a tenth of a nanosecond for each pair of characters would take 4 s. */
const longer = 200_000;

for (const reads of foreignText) {
  test(`S9 ${reads.name}: no text takes long for its length`, async () => {
    const patterns = reads.parses === true ? singles : [...singles, ...repeated];
    await holds(reads, Math.min(shorter, reads.most), patterns);
    if (reads.most > shorter) await holds(reads, Math.min(longer, reads.most), singles);
  });
}

test('S9 S15 no shape of Markdown takes ten times as long as paragraphs of its length', async () => {
  const run = (markdown: string) => splitForSlack({ markdown });
  const shapes = Object.entries(markdownShapes).map(([name, make]) => ({ name, make }));
  await holds({ name: 'splitForSlack', most: shorter, run }, shorter, shapes, 10);
});

test('S9 whose words a note has is told in time that grows with the lengths, where no stretch comes twice', async () => {
  const note = unlike(100_000, 1);
  const page = { kind: 'tool_result', toolUseId: 'a', isError: false, at: 1 } as const;
  const said = { kind: 'user', item: 'a', sender: 'telegram:42', at: 1 } as const;
  const run = (text: string) =>
    sourceOf(
      note,
      [
        { ...said, content: `${note} ${text}` },
        { ...page, content: text },
      ],
      'telegram:42',
    );
  const took = await cost({ name: 'sourceOf', most: note.length, run }, unlike(100_000, 2));
  assert.ok(took < 2_000, `${took} ms of the processor`);
});

/** Words of seven letters, others for each `seed`. */
function unlike(length: number, seed: number): string {
  let state = seed;
  const letters = Array.from({ length }, (_, at) => {
    state = (state * 48_271) % 2_147_483_647;
    return at % 8 === 7 ? ' ' : String.fromCodePoint(97 + (state % 26));
  });
  return letters.join('');
}

/**
 * Where time grew with the square of a length, one of 30,000 characters would take a second and one of 200,000 most of a minute.
 * Broken YAML, whose repair is tried several times, takes up to 140 ms on a slow machine whatever its length, and twice
 * that beside other tests.
 */
async function holds(reads: Reads, length: number, patterns: readonly Pattern[], times = 50): Promise<void> {
  const text = plain.make(length);
  const usual = Math.min(await cost(reads, text), await cost(reads, text));
  for (const { name, make } of patterns) {
    const most = 600 + length / 500 + times * usual;
    const took = await cost(reads, make(length));
    if (took > most && (await cost(reads, make(length))) > most)
      assert.fail(
        `${length} characters of ${name} took ${took} ms of the processor, as many of plain text ${usual} ms`,
      );
  }
}

/** Processor time of this thread alone, in ms: nothing else on the machine counts. */
async function cost(reads: Reads, text: string): Promise<number> {
  const before = process.threadCpuUsage();
  await reads.run(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
