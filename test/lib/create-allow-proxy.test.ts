import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createServer } from '../../src/lib/net/node-http.ts';
import { createAllowProxy, type AllowProxyOptions } from '../../src/lib/net/create-allow-proxy.ts';
import type { HostAddress } from '../../src/lib/net/connect-checked.ts';
import { quietLog } from '../support/quiet-log.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'skillet-proxy-'));
const closing: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
  await rm(folder, { recursive: true, force: true });
});

const loopback: HostAddress = { address: '127.0.0.1', family: 4 };
/** Every name leads to this machine, which may be reached. */
const toLoopback = {
  lookup: async () => [loopback],
  mayReach: (address: string) => address === '127.0.0.1',
};

async function serve(listener: RequestListener): Promise<number> {
  const server: Server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function openProxy(options: Partial<AllowProxyOptions> & Pick<AllowProxyOptions, 'hosts'>) {
  const socketPath = path.join(folder, `${closing.length}.sock`);
  const proxy = await createAllowProxy({ connect: toLoopback, ...options, socketPath });
  closing.push(proxy.close);
  return proxy;
}

/** Sends these bytes to the proxy and gives everything that comes back until it ends the connection. */
async function say(socketPath: string, bytes: string): Promise<string> {
  const socket = connect(socketPath);
  socket.write(bytes);
  return text(socket);
}

const get = (url: string, more = ''): string =>
  `GET ${url} HTTP/1.1\r\nHost: ignored.test\r\nConnection: close\r\n${more}\r\n`;

test('T9 a declared host is reached by a whole address; hop-by-hop headers stay behind and Host is what was judged', async () => {
  let seen: IncomingMessage | undefined;
  let body = '';
  const port = await serve((asked, answer) => {
    seen = asked;
    void text(asked).then((all) => {
      body = all;
      answer.writeHead(
        201,
        'Made',
        [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['Connection', 'x-own'],
          ['X-Own', '1'],
          ['X-Kept', 'yes'],
        ].flat(),
      );
      answer.end('done');
    });
  });
  const { socketPath } = await openProxy({ hosts: ['*.example.com'], ports: [port] });
  const said = await say(
    socketPath,
    `POST http://api.example.com:${port}/a?b=c#d HTTP/1.1\r\nHost: other.example.net\r\nConnection: close, X-Mine\r\n` +
      'X-Mine: 1\r\nX-Through: 2\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\n' +
      'Upgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  );
  assert.equal(body, 'hello');
  assert.equal(seen?.url, '/a?b=c');
  assert.deepEqual(seen?.headers, {
    host: `api.example.com:${port}`,
    'x-through': '2',
    'transfer-encoding': 'chunked',
    connection: 'close',
  });
  const [head = ''] = said.split('\r\n\r\n');
  assert.match(head, /^HTTP\/1\.1 201 Made\r\n/);
  assert.match(head, /set-cookie: a=1\r\nset-cookie: b=2/i);
  assert.match(head, /x-kept: yes/i);
  assert.doesNotMatch(head, /x-own/i);
  assert.match(said, /done/);
});

test('T9 CONNECT opens a tunnel to a declared host: bytes go both ways, those sent along at once too', async () => {
  const tcp = createTcpServer((socket) => socket.on('data', (data) => socket.end(`echo ${String(data)}`)));
  await once(tcp.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => new Promise((resolve) => tcp.close(resolve)));
  const { port } = tcp.address() as AddressInfo;
  const { socketPath } = await openProxy({ hosts: ['api.example.com'], ports: [port] });
  const said = await say(socketPath, `CONNECT api.example.com:${port} HTTP/1.1\r\nHost: x\r\n\r\nearly`);
  assert.equal(said, 'HTTP/1.1 200 Connection established\r\n\r\necho early');
});

test('T9 curl goes through it, and shows why it was refused', async (context) => {
  const run = promisify(execFile);
  const known = await run('curl', ['--version']).then(
    () => true,
    () => false,
  );
  if (!known) return context.skip('curl is not installed');
  const port = await serve((_, answer) => answer.end('through'));
  const { socketPath } = await openProxy({ hosts: ['api.example.com'], ports: [port] });
  // curl speaks to an HTTP proxy over TCP: a sandbox forwards a port of its own to the socket as this does.
  const bridge = createTcpServer((socket) => {
    const inner = connect(socketPath);
    for (const each of [socket, inner]) each.on('error', () => each.destroy());
    socket.pipe(inner).pipe(socket);
  });
  await once(bridge.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => new Promise((resolve) => bridge.close(resolve)));
  const proxy = `http://127.0.0.1:${(bridge.address() as AddressInfo).port}`;
  const curl = (...args: string[]) => run('curl', ['-sS', '--noproxy', '', '-x', proxy, ...args]);
  assert.equal((await curl(`http://api.example.com:${port}/`)).stdout, 'through');
  assert.equal((await curl('-p', `http://api.example.com:${port}/`)).stdout, 'through');
  const refused = await curl('http://other.example.com/');
  assert.match(refused.stdout, /other\.example\.com is not declared\. .*network: \[other\.example\.com\]/);
  await assert.rejects(curl('https://other.example.com/'), /403/);
});

for (const [name, authority, says] of [
  [
    'an undeclared host',
    'evil.test',
    /403 evil\.test is not declared[\s\S]*SKILL\.md[\s\S]*network: \[evil\.test\]/,
  ],
  ['the parent of a declared name', 'example.com', /403 example\.com is not declared/],
  ['an address', '127.0.0.1', /403 addresses are refused/],
  ['a decimal address', '2130706433', /403 addresses are refused/],
  ['an octal address', '0177.0.0.1', /403 addresses are refused/],
  ['a hexadecimal address', '0x7f.0.0.1', /403 addresses are refused/],
  ['a short address', '127.1', /403 addresses are refused/],
  ['an IPv6 address', '[::1]', /403 addresses are refused/],
  ['a mapped address', '[::ffff:169.254.169.254]', /403 addresses are refused/],
  ['a public address', '8.8.8.8', /403 addresses are refused/],
  ['localhost', 'localhost', /403 localhost is not declared/],
  ['credentials before the host', 'user:x@a.example.com', /400/],
] as const) {
  test(`T9 ${name} is refused with what to do, by GET and by CONNECT`, async () => {
    const { socketPath } = await openProxy({
      hosts: ['*.example.com', '*', '127.0.0.1'],
      connect: { lookup: () => assert.fail('nothing may be looked up') },
    });
    assert.match(await say(socketPath, get(`http://${authority}/`)), says);
    assert.match(await say(socketPath, `CONNECT ${authority}:443 HTTP/1.1\r\nHost: x\r\n\r\n`), says);
  });
}

test('T9 only ports 80 and 443, and the ports of other protocols are refused', async () => {
  const { socketPath } = await openProxy({ hosts: ['api.example.com'] });
  for (const port of [22, 25, 8080, 6379]) {
    const says = new RegExp(`403 port ${port} is refused[\\s\\S]*80 and 443`);
    assert.match(await say(socketPath, get(`http://api.example.com:${port}/`)), says);
    assert.match(await say(socketPath, `CONNECT api.example.com:${port} HTTP/1.1\r\nHost: x\r\n\r\n`), says);
  }
});

test('T9 a declared name that leads to a private address is refused (checked as T3)', async () => {
  for (const address of ['10.0.0.5', '169.254.169.254', '127.0.0.1']) {
    const { socketPath } = await openProxy({
      hosts: ['api.example.com'],
      connect: { lookup: async () => [{ address, family: 4 }] },
    });
    for (const bytes of [
      get('http://api.example.com/'),
      'CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    ]) {
      const said = await say(socketPath, bytes);
      assert.match(said, /403 api\.example\.com leads to an address that is not on the public internet/);
      assert.ok(!said.includes(address));
    }
  }
});

test('T9 what is no proxy request is answered: an own path, https in a whole address, broken CONNECTs', async () => {
  const { socketPath } = await openProxy({ hosts: ['api.example.com'] });
  for (const bytes of [
    get('/'),
    get('https://api.example.com/'),
    get('ftp://api.example.com/'),
    get('http://'),
    'CONNECT api.example.com HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT api.example.com:99999 HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT http://api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
  ])
    assert.match(await say(socketPath, bytes), /^HTTP\/1\.1 400 /, bytes);
});

test('T9 limits: header size, time for headers, idle time, connections', async () => {
  const held: Socket[] = [];
  const tcp = createTcpServer((socket) => held.push(socket.on('error', () => socket.destroy())));
  await once(tcp.listen(0, '127.0.0.1'), 'listening');
  closing.push(async () => {
    for (const socket of held) socket.destroy();
    await new Promise((resolve) => tcp.close(resolve));
  });
  const { port } = tcp.address() as AddressInfo;
  // Each by itself: one that is short must not end what is tried of another.
  const limited = async (limits: NonNullable<Parameters<typeof openProxy>[0]['limits']>) =>
    (await openProxy({ hosts: ['api.example.com'], ports: [port], limits })).socketPath;
  const large = get('http://api.example.com/', `X: ${'x'.repeat(3_000)}\r\n`);
  assert.match(await say(await limited({ headerBytes: 2_000 }), large), /^HTTP\/1\.1 431 /);
  const slow = 'GET http://api.example.com/ HTTP/1.1\r\nX: ';
  assert.match(await say(await limited({ headersMs: 100 }), slow), /^HTTP\/1\.1 408 /);

  const tunnel = `CONNECT api.example.com:${port} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const dig = async (socketPath: string): Promise<Socket> => {
    const socket = connect(socketPath);
    socket.write(tunnel);
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200/);
    return socket;
  };
  const few = await limited({ connections: 2 });
  const open = await Promise.all([dig(few), dig(few)]);
  assert.match(await say(few, tunnel), /503 too many connections[\s\S]*At most 2/);
  for (const socket of open) socket.destroy();

  // Nobody says anything: both ends are closed, and there is room again.
  const idle = await limited({ connections: 1, idleMs: 400 });
  const quiet = await dig(idle);
  await once(quiet.resume(), 'close');
  await Promise.all(held.map(async (socket) => socket.closed || once(socket.resume(), 'close')));
  (await dig(idle)).destroy();
});

test('T9 a host that breaks off is a 502, or a cut answer; a name that is not there a 502', async () => {
  const port = await serve((asked, answer) => {
    if (asked.url === '/late') answer.write('half', () => asked.socket.destroy());
    else asked.socket.destroy();
  });
  const { socketPath } = await openProxy({ hosts: ['api.example.com'], ports: [port] });
  assert.match(
    await say(socketPath, get(`http://api.example.com:${port}/`)),
    /^HTTP\/1\.1 502 the connection broke/,
  );
  const late = await say(socketPath, get(`http://api.example.com:${port}/late`));
  assert.match(late, /half/);
  assert.ok(!late.endsWith('0\r\n\r\n'), 'a cut answer must not look whole');

  const none = await openProxy({
    hosts: ['api.example.com'],
    connect: { lookup: () => Promise.reject(new Error('ENOTFOUND')) },
  });
  assert.match(
    await say(none.socketPath, get('http://api.example.com/')),
    /502 there is no host api\.example\.com/,
  );
});

test('T9 the socket is private to its owner, closing ends what is open and removes it; refusals are logged', async () => {
  const tcp = createTcpServer();
  await once(tcp.listen(0, '127.0.0.1'), 'listening');
  const { port } = tcp.address() as AddressInfo;
  const log = quietLog();
  const proxy = await openProxy({ hosts: ['api.example.com'], ports: [port], log });
  assert.equal((await stat(proxy.socketPath)).mode & 0o777, 0o600);
  await say(proxy.socketPath, get('http://evil.test/'));
  assert.deepEqual(log.lines[0]?.fields, {
    asked: 'http://evil.test/',
    refused: 'evil.test is not declared',
  });

  const client = connect(proxy.socketPath);
  client.write(`CONNECT api.example.com:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(client, 'data');
  const ended = once(client.resume(), 'close');
  await proxy.close();
  await ended;
  await assert.rejects(stat(proxy.socketPath), { code: 'ENOENT' });
  await new Promise((resolve) => tcp.close(resolve));
});
