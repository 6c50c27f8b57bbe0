import Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createServer } from '../../src/lib/net/node-http.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';

const corpora = process.env['SKILLET_CORPORA'] ?? path.join(import.meta.dirname, '../../../shared/corpora');
const folder = path.join(corpora, 'anthropic-sse');
const skip = existsSync(folder) ? false : `no recordings at ${folder}: set SKILLET_CORPORA`;

/** The same answers as in the recordings, told by shape: their words are not ours. */
const steps: Readonly<Record<string, Exclude<ServerStep, string>>> = {
  'basic_response.txt': { content: [{ type: 'text', text: 'A few words.' }] },
  'tool_use_response.txt': {
    content: [
      { type: 'text', text: 'I look it up.' },
      { type: 'tool_use', name: 'look', input: { place: 'Here' } },
    ],
  },
  'incomplete_partial_json_response.txt': {
    content: [
      { type: 'text', text: 'I write it down.' },
      { type: 'tool_use', name: 'write', input: { name: 'a file', lines: ['one', 'two', 'three'] } },
    ],
    stopReason: 'max_tokens',
  },
  'refusal_response.txt': { content: [{ type: 'text', text: '' }], stopReason: 'refusal' },
};

const request = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hello' }] };

async function serveRecording(t: TestContext, bytes: Buffer): Promise<string> {
  const server = createServer((incoming, response) => {
    incoming.resume();
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(Buffer.concat([bytes, Buffer.from('\n\n')]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What the SDK makes of a stream: the order of its events without repeats, and the message by shape. */
async function read(baseURL: string): Promise<{ events: readonly string[]; message: object }> {
  const client = new Anthropic({
    baseURL,
    apiKey: 'k',
    maxRetries: 0,
    openTelemetry: false,
    logLevel: 'off',
  });
  const stream = client.messages.stream(request);
  const events: string[] = [];
  stream.on('streamEvent', (event) => {
    const detail =
      event.type === 'content_block_delta'
        ? event.delta.type
        : event.type === 'content_block_start'
          ? event.content_block.type
          : '';
    const name = `${event.type} ${detail} ${Object.keys(event).sort().join(',')}`;
    if (events.at(-1) !== name) events.push(name);
  });
  const { content, stop_reason, stop_sequence, stop_details, role, type } = await stream.finalMessage();
  const shapes = content.map((block) => ({
    type: block.type,
    hasText: block.type === 'text' && block.text !== '',
    input: block.type === 'tool_use' ? typeof block.input : undefined,
    idStart: block.type === 'tool_use' ? block.id.slice(0, 6) : undefined,
  }));
  return { events, message: { shapes, stop_reason, stop_sequence, refused: stop_details?.type, role, type } };
}

for (const [file, step] of Object.entries(steps)) {
  test(`H9 the Messages server streams like the recording ${file}`, { skip }, async (t) => {
    const recorded = await read(await serveRecording(t, readFileSync(path.join(folder, file))));
    const server = await startMessagesServer({ script: [step] });
    t.after(() => server.close());
    assert.deepEqual(await read(server.url), recorded);
  });
}
