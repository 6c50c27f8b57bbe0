import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invocationId } from '../../src/agent/models/anthropic-request.ts';
import { filesSent } from '../../src/agent/with-files.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';
import type { ShownFile } from '../../src/core/received.ts';

function fileNamed(name: string): ShownFile {
  return { type: 'image', hash: name, mime: 'image/png', name, size: 3 };
}

function said(item: string, names: readonly string[], more: { sender?: string; joins?: string } = {}): Entry {
  const files = names.map(fileNamed);
  return {
    kind: 'user',
    item,
    sender: 'telegram:1',
    content: 'x',
    ...(files.length === 0 ? {} : { files }),
    at: 1,
    ...more,
  };
}

function called(id: string): Entry {
  const content = [
    { type: 'tool_use' as const, id, name: 'use_skill', input: {}, caller: { type: 'direct' as const } },
  ];
  return { kind: 'assistant', content, stopReason: 'tool_use', tokens: noTokens, model: 'm', at: 2 };
}

function sentFor(entries: readonly Entry[], call = 'call'): readonly string[] {
  return (filesSent(entries, 'telegram:1', call) ?? []).map(({ name }) => name);
}

test('M12 a run has the files of the message that it was called for, and of nobody else', () => {
  const entries = [
    said('a', ['old']),
    said('b', ['theirs']),
    said('c', ['other'], { sender: 'telegram:2' }),
    called('call'),
    said('d', ['later']),
  ];
  assert.deepEqual(sentFor(entries), ['theirs']);
  assert.deepEqual(sentFor([said('a', ['old']), said('b', []), called('call')]), []);
});

test('M12 H11 words that joined the turn take no file from its run; a picture that they quote comes along', () => {
  const turn = [said('a', ['first', 'both']), called('before')];
  const joined = [said('b', [], { joins: 'a' }), said('c', ['both', 'quoted'], { joins: 'a' })];
  assert.deepEqual(sentFor([...turn, ...joined, called('call')]), ['first', 'both', 'quoted']);
  assert.deepEqual(sentFor(turn, 'a command'), ['first', 'both']);
});

test('M12 U9 a run that a person’s own command starts late has no file of their next message', () => {
  const entries = [said('a', ['theirs']), said('b', ['next'])];
  assert.deepEqual(sentFor(entries, invocationId('a')), ['theirs']);
  assert.deepEqual(sentFor(entries, invocationId('b')), ['next']);
});
