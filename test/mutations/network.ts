import { changesOf } from './changes-of.ts';

/** The ways to the internet: no address of the inside, declared hosts only (T3, T9). */
export const networkMutations = [
  ...changesOf('lib/net/connect-checked.ts', 'lib/is-public-address.test.ts', [
    ['private 10/8 counts as public', "['10.0.0.0', 8],", "['10.0.0.0', 9],"],
    ['link-local counts as public', "['169.254.0.0', 16],", "['169.254.0.0', 24],"],
    ['loopback counts as public', "['127.0.0.0', 8],", "['127.0.0.0', 16],"],
    ['private 172.16/12 counts as public', "['172.16.0.0', 12],", "['172.16.0.0', 16],"],
    ['private 192.168/16 counts as public', "['192.168.0.0', 16],", "['192.168.0.0', 24],"],
    ['carrier addresses count as public', "['100.64.0.0', 10],", "['100.64.0.0', 16],"],
    ['6to4 counts as public', "['2002::', 16],", "['2002::', 32],"],
    [
      'an unassigned IPv6 address counts as public',
      'assigned.check(address',
      'true || assigned.check(address',
    ],
    ['a zone in an address is passed over', " || address.includes('%')", ''],
    ['ISATAP counts as public', ' && !isIsatap(address)', ''],
  ]),
  ...changesOf('lib/net/connect-checked.ts', 'lib/connect-checked.test.ts', [
    ['one public address of several is enough', '!found.every(', '!found.some('],
    [
      'addresses are not judged',
      'if (!found.every(({ address }) => mayReach(address, host))) {',
      'if (false) {',
    ],
    ['a second look-up decides', 'lookup: (_host, _options, callback) => callback(null, [...found]),', ''],
  ]),
  ...changesOf('lib/net/create-allow-proxy.ts', 'lib/create-allow-proxy.test.ts', [
    ['the proxy judges nothing', 'if (!target.ok) return turnDown(asked, refuse, target);', ''],
    ['the socket of the proxy is open to others', 'await chmod(socketPath, 0o600);', ''],
    ['CONNECT takes a whole address', '/^[^/?#@\\s\\\\]+:\\d{1,5}$/.test(url)', 'true'],
    [
      'credentials in an address pass',
      "url === null || url.username !== '' || url.password !== ''",
      'url === null',
    ],
  ]),
  ...changesOf('lib/net/http-request.ts', 'lib/http-request.test.ts', [
    [
      'a certificate of another host counts',
      'servername: isAddress ? undefined : host,',
      'rejectUnauthorized: false,',
    ],
    ['a body of any length is read', 'if (size > maxBytes) return', 'if (false) return'],
    [
      'a body that is not wanted is read',
      'const wanted = wants(status, came.headers);',
      'const wanted = true;',
    ],
    ['a body is one byte too long', '.subarray(0, maxBytes)', '.subarray(0, maxBytes + 1)'],
    [
      'an answer that trickles in is never given up',
      'const stopListening = onAbort(signal, end);',
      'const stopListening = () => undefined;',
    ],
    [
      'a fetch that was given up is a fault of the host',
      "    if (signal.aborted)\n      return { ok: false, code: 'cancelled'",
      "    if (false)\n      return { ok: false, code: 'cancelled'",
    ],
    [
      'the port of an address is passed over',
      "url.port === '' ? (secure ? 443 : 80) : Number(url.port)",
      'secure ? 443 : 80',
    ],
  ]),
  ...changesOf('lib/net/fetch-page.ts', 'tools/web-fetch.test.ts', [
    [
      'any kind of address is fetched',
      "if (url.protocol !== 'http:' && url.protocol !== 'https:') return",
      'if (false) return',
    ],
    ['credentials in an address are sent', "if (url.username !== '' || url.password !== '')", 'if (false)'],
    ['other services are asked as web servers', 'return isWeb ? undefined :', 'return true ? undefined :'],
    ['ports of other protocols are asked', 'port >= 1_024 && !otherProtocols.has(port)', 'port >= 1_024'],
    ['redirects have no end', 'hop <= mostRedirects;', 'hop <= 100;'],
    ['one redirect more is followed', 'hop <= mostRedirects;', 'hop <= mostRedirects + 1;'],
    ['a page may take any time', 'signal: AbortSignal.any([signal, timeout])', 'signal'],
    [
      'the address of a redirect is not checked',
      'connect: { ...connect, timeoutMs },',
      'connect: { ...connect, ...(hop > 0 ? { mayReach: () => true } : {}), timeoutMs },',
    ],
    ['a redirect that is not followed is a page', '[301, 302, 303, 307, 308]', '[301, 302]'],
  ]),
];
