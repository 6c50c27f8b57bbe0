import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { serveHttp } from '../../src/lib/net/serve-http.ts';

const options = {
  host: '127.0.0.1',
  port: 0,
  longestRequestMs: 60_000,
  mostConnections: 8,
  cannotListen: (why: string) => new Error(why),
};

test('S18 half requests, half bodies and idle connections keep nobody out, and a request under way is kept', async (t) => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const server = await serveHttp((request, response) => {
    if (request.method === 'POST') return void request.resume();
    if (request.url !== '/slow') return void response.end('ok');
    reached.resolve();
    void held.promise.then(() => response.end('slow'));
  }, options);
  t.after(() => server.close());
  const { port } = server;
  const slow = fetch(`http://127.0.0.1:${port}/slow`);
  await reached.promise;
  for (const start of [
    '',
    'GET / HTTP/1.1\r\n',
    'POST /hooks/a HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n',
  ])
    for (let n = 0; n < 20; n++) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      t.after(() => socket.destroy());
      await once(socket, 'connect');
      socket.write(start);
    }
  for (let n = 0; n < 5; n++) {
    const answer = await fetch(`http://127.0.0.1:${port}/livez`, { headers: { connection: 'close' } });
    assert.equal(await answer.text(), 'ok');
  }
  held.resolve();
  assert.equal(await (await slow).text(), 'slow');
});

test('S4 a server that can’t listen says why, and one that closes ends half requests once its work is done', async () => {
  const work = Promise.withResolvers<void>();
  const server = await serveHttp((_, response) => void response.end('ok'), options);
  await assert.rejects(
    serveHttp(() => undefined, { ...options, port: server.port }),
    {
      message: 'another program has that port',
    },
  );
  const half = connect(server.port, '127.0.0.1').on('error', () => undefined);
  await once(half, 'connect');
  half.write('GET / HTTP/1.1\r\n');
  const ended = new Promise((resolve) => half.once('close', resolve));
  const closed = server.close(work.promise);
  work.resolve();
  await Promise.all([closed, ended]);
});
