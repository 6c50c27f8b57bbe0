import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type Anthropic from '@anthropic-ai/sdk';
import { fitBlocks, stopReasonOf } from '../../src/agent/fit-history.ts';
import { createAssembly } from '../../src/agent/models/assemble-answer.ts';
import { createChatForm } from '../../src/agent/models/chat-answer.ts';
import { toChatBody } from '../../src/agent/models/chat-request.ts';
import { boundThinking, uniqueCallIds, type Account } from '../../src/agent/models/anthropic-request.ts';
import { callsOf } from '../../src/agent/next-step.ts';
import { toMessages } from '../../src/agent/to-messages.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';
import { messagesOnly, refusalOf } from '../agent/strict-request.ts';
import { parseChat } from '../servers/chat/chat-shape.ts';
import { checkChat, type Like } from '../servers/chat/check-chat.ts';

const any = fc.oneof(fc.string(), fc.constant(null), fc.constant(undefined), fc.integer(), fc.jsonValue());
const id = fc.oneof(
  fc.constantFrom(
    'functions.dice:0',
    'functions.dice:1',
    'call',
    '',
    'chatcmpl-tool-1',
    'x'.repeat(50),
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

/** What the next server says of it: one of the Messages API, or one of each family of Chat Completions. */
function refusalAt(entries: readonly Entry[]): string | undefined {
  const other = { baseUrl: 'https://other.example', name: 'claude-sonnet-5-5', bindsThinking: true };
  const asked = messagesOnly(boundThinking(messagesOnly(toMessages(entries)), other).messages);
  return refusalOf(asked) ?? families.map((family) => chatRefusal(asked.messages, family)).find(isText);
}

const families = ['openai', 'mistral', 'deepseek', 'gemini', 'other'] as const;

function chatRefusal(messages: readonly Anthropic.MessageParam[], family: Like): string | undefined {
  const { stream_options: _, ...body } = toChatBody(
    { model: 'm', max_tokens: 10, messages: [...messages] },
    family,
  );
  const parsed = parseChat(JSON.parse(JSON.stringify(body)), family === 'openai');
  const wrong = 'wrong' in parsed ? parsed.wrong : checkChat(parsed.request, family);
  return wrong === undefined ? undefined : `${family}: ${wrong.message}`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const call = fc.record(
  {
    index: fc.oneof(fc.nat({ max: 3 }), any),
    id,
    function: fc.record({ name, arguments: fc.oneof(input, any) }, { requiredKeys: [] }),
    extra_content: fc.oneof(fc.object(), any),
  },
  { requiredKeys: [] },
);
const delta = fc.record(
  {
    content: fc.oneof(fc.constantFrom('', ' \n', 'words'), any),
    reasoning_content: any,
    reasoning: any,
    refusal: any,
    reasoning_details: fc.array(
      fc.record({ type: fc.constantFrom('reasoning.encrypted', 'reasoning.text'), data: any }),
    ),
    tool_calls: fc.oneof(fc.array(call, { maxLength: 3 }), any),
  },
  { requiredKeys: [] },
);
const chunk = fc.record({ choices: fc.tuple(fc.record({ index: fc.constant(0), delta })), usage: any });
const streams = fc.array(fc.tuple(fc.array(chunk, { maxLength: 6 }), said), { maxLength: 5 });

/** The blocks of an answer in Chat Completions. */
function blocksOf(chunks: readonly object[]): readonly Anthropic.ContentBlock[] {
  const form = createChatForm(new Map());
  const assembly = createAssembly({ tags: true, inside: false });
  for (const one of chunks) for (const event of form.events({ ...one }, false) ?? []) assembly.take(event);
  assembly.end();
  const { content } = assembly.assembled();
  return form.arrange?.(content) ?? content;
}

test('M17 M18 whatever a server of Chat Completions streamed, all others and itself take the history', () => {
  fc.assert(
    fc.property(streams, (written) => {
      const answers = written.map(([chunks, reason]) => [blocksOf(chunks), reason] as const);
      const entries = historyOf(answers, true);
      assert.equal(refusalAt(entries), undefined);
      const own: Account = { api: 'openai', name: 'm', bindsThinking: false };
      const bound = entries.map((entry) =>
        entry.kind === 'assistant'
          ? { ...entry, binding: boundThinking(messagesOnly([]), own).bindingOf(entry.content) ?? '' }
          : entry,
      );
      const kept = boundThinking(messagesOnly(toMessages(bound)), own).messages;
      for (const family of families)
        if (family !== 'openai') assert.equal(chatRefusal(kept, family), undefined);
    }),
    { numRuns: 500 },
  );
});

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
