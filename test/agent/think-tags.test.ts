import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createThinkFilter } from '../../src/agent/models/think-tags.ts';

/** The words of a text that arrives in pieces of `size` characters: those that were shown, and those that are kept. */
function filtered(text: string, size: number, inside = false) {
  const filter = createThinkFilter(inside);
  let shown = '';
  for (let at = 0; at < text.length; at += size) shown += filter.push(text.slice(at, at + size));
  shown += filter.end();
  return { shown, kept: filter.text(), beganInside: filter.beganInside() };
}

const sizes = [1, 2, 3, 5, 7, 11, 1_000];

const thinking: readonly (readonly [string, string])[] = [
  ['<think>let me see\n\n1 < 2</think>\n\nANSWER', 'ANSWER'],
  ['\n<think>\nlet me see\n</think>\nANSWER', 'ANSWER'],
  ['<think></think>ANSWER', 'ANSWER'],
  ['<think/>\n\nANSWER', 'ANSWER'],
  ['<THINK>a</THINK>ANSWER', 'ANSWER'],
  ['<thinking>a</thinking>\n\nANSWER', 'ANSWER'],
  ['<thought>a</thought>ANSWER', 'ANSWER'],
  ['<reasoning>a</reasoning>ANSWER', 'ANSWER'],
  ['<antThinking>a</antThinking>ANSWER', 'ANSWER'],
  ['<thinking>a</thinking>ANSWER', 'ANSWER'],
  ['<seed:think>a</seed:think>ANSWER', 'ANSWER'],
  ['<think effort="high">a</think>ANSWER', 'ANSWER'],
  ['[THINK]a[/THINK]ANSWER', 'ANSWER'],
  ['◁think▷a◁/think▷ANSWER', 'ANSWER'],
  ['<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>ANSWER<|end_of_solution|>', 'ANSWER'],
  ['<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>ANSWER<|END_RESPONSE|>', 'ANSWER'],
  [
    '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>ANSWER<|return|>',
    'ANSWER',
  ],
  ['<|channel>thought\na\n<channel|>ANSWER', 'ANSWER'],
  ['<think>a</think><final>ANSWER</final>', 'ANSWER'],
  ['<think>a</think>\n<think>b</think>\nANSWER', 'ANSWER'],
  ['<think>the user wrote ```\n</think>\nANSWER', 'ANSWER'],
  ['First.\n\n<think>a</think>\n\nThen.', 'First.\n\nThen.'],
  ['Let me look. <think>a</think> ANSWER', 'Let me look. ANSWER'],
  ['Let me look.<think>a</think> ANSWER', 'Let me look. ANSWER'],
  ['<think>never closed, and on', ''],
  ['First.\n<think>never closed, and on', 'First.\n'],
];
for (const [text, words] of thinking)
  test(`M19 thinking between tags is neither shown nor kept as words: ${JSON.stringify(text)}`, () => {
    for (const size of sizes)
      assert.deepEqual(filtered(text, size), { shown: words, kept: words, beganInside: false });
  });

const literal: readonly string[] = [
  'The tag `<think>` begins it and `</think>` ends it.',
  'The tags are ``<think>` and </think>``.',
  '```xml\n<think>\nno thinking\n</think>\n```\nSo it is.',
  '~~~\n<think>\n```\n</think>\n~~~\nSo.',
  'Steps:\n\n1. Write\n   ```\n   <think>\n   </think>\n   ```\n2. Done',
  '> ```\n> <think>\n> ```',
  'As code:\n\n    <think>\n    </think>\n\nSo.',
  'Qwen writes a <think> first.',
  'It ends with </think> and then the answer.',
  'a < b, <b>bold</b>, <thinker>, [THIS], [T](https://x.y), <|x|>, 1 <thing',
  'The <final> tag and <answer>.',
  '```sh\ncat <<EOF\n<thinking>\nEOF\n```',
];
for (const text of literal)
  test(`M19 words about the tags stay: ${JSON.stringify(text)}`, () => {
    for (const size of sizes)
      assert.deepEqual(filtered(text, size), { shown: text, kept: text, beganInside: false });
  });

test('M19 thinking whose beginning is in the template of the model is not kept, and the next time not shown', () => {
  for (const text of ['let me see\n</think>\n\nANSWER', 'first\n\nthen</think>\nANSWER']) {
    for (const size of sizes) {
      const first = filtered(text, size);
      assert.equal(first.kept, 'ANSWER');
      assert.equal(first.beganInside, true);
      assert.equal(filtered(text, size, true).shown, 'ANSWER');
    }
  }
  for (const size of sizes)
    assert.equal(filtered('An answer at once.', size, true).shown, 'An answer at once.');
});
