import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { openCapabilitySocket } from '../../src/sandbox/open-capability-socket.ts';
import type { ServeCap } from '../../src/sandbox/sandbox.ts';

async function open(t: TestContext, serve: ServeCap) {
  const door = await openCapabilitySocket(serve, { node: process.execPath });
  t.after(() => door.close());
  return { door, socketPath: path.join(door.folder, 'cap.sock') };
}

const never: ServeCap = async () => {
  throw new Error('nothing was to be served');
};

test('C4 what is no request, or too long a one, is not served, and the next one is', async (t) => {
  const served: unknown[] = [];
  const { socketPath } = await open(t, async (words) => {
    served.push(words);
    return { stdout: 'fine', stderr: '', exitCode: 0 };
  });
  const ask = async (request: string): Promise<string> => {
    const socket = connect(socketPath);
    socket.on('error', () => socket.destroy());
    socket.end(request);
    return text(socket).catch(() => '');
  };
  assert.equal(await ask('{'), '');
  assert.equal(await ask('{"words":"list","input":""}'), '');
  assert.match(await ask(JSON.stringify({ words: [], input: 'x'.repeat(400_000) })), /^$|at most/);
  assert.deepEqual(served, []);
  assert.match(await ask('{"words":["list"],"input":""}'), /"stdout":"fine"/);
  assert.deepEqual(served, [['list']]);
});

test('C4 who goes away is worked for no longer, and a command that ended leaves nothing', async (t) => {
  const begun = Promise.withResolvers<AbortSignal>();
  const { door, socketPath } = await open(t, async (_words, _input, signal) => {
    begun.resolve(signal);
    await once(signal, 'abort');
    throw new Error('gone');
  });
  const socket = connect(socketPath);
  socket.on('error', () => socket.destroy());
  socket.end('{"words":["list"],"input":""}');
  const signal = await begun.promise;
  assert.equal(signal.aborted, false);
  await door.close();
  assert.equal(signal.aborted, true);
  assert.equal(existsSync(door.folder), false);
});

test('C4 T9 the socket is for the bot alone, in a folder that nobody else may enter', async (t) => {
  const { door, socketPath } = await open(t, never);
  assert.equal((await stat(door.folder)).mode & 0o777, 0o700);
  assert.equal((await stat(socketPath)).mode & 0o777, 0o600);
});
