import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type Anthropic from '@anthropic-ai/sdk';
import { fitBlocks, stopReasonOf } from '../../src/agent/fit-history.ts';
import { boundThinking, uniqueCallIds } from '../../src/agent/models/anthropic-request.ts';
import { callsOf } from '../../src/agent/next-step.ts';
import { toMessages } from '../../src/agent/to-messages.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';
import { messagesOnly, refusalOf } from '../agent/strict-request.ts';

const any = fc.oneof(fc.string(), fc.constant(null), fc.constant(undefined), fc.integer(), fc.jsonValue());
const id = fc.oneof(
  fc.constantFrom(
    'functions.dice:0',
    'functions.dice:1',
    'call',
    '',
    'chatcmpl-tool-1',
    'x'.repeat(100),
    'ünïcode',
    'a b',
  ),
  any,
);
const name = fc.oneof(
  fc.constantFrom('dice', 'functions.dice', 'mcp:dice', '', 'würfel', 'n'.repeat(200), 'a b'),
  any,
);
const input = fc.oneof(
  fc.constantFrom('{"sides":6}', '"{\\"sides\\":6}"', '[1]', '{oops', ''),
  fc.object(),
  any,
);
const extra = fc.oneof(fc.constant({}), fc.constant({ annotations: [], index: 0, cache_control: null }));
const block = fc
  .tuple(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.oneof(fc.constantFrom('', ' \n', 'words'), any) }),
      fc.record({ type: fc.constant('tool_use'), id, name, input }),
      fc.record({ type: fc.constant('thinking'), thinking: fc.string() }),
      fc.record({
        type: fc.constantFrom('server_tool_use', 'web_search_tool_result', 'mcp_tool_use'),
        id,
        tool_use_id: id,
      }),
      fc.record({
        type: fc.constantFrom('reasoning', 'output_text', 'trace', 'image', '', 'constructor'),
        text: fc.string(),
      }),
    ),
    extra,
  )
  .map(([one, more]) => ({ ...one, ...more }) as unknown as Anthropic.ContentBlock);
const said = fc.constantFrom(
  'tool_use',
  'end_turn',
  'stop',
  'tool_calls',
  'length',
  'max_tokens',
  'pause_turn',
  'refusal',
  '',
  'stop_sequence',
  'eos',
);
const answers = fc.array(fc.tuple(fc.array(block, { maxLength: 5 }), said), { maxLength: 6 });

/** A conversation in which each call has a result; `fit`: stored as today, else as the server said it. */
function historyOf(
  written: readonly (readonly [readonly Anthropic.ContentBlock[], string])[],
  fit: boolean,
): readonly Entry[] {
  const entries: Entry[] = [];
  for (const [given, reason] of written) {
    entries.push({ kind: 'user', item: `i${entries.length}`, sender: 'telegram:1', content: 'Roll.', at: 1 });
    const content = fit ? uniqueCallIds(fitBlocks(given, ['dice']), entries) : given;
    const stopReason = fit ? stopReasonOf(content, reason) : (reason as Anthropic.StopReason);
    const answer = {
      kind: 'assistant',
      content,
      stopReason,
      tokens: noTokens,
      model: 'loose',
      at: 1,
    } as const;
    entries.push(answer);
    for (const call of callsOf(answer))
      entries.push({ kind: 'tool_result', toolUseId: call.id, content: '4', isError: false, at: 1 });
  }
  return [...entries, { kind: 'user', item: 'last', sender: 'telegram:1', content: 'And now?', at: 1 }];
}

/** What the next server says of it. */
function refusalAt(entries: readonly Entry[]): string | undefined {
  const other = { baseUrl: 'https://other.example', name: 'claude-sonnet-5-5', bindsThinking: true };
  return refusalOf(messagesOnly(boundThinking(messagesOnly(toMessages(entries)), other).messages));
}

test('M18 whatever one server answered, the next one takes the history', () => {
  fc.assert(
    fc.property(answers, (written) => {
      assert.equal(refusalAt(historyOf(written, true)), undefined);
    }),
    { numRuns: 500 },
  );
});

test('M18 what an earlier version stored as it came is taken, too', () => {
  fc.assert(
    fc.property(answers, (written) => {
      const ids = new Set<unknown>();
      // Ids were unique before.
      const unique = written.map(([blocks, reason]) => {
        const kept = blocks.filter(
          (one) =>
            one.type !== 'tool_use' ||
            (typeof one.id === 'string' && one.id !== '' && !ids.has(one.id) && ids.add(one.id)),
        );
        return [kept, reason] as const;
      });
      assert.equal(refusalAt(historyOf(unique, false)), undefined);
    }),
    { numRuns: 500 },
  );
});

test('M18 an answer that is fit already stays the same, byte by byte', () => {
  fc.assert(
    fc.property(answers, (written) => {
      for (const [blocks] of written) {
        const once = fitBlocks(blocks, ['dice']);
        const twice = fitBlocks(once);
        assert.deepEqual(twice, once);
        twice.forEach((one, index) => assert.equal(one, once[index]));
      }
    }),
  );
});
