import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ModelRequest } from '../../src/core/model.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import { httpModelAt } from '../support/model-at.ts';
import { quietLog } from '../support/quiet-log.ts';

const folder = new URL('./recorded-chat/', import.meta.url);
const recorded = readdirSync(folder).filter((name) => !name.endsWith('.md'));
const hello: ModelRequest = {
  system: [],
  messages: [{ role: 'user', content: 'Roll.' }],
  tools: [{ name: 'dice', input_schema: { type: 'object' } }],
};
/** Servers that say nothing of tokens: those are estimated. */
const uncounted = ['calls-llama-cpp.sse', 'thinking-ollama.sse', 'calls-ollama.sse'];
const cached = ['words-openai.sse', 'thinking-deepseek.sse'];

for (const name of recorded)
  for (const chunkBytes of [undefined, 7])
    test(`M17 M19 ${name} is one answer${chunkBytes === undefined ? '' : ', in pieces of 7 bytes'}`, async (t) => {
      const raw = readFileSync(new URL(name, folder), 'utf8');
      const type = name.endsWith('.json') ? 'application/json' : 'text/event-stream';
      const step = { raw, type, ...(chunkBytes === undefined ? {} : { chunkBytes }) };
      const server = await startChatServer({ script: [step], like: 'other' });
      t.after(() => server.close());
      const endpoint = { baseUrl: server.url, apiKey: 'k' };
      const model = httpModelAt(
        { alias: 'default', api: 'openai', model: 'a-model', maxTokens: 1_000, endpoint },
        { log: quietLog(), clock: { now: () => 0, sleep: async () => undefined }, random: () => 0 },
      );
      let shown = '';
      const answer = await model.complete(hello, AbortSignal.timeout(60_000), (text) => (shown += text));
      const { content, stopReason, tokens } = answer;
      const words = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
      const inputs = content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []));
      const thought = content
        .flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []))
        .join('');
      const isCalls = name.startsWith('calls');
      assert.equal(words, isCalls ? '' : 'The answer is 42.');
      assert.equal(shown, words);
      assert.deepEqual(inputs, isCalls ? [{ sides: 6 }, { sides: 20 }] : []);
      assert.equal(thought, name.startsWith('thinking') ? 'Six times seven.' : '');
      assert.equal(stopReason, isCalls ? 'tool_use' : 'end_turn');
      const { input, output, cacheRead } = tokens;
      if (uncounted.includes(name)) assert.ok(input > 0 && output > 0);
      else assert.deepEqual([input + cacheRead, output], [90, isCalls ? 40 : thought === '' ? 7 : 17]);
      assert.equal(cacheRead, cached.includes(name) ? 64 : 0);
      assert.notEqual(answer.model, '');
      const order = content.map((block) =>
        ['thinking', 'redacted_thinking', 'text', 'tool_use'].indexOf(block.type),
      );
      assert.deepEqual(order, order.toSorted(), 'what is sealed at the end would not go back');
      const sealed = content.flatMap((block) => (block.type === 'redacted_thinking' ? [block.data] : []));
      assert.equal(sealed.length, ['calls-gemini.sse', 'thinking-openrouter.sse'].includes(name) ? 1 : 0);
    });
