import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from '../../src/lib/net/connect-checked.ts';

/** First and last address of each refused range, and its neighbours where those are public. */
const ranges: readonly Readonly<{ range: string; inside: readonly string[]; outside?: readonly string[] }>[] =
  [
    { range: '0/8', inside: ['0.0.0.0', '0.1.2.3', '0.255.255.255'], outside: ['1.0.0.0'] },
    {
      range: '10/8',
      inside: ['10.0.0.0', '10.1.2.3', '10.255.255.255'],
      outside: ['9.255.255.255', '11.0.0.0'],
    },
    {
      range: 'CGNAT',
      inside: ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
      outside: ['100.63.255.255', '100.128.0.0'],
    },
    {
      range: 'loopback',
      inside: ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
      outside: ['126.255.255.255', '128.0.0.0'],
    },
    { range: 'Azure wire server', inside: ['168.63.129.16'], outside: ['168.63.129.15', '168.63.129.17'] },
    {
      range: 'link-local',
      inside: ['169.254.0.0', '169.254.169.254', '169.254.170.2', '169.254.255.255'],
      outside: ['169.253.255.255', '169.255.0.0'],
    },
    {
      range: '172.16/12',
      inside: ['172.16.0.0', '172.17.0.1', '172.31.255.255'],
      outside: ['172.15.255.255', '172.32.0.0'],
    },
    {
      range: 'protocol assignments',
      inside: ['192.0.0.0', '192.0.0.192', '192.0.0.255'],
      outside: ['191.255.255.255', '192.0.1.0'],
    },
    { range: 'TEST-NET-1', inside: ['192.0.2.0', '192.0.2.255'], outside: ['192.0.1.255', '192.0.3.0'] },
    {
      range: '6to4 relays',
      inside: ['192.88.99.0', '192.88.99.255'],
      outside: ['192.88.98.255', '192.88.100.0'],
    },
    {
      range: '192.168/16',
      inside: ['192.168.0.0', '192.168.1.1', '192.168.255.255'],
      outside: ['192.167.255.255', '192.169.0.0'],
    },
    {
      range: 'benchmarks',
      inside: ['198.18.0.0', '198.19.255.255'],
      outside: ['198.17.255.255', '198.20.0.0'],
    },
    {
      range: 'TEST-NET-2',
      inside: ['198.51.100.0', '198.51.100.255'],
      outside: ['198.51.99.255', '198.51.101.0'],
    },
    {
      range: 'TEST-NET-3',
      inside: ['203.0.113.0', '203.0.113.255'],
      outside: ['203.0.112.255', '203.0.114.0'],
    },
    {
      range: 'multicast',
      inside: ['224.0.0.0', '224.0.0.251', '239.255.255.255'],
      outside: ['223.255.255.255'],
    },
    { range: 'reserved', inside: ['240.0.0.0', '255.255.255.254', '255.255.255.255'] },
    { range: 'unspecified and loopback', inside: ['::', '::1', '0:0:0:0:0:0:0:1'] },
    {
      range: 'IPv4-mapped, also of public addresses',
      inside: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::FFFF:A00:1', '::ffff:0:127.0.0.1'],
    },
    { range: 'IPv4-compatible', inside: ['::127.0.0.1', '::8.8.8.8', '::7f00:1'] },
    { range: 'NAT64', inside: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b::a9fe:a9fe'] },
    { range: 'local NAT64', inside: ['64:ff9b:1::', '64:ff9b:1::7f00:1', '64:ff9b:1:ffff:ffff:ffff:ffff:1'] },
    { range: 'discard', inside: ['100::', '100::1'] },
    {
      range: 'protocol assignments, IPv6',
      inside: ['2001::', '2001:1::1', '2001:20::1', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
      outside: ['2001:200::'],
    },
    { range: 'Teredo', inside: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:0:ffff::'] },
    {
      range: 'documentation',
      inside: ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
      outside: ['2001:db7::', '2001:db9::'],
    },
    {
      range: '6to4',
      inside: ['2002::', '2002:7f00:1::', '2002:808:808::1', '2002:a9fe:a9fe::'],
      outside: ['2003::1'],
    },
    {
      range: 'returned test networks',
      inside: ['3ffe::1', '3fff::1', '3fff:fff::1'],
      outside: ['3fff:1000::1'],
    },
    {
      range: 'ISATAP below a public prefix',
      inside: ['2a00:1450::5efe:127.0.0.1', '2a00:1450:1:2:0:5efe:7f00:1', '2a00:1450::200:5efe:a9fe:a9fe'],
      outside: ['2a00:1450::1:5efe:7f00:1', '2a00:1450:0:0:5efe::1'],
    },
    { range: 'segment routing', inside: ['5f00::1'] },
    {
      range: 'unique local',
      inside: ['fc00::', 'fd00:ec2::254', 'fd20:ce::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    },
    { range: 'link-local, IPv6', inside: ['fe80::1', 'fe80::a9fe:a9fe', 'febf::1', 'fe80::1%eth0'] },
    { range: 'site-local', inside: ['fec0::1', 'feff::1'] },
    { range: 'multicast, IPv6', inside: ['ff00::', 'ff02::1', 'ff0e::1'] },
    { range: 'never given out', inside: ['1::1', '200::1', '4000::1', '8000::1', 'e000::1'] },
    {
      range: 'no plain address',
      inside: [
        '',
        'localhost',
        '127.1',
        '2130706433',
        '0x7f000001',
        '1.2.3.4 ',
        '[::1]',
        '08.8.8.8',
        '8.8.8.8:80',
      ],
    },
    { range: 'public with a zone', inside: ['2a00:1450::1%eth0', '2606:4700:4700::1111%lo'] },
  ];

for (const { range, inside, outside = [] } of ranges) {
  test(`T3 refused: ${range}`, () => {
    for (const address of inside) assert.equal(isPublicAddress(address), false, address);
    for (const address of outside) assert.equal(isPublicAddress(address), true, address);
  });
}

test('T3 T9 ordinary addresses of the internet are reached', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '151.101.1.69',
    '192.0.66.2',
    '223.255.255.254',
    '2606:4700:4700::1111',
    '2a00:1450:4001:82f::200e',
    '2001:4860:4860::8888',
    '2620:fe::fe',
    '2400:cb00:2048:1::c629:d7a2',
  ])
    assert.equal(isPublicAddress(address), true, address);
});
