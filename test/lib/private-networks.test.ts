import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectChecked } from '../../src/lib/net/connect-checked.ts';
import { judgeTarget } from '../../src/lib/net/judge-target.ts';
import { mayReachWith, wrongNetwork } from '../../src/lib/net/private-networks.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { startConnectProxy } from '../servers/connect-proxy.ts';

test('T3 T9 private networks allow what they name, never a metadata service that is not named itself', () => {
  const allowed = (networks: readonly string[], address: string, host = 'a.example') =>
    mayReachWith(networks)(address, host);
  for (const [networks, address, expected] of [
    [[], '10.0.0.1', false],
    [[], '93.184.216.34', true],
    [['10.0.0.0/8'], '10.0.0.1', true],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', true],
    [['10.0.0.0/8'], '192.168.0.1', false],
    [['10.0.0.0/8'], '127.0.0.1', false],
    [['192.168.0.7'], '192.168.0.7', true],
    [['192.168.0.7'], '192.168.0.8', false],
    [['fd00::/8'], 'fd12::1', true],
    [['fd00::/8'], 'fd00:ec2::254', false],
    [['fd00:ec2::254'], 'fd00:ec2::254', true],
    [['169.0.0.0/8'], '169.254.169.254', false],
    [['169.254.0.0/16'], '169.254.169.254', false],
    [['169.254.0.0/16'], '::ffff:169.254.169.254', false],
    [['169.254.169.254'], '169.254.169.254', true],
    [['169.254.169.254'], '169.254.170.2', false],
    [['100.64.0.0/10'], '100.100.100.200', false],
    [['168.63.0.0/16', '192.0.0.0/8'], '168.63.129.16', false],
    [['192.0.0.0/8'], '192.0.0.192', false],
    [['fe80::/10'], 'fe80::1', false],
    [['0.0.0.0/8'], '0.0.0.0', false],
    [['224.0.0.0/8'], '224.0.0.1', false],
  ] as const)
    assert.equal(allowed(networks, address), expected, `${networks.join()} ${address}`);
  const named = ['jira.corp.example', '*.lab.example'];
  assert.equal(allowed(named, '10.0.0.1', 'jira.corp.example'), true);
  assert.equal(allowed(named, '10.0.0.1', 'JIRA.corp.example.'), true);
  assert.equal(allowed(named, '10.0.0.1', 'x.lab.example'), true);
  assert.equal(allowed(named, '10.0.0.1', 'evil.example'), false);
  assert.equal(allowed(named, '169.254.169.254', 'jira.corp.example'), false);
});

test('G2 private_networks and network take what can be meant, and say what is wrong', () => {
  for (const good of ['10.0.0.0/8', '10.1.2.3', 'fd00::/8', 'jira', 'jira.corp.example', '*.lab.example'])
    assert.equal(wrongNetwork(good), undefined, good);
  for (const bad of ['*', '0.0.0.0/0', '10.0.0.0/33', '10.0.0/8', '::/0', 'http://jira', 'jira:80', ''])
    assert.notEqual(wrongNetwork(bad), undefined, bad);
  const parsed = (networks: string, network: string) =>
    parseConfig(`[sandbox]\nprivate_networks = ${networks}\n[skills.dice]\nnetwork = ${network}\n`, {
      env: {},
    });
  const good =
    '["jira", "jira.corp.example:8443", "*.example.com:8080", "10.0.0.7", "10.0.0.7:8080", "[fd00::7]:80"]';
  const fine = parsed('["10.0.0.0/8", "fd00::/8"]', good);
  assert.ok(fine.ok, JSON.stringify(fine));
  const unlisted = parsed('[]', '["10.0.0.7"]');
  assert.match(JSON.stringify(unlisted), /private_networks, such as/);
  for (const bad of [
    '"*"',
    '"a:0"',
    '"a:99999"',
    '"10.0.0.0/8"',
    '"http://a.example"',
    '"a.example:x"',
    '"a b"',
  ])
    assert.equal(parsed('["10.0.0.0/8"]', `[${bad}]`).ok, false, bad);
});

test('T9 a declared port is that one alone, a declared address that one alone', () => {
  const hosts = ['jira:8080', 'api.example.com', '10.0.0.7:8080', '[fd00::7]:9000'];
  const mayReach = mayReachWith(['10.0.0.0/8', 'fd00::/8']);
  const judged = (url: string) =>
    judgeTarget(new URL(url), { hosts, ports: [80, 443], howToAllow: (host) => `name ${host}`, mayReach }).ok;
  for (const url of [
    'http://jira:8080',
    'https://api.example.com',
    'http://10.0.0.7:8080',
    'http://[fd00::7]:9000',
  ])
    assert.equal(judged(url), true, url);
  for (const url of [
    'http://jira',
    'https://api.example.com:8080',
    'http://10.0.0.7',
    'http://10.0.0.8:8080',
    'http://[fd00::8]:9000',
  ])
    assert.equal(judged(url), false, url);
});

test('T3 T9 a proxy gets the checked address, and nothing that may not be reached', async (t) => {
  const proxy = await startConnectProxy(
    new Map([
      ['93.184.216.34', 1],
      ['known.example', 1],
    ]),
  );
  t.after(proxy.close);
  const places = new Map([
    ['public.example', ['93.184.216.34']],
    ['inner.example', ['10.0.0.1']],
    ['both.example', ['93.184.216.34', '127.0.0.1']],
    ['meta.example', ['169.254.169.254']],
  ]);
  const answers: string[] = [];
  const lookup = async (host: string) => {
    answers.push(host);
    return (places.get(host) ?? []).map((address) => ({ address, family: 4 as const }));
  };
  const ask = async (host: string, proxyResolves = false) => {
    const made = await connectChecked(host, 443, { proxy: () => new URL(proxy.url), proxyResolves, lookup });
    if (made.ok) made.socket.destroy();
    return made.ok ? 'ok' : made.code;
  };
  assert.equal(await ask('public.example'), 'ok');
  assert.deepEqual(proxy.asked, ['CONNECT 93.184.216.34:443']);
  // Looked up once: what DNS says later is asked of nobody.
  assert.deepEqual(answers, ['public.example']);
  for (const resolves of [false, true])
    for (const host of [
      'inner.example',
      'both.example',
      'meta.example',
      '127.0.0.1',
      '10.0.0.1',
      '::1',
      '169.254.169.254',
    ])
      assert.equal(await ask(host, resolves), 'refused', host);
  assert.equal(await ask('known.example'), 'not_found');
  assert.equal(proxy.asked.length, 1);
  assert.equal(await ask('known.example', true), 'ok');
  assert.equal(proxy.asked.at(-1), 'CONNECT known.example:443');
  assert.equal(await ask('unknown.example', true), 'unreachable');
});

test('T3 a proxy that refuses, wants another login, talks nonsense or is silent is named, without its password', async (t) => {
  const proxy = await startConnectProxy(new Map(), { login: 'a:right' });
  t.after(proxy.close);
  const wrong = proxy.url.replace('//', '//a:wrong-word@');
  const lookup = async () => [{ address: '93.184.216.34', family: 4 as const }];
  const made = await connectChecked('a.example', 443, { proxy: () => new URL(wrong), lookup });
  assert.match(JSON.stringify(made), /the proxy 127\.0\.0\.1:\d+ wants another user or password/);
  assert.doesNotMatch(JSON.stringify(made), /wrong-word/);
  const closed = await connectChecked('a.example', 443, {
    proxy: () => new URL('http://127.0.0.1:1'),
    lookup,
  });
  assert.match(JSON.stringify(closed), /takes no connection/);
});
