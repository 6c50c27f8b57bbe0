import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { limitConnections } from '../../src/lib/net/limit-connections.ts';

test('S18 half requests, half bodies and idle connections keep nobody out, and a request under way is kept', async (t) => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (request.method === 'POST') return void request.resume();
    if (request.url !== '/slow') return void response.end('ok');
    reached.resolve();
    void held.promise.then(() => response.end('slow'));
  });
  limitConnections(server, 8);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
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
