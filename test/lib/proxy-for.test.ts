import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noProxyText, proxiesOf, proxyForUrl } from '../../src/lib/net/proxy-for.ts';

const env = { HTTP_PROXY: 'http://plain:3128', HTTPS_PROXY: 'proxy.corp:3128' };
const way = (url: string, more: Readonly<Record<string, string>> = {}): string | undefined =>
  proxyForUrl(new URL(url), proxiesOf({ ...env, ...more }))?.host;

test('G5 each scheme has its proxy, lower case wins, and this machine is reached directly', () => {
  assert.equal(way('https://api.telegram.org'), 'proxy.corp:3128');
  assert.equal(way('wss://wss.slack.com/link'), 'proxy.corp:3128');
  assert.equal(way('http://example.com'), 'plain:3128');
  assert.equal(way('https://example.com', { https_proxy: 'http://other:1' }), 'other:1');
  for (const url of [
    'http://localhost:11434',
    'https://127.0.0.1',
    'http://[::1]:80',
    'http://app.localhost',
  ])
    assert.equal(way(url), undefined, url);
  const one = proxiesOf({ http_proxy: 'http://one:1' });
  assert.equal(proxyForUrl(new URL('https://example.com'), one)?.host, 'one:1');
  assert.equal(proxyForUrl(new URL('https://example.com'), proxiesOf({ HTTPS_PROXY: '' })), undefined);
  for (const bad of ['socks5://p:1', 'http://', 'ht tp://p'])
    assert.throws(() => proxiesOf({ HTTPS_PROXY: bad }), /HTTPS_PROXY is no address of an HTTP proxy/, bad);
});

test('G5 NO_PROXY: names with what is below them, ports, addresses, ranges, and *', () => {
  for (const [entry, url, isDirect] of [
    ['corp.example', 'https://jira.corp.example', true],
    ['.corp.example', 'https://corp.example', true],
    ['*.corp.example', 'https://a.b.corp.example', true],
    ['CORP.example.', 'https://Jira.Corp.Example.', true],
    ['corp.example', 'https://notcorp.example', false],
    ['corp.example:8443', 'https://jira.corp.example:8443', true],
    ['corp.example:8443', 'https://jira.corp.example', false],
    ['10.0.0.0/8', 'http://10.1.2.3:8000', true],
    ['10.0.0.0/8', 'http://11.1.2.3', false],
    ['10.0.0.0/8:8000', 'http://10.1.2.3', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['[fd12::1]:80', 'http://[fd12::1]', true],
    ['fd12::1', 'http://[fd12::1]', true],
    ['192.168.0.7', 'http://192.168.0.7', true],
    ['0.0.7', 'http://192.168.0.7', false],
    ['other.example, *', 'https://example.com', true],
    ['other.example corp.example', 'https://corp.example', true],
  ] as const)
    assert.equal(way(url, { NO_PROXY: entry }) === undefined, isDirect, `${entry} ${url}`);
});

test('G5 what Node is told of NO_PROXY has no ranges, but the addresses of the config in them', () => {
  const proxies = proxiesOf({ ...env, NO_PROXY: '.corp.example:8443,10.0.0.0/8,fd00::/8' });
  assert.equal(
    noProxyText(proxies, ['10.1.2.3', '11.1.2.3', 'fd12::1']),
    'localhost,127.0.0.1,[::1],corp.example:8443,10.1.2.3,[fd12::1]',
  );
  assert.equal(noProxyText(proxiesOf({ NO_PROXY: 'a,*' }), []), '*');
});
