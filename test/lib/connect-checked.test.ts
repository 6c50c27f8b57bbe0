import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { connectChecked, type HostAddress } from '../../src/lib/net/connect-checked.ts';

const server = createServer((socket) => socket.on('error', () => socket.destroy()).end('hello'));
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address() as AddressInfo;
after(() => server.close());

const v4 = (address: string): HostAddress => ({ address, family: 4 });
const onLoopback = (address: string): boolean => address === '127.0.0.1';

test('T3 T9 the checked address is connected to, and the name is resolved once', async () => {
  let asked = 0;
  const lookup = async () => {
    asked += 1;
    // A name that is rebound: whoever resolved a second time would get somewhere else.
    return asked === 1 ? [v4('127.0.0.1')] : [v4('127.0.0.66')];
  };
  const connected = await connectChecked('rebound.test', port, { lookup, mayReach: onLoopback });
  assert.ok(connected.ok);
  assert.equal(connected.socket.remoteAddress, '127.0.0.1');
  const [said] = (await once(connected.socket, 'data')) as [Buffer];
  assert.equal(String(said), 'hello');
  connected.socket.destroy();
  assert.equal(asked, 1);
});

test('T3 without an option loopback is refused, by name and by address, and nothing is connected', async () => {
  let connections = 0;
  const count = (): void => void (connections += 1);
  server.on('connection', count);
  for (const host of ['localhost', '127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    const connected = await connectChecked(host, port);
    assert.equal(!connected.ok && connected.code, 'refused', host);
  }
  server.off('connection', count);
  assert.equal(connections, 0);
});

test('T3 every address of a name is checked: one that is refused refuses the name, and is not told', async () => {
  const lookup = async () => [v4('127.0.0.1'), v4('169.254.169.254')];
  const connected = await connectChecked('mixed.test', port, { lookup, mayReach: onLoopback });
  assert.deepEqual(connected, {
    ok: false,
    code: 'refused',
    message: 'mixed.test leads to an address that is not on the public internet',
  });
});

test('T9 where the first address takes no connection the next one is tried', async () => {
  const lookup = async () => [v4('127.0.0.2'), v4('127.0.0.1')];
  const connected = await connectChecked('two.test', port, { lookup, mayReach: (a) => a.startsWith('127.') });
  assert.ok(connected.ok);
  assert.equal(connected.socket.remoteAddress, '127.0.0.1');
  connected.socket.destroy();
});

test('T3 a name that does not exist, a closed port, a resolver that hangs and a cancel each have an outcome', async () => {
  const none = await connectChecked('none.test', port, {
    lookup: () => Promise.reject(new Error('ENOTFOUND')),
  });
  assert.deepEqual(none, { ok: false, code: 'not_found', message: 'there is no host none.test' });

  const shut = await connectChecked('shut.test', 1, {
    lookup: async () => [v4('127.0.0.1')],
    mayReach: onLoopback,
  });
  assert.deepEqual(shut, {
    ok: false,
    code: 'unreachable',
    message: 'shut.test takes no connection on port 1',
  });

  const hangs = () => new Promise<never>(() => undefined);
  const slow = await connectChecked('slow.test', port, { lookup: hangs, timeoutMs: 20 });
  assert.equal(!slow.ok && slow.code, 'timeout');

  const stop = new AbortController();
  const cancelled = connectChecked('slow.test', port, { lookup: hangs, signal: stop.signal });
  stop.abort();
  assert.equal(await cancelled.then((one) => !one.ok && one.code), 'cancelled');
});
