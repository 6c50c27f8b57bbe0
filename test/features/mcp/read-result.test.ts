import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderEnvelope } from '../../../src/core/envelope.ts';
import { createRedactor } from '../../../src/lib/redaction/redact.ts';
import type { Artifact } from '../../../src/core/tool.ts';
import { readResult } from '../../../src/features/mcp/read-result.ts';

const secret = 'sk-result-0123456789';
const redact = createRedactor([{ name: 'KEY', value: secret }]);

async function read(result: unknown) {
  const files: Artifact[] = [];
  const looked = { at: 0 };
  const envelope = await readResult(result, {
    server: 'f',
    tool: 'mcp_f_a',
    redact(text) {
      looked.at += text.length;
      return redact(text);
    },
    artifact: async (file) => {
      files.push(file);
      return { ok: true, name: file.name, mime: file.mime ?? '', size: 1 };
    },
  });
  return { text: renderEnvelope(envelope), files, looked: looked.at };
}

test('X7 S2 no secret is in what a server answered: in text, cut or not, in structure, links and names of files', async () => {
  const uri = `file:///a/${secret}.txt`;
  const { text, files } = await read({
    content: [
      { type: 'text', text: `the key is ${secret}` },
      { type: 'resource_link', uri, name: secret },
      { type: 'resource', resource: { uri, text: 'a note' } },
      { type: 'resource', resource: { uri, blob: 'AAEC' } },
    ],
  });
  assert.equal(text.match(/\[redacted KEY\]/g)?.length, 4);
  assert.deepEqual(
    files.map(({ name }) => name),
    ['[redacted KEY].txt'],
  );
  assert.doesNotMatch(JSON.stringify([text, files]), /sk-result/);
  const structured = await read({ structuredContent: { key: secret, [secret]: 1 } });
  assert.doesNotMatch(structured.text, /sk-result/);
  // Wherever a text is cut, no half of a secret is left.
  for (let before = 25_970; before < 26_010; before++) {
    const cut = await read({ content: [{ type: 'text', text: 'x'.repeat(before) + secret.repeat(20) }] });
    assert.doesNotMatch(cut.text, /sk-/, `after ${before} characters`);
  }
});

test('X7 of an answer of ten million bytes little is looked at, and what is left out is said', async () => {
  const long = await read({ content: [{ type: 'text', text: '<output>x'.repeat(1_100_000) }] });
  assert.ok(long.text.length < 27_000 && long.looked <= 200_000);
  assert.match(long.text, /^.*CONTENT_TRUNCATED/m);
  const many = await read({ content: Array.from({ length: 300_000 }, () => 1) });
  assert.ok((many.text.match(/not known here/g)?.length ?? 0) <= 1_000);
  assert.match(many.text, /CONTENT_TRUNCATED/);
  const parts = { read: 0 };
  const part = {
    type: 'text',
    get text() {
      parts.read += 1;
      return '';
    },
  };
  const empty = await read({ content: Array.from({ length: 300_000 }, () => part) });
  assert.match(empty.text, /CONTENT_TRUNCATED/);
  assert.ok(parts.read > 0 && parts.read < 10_000, `${parts.read} looks`);
  const structured = await read({ structuredContent: Array.from({ length: 300_000 }, (_, n) => n) });
  assert.ok(structured.text.length < 27_000 && structured.looked <= 200_000);
  assert.match(structured.text, /CONTENT_TRUNCATED/);
});

test('X7 T12 bytes that were handed over as a file do not stand in the text again', async () => {
  const data = Buffer.from('a picture').toString('base64');
  const { text, files } = await read({
    content: [{ type: 'image', data, mimeType: 'image/png' }],
    structuredContent: { content: [{ type: 'image', data }] },
  });
  assert.equal(files.length, 1);
  assert.doesNotMatch(text, new RegExp(data));
});

test('X7 an answer that is none is no fault of the bot', async () => {
  const odd = [
    {},
    { content: 'words' },
    { content: [null, 7, { type: 'video' }, { type: 'image', data: 3 }] },
    { content: [], isError: 'yes' },
    { content: [{ type: 'image', data: '!!!', mimeType: '../../etc' }] },
  ];
  for (const result of odd) assert.match((await read(result)).text, /answered/);
  assert.match((await read({ isError: true })).text, /^error TOOL_FAILED: .*\n<output[^\n]*\n\[nothing\]/);
});
