import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createAllowProxy, type AllowProxyOptions } from '../../src/lib/net/create-allow-proxy.ts';
import { startWebSite } from '../servers/web-site.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'skillet-way-out-'));
const asked: string[] = [];
const site = await startWebSite((request, answer) => {
  asked.push(`${request.headers.host} ${request.url}`);
  if (request.url === '/away') answer.writeHead(302, { location: 'http://evil.test/' }).end();
  else answer.end('reached');
});
const closing: (() => Promise<void>)[] = [site.close];
after(async () => {
  for (const close of closing.reverse()) await close();
  await rm(folder, { recursive: true, force: true });
});

/** A proxy as a skill that declares `api.example.com` gets it; gives what one connection to it says, to its end. */
async function wayOut(change: Partial<AllowProxyOptions> = {}): Promise<(bytes: string) => Promise<string>> {
  const proxy = await createAllowProxy({
    hosts: ['api.example.com'],
    ports: [80, 443, site.port],
    connect: site.connect,
    socketPath: path.join(folder, `${closing.length}.sock`),
    ...change,
  });
  closing.push(proxy.close);
  return async (bytes) => {
    const socket = connect(proxy.socketPath);
    socket.write(bytes, 'latin1');
    return text(socket);
  };
}

const declared = `http://api.example.com:${site.port}`;
const get = (url: string, last = true): string =>
  `GET ${url} HTTP/1.1\r\nHost: x\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;

test('S1 T9 a skill cannot reach a host it does not declare, behind a request that is allowed either', async () => {
  const say = await wayOut();
  asked.length = 0;
  const said = await say(get(`${declared}/`, false) + get('http://evil.test/'));
  assert.match(said, /reached[\s\S]*HTTP\/1\.1 403 evil\.test is not declared/);
  assert.deepEqual(asked, [`api.example.com:${site.port} /`]);
});

test('S1 T9 a redirect leads a skill to declared hosts only: it has to ask again', async () => {
  const say = await wayOut();
  const [, location = ''] = /location: (\S+)/i.exec(await say(get(`${declared}/away`))) ?? [];
  assert.equal(location, 'http://evil.test/');
  assert.match(await say(get(location)), /403 evil\.test is not declared/);
});

test('S1 T9 a request that can be read in two ways is refused', async () => {
  const say = await wayOut();
  asked.length = 0;
  const smuggled = 'GET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const framing of [
    `Content-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked`,
    `Content-Length: 0\r\nContent-Length: ${smuggled.length}`,
    'Transfer-Encoding : chunked',
    'Transfer-Encoding: chunked, identity',
    `Content-Length: +${smuggled.length}`,
  ]) {
    const said = await say(`POST ${declared}/ HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n${smuggled}`);
    assert.match(said, /^HTTP\/1\.1 400 /, framing);
  }
  assert.ok(!asked.some((line) => line.includes('evil')));
});

test('S1 T9 no spelling of an address or of two hosts at once gets past the list', async () => {
  const looked: string[] = [];
  const lookup = async (host: string) => {
    looked.push(host);
    return [{ address: '127.0.0.1', family: 4 as const }];
  };
  const say = await wayOut({ connect: { ...site.connect, lookup } });
  for (const authority of [
    'api.example.com@evil.test',
    'evil.test#api.example.com',
    'evil.test?api.example.com',
    'evil.test/api.example.com',
    'evil.test\\.api.example.com',
    'evil.test%2f.api.example.com',
    'evil.test%00.api.example.com',
    'evil.test\0.api.example.com',
    'api.example.com.evil.test',
    'xapi.example.com',
    'api.example.com:80.evil.test',
    'api.example.com,evil.test',
    '0177.0.0.1',
    '0x7f.1',
    '2130706433',
    '127.0.0.1.',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1%25lo]',
    '\uff11\uff12\uff17.0.0.1',
  ])
    for (const bytes of [
      get(`http://${authority}/`),
      get(`http://${authority}:${site.port}/`),
      `CONNECT ${authority}:${site.port} HTTP/1.1\r\nHost: api.example.com\r\n\r\n`,
    ])
      assert.match(await say(bytes), /^HTTP\/1\.1 (400|403) /, JSON.stringify(bytes));
  assert.deepEqual(looked, []);
});

test('S1 T9 a declared name that turns private between two requests is refused at the second', async () => {
  const addresses = ['127.0.0.1', '10.0.0.1'];
  const lookup = async () => [{ address: addresses.shift() ?? '10.0.0.1', family: 4 as const }];
  const say = await wayOut({ connect: { ...site.connect, lookup } });
  assert.match(await say(get(`${declared}/`)), /reached/);
  assert.match(await say(get(`${declared}/`)), /403 .*not on the public internet/);
});

test('S1 T9 inside a tunnel the proxy takes no orders', async () => {
  const say = await wayOut();
  asked.length = 0;
  const said = await say(
    `CONNECT api.example.com:${site.port} HTTP/1.1\r\nHost: x\r\n\r\n${get('http://evil.test/inner')}`,
  );
  assert.match(said, /^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK/);
  // The declared host itself got it, as it stands.
  assert.deepEqual(asked, ['x http://evil.test/inner']);
});

test('S1 T9 many connections that say nothing do not keep others out for long', async () => {
  const limits = { connections: 4, headersMs: 200 };
  const proxy = await createAllowProxy({
    hosts: ['api.example.com'],
    ports: [site.port],
    connect: site.connect,
    limits,
    socketPath: path.join(folder, 'many.sock'),
  });
  closing.push(proxy.close);
  const silent = Array.from({ length: 8 }, () => connect(proxy.socketPath).on('error', () => undefined));
  await Promise.all(silent.map((socket) => once(socket.resume(), 'close')));
  const ask = (): Promise<string> => {
    const socket = connect(proxy.socketPath);
    socket.write(get(`${declared}/`));
    return text(socket);
  };
  let said = await ask();
  // Where the machine stands still, the time for headers is over for this one, too.
  while (said.startsWith('HTTP/1.1 408')) said = await ask();
  assert.match(said, /reached/);
});
