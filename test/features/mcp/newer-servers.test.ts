import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersOfCall, readParamHeaders } from '../../../src/features/mcp/param-headers.ts';
import { connected, openServers } from '../../servers/mcp/open-servers.ts';
import { serveTools } from '../../servers/mcp/start-http-server.ts';
import { listedTool, roughServer } from '../../servers/mcp/tool-files.ts';
import { until } from '../../support/until.ts';

const newer = '2026-07-28';

/** A tool whose argument `region` is also wanted as a header. */
function routed(name: string, header: string) {
  const properties = { region: { type: 'string', 'x-mcp-header': header }, note: { type: 'string' } };
  return listedTool(name, { inputSchema: { type: 'object', properties } });
}

test('X9 a newer server is found by server/discover, has no session, and gets the headers that it needs', async (t) => {
  const server = await serveTools(
    t,
    { tools: [routed('echo', 'Region'), routed('bad', 'no header')] },
    newer,
  );
  const { start, said, names, call } = await openServers(t, `[mcp.f]\n${server.toml}`);
  await start();
  await said(connected);
  assert.deepEqual(names(), ['mcp_f_echo'], 'a tool with a malformed mark is not used');
  for (const region of ['north', 'Köln', ' padded ', '=?base64?eA==?='])
    assert.match(await call('mcp_f_echo', { region, note: 'x' }), /^What the MCP server answered/, region);
  assert.match(await call('mcp_f_echo', { note: 'no region' }), /"note":"no region"/);
  assert.equal(server.asked[0], 'server/discover');
  assert.ok(!server.asked.includes('initialize') && !server.asked.includes('ping'));
  for (const headers of server.seen) {
    assert.equal(headers['mcp-protocol-version'], newer);
    assert.equal(headers['mcp-session-id'], undefined);
  }
  const calls = server.seen.filter((headers) => headers['mcp-method'] === 'tools/call');
  assert.deepEqual([...new Set(calls.map((headers) => headers['mcp-name']))], ['echo']);
});

test('X9 which arguments go into headers is read from the schema, and a mark elsewhere makes the tool unusable', () => {
  const mark = { type: 'string', 'x-mcp-header': 'A' };
  const nested = { type: 'object', properties: { deep: { ...mark, 'x-mcp-header': 'Deep' } } };
  const headers = readParamHeaders({ type: 'object', properties: { a: mark, nested, 'x-mcp-header': {} } });
  assert.deepEqual(headersOfCall(headers, { a: 'x', nested: { deep: 'ü' } }), {
    'Mcp-Param-A': 'x',
    'Mcp-Param-Deep': '=?base64?w7w=?=',
  });
  assert.deepEqual(headersOfCall(headers, { a: { not: 'plain' }, nested: null }), {});
  for (const wrong of [
    { properties: { a: { type: 'object', 'x-mcp-header': 'A' } } },
    { properties: { a: { ...mark, 'x-mcp-header': 'A\r\nB' } } },
    { properties: { a: mark, b: { ...mark, 'x-mcp-header': 'a' } } },
    { properties: { a: { type: 'array', items: mark } } },
    { anyOf: [{ properties: { a: mark } }] },
    mark,
  ])
    assert.equal(readParamHeaders(wrong), undefined, JSON.stringify(wrong));
});

for (const [how, what] of [
  ['exits', 'ends at a question of the newer protocol is started once more'],
  ['silent', 'says nothing to a question of the newer protocol for ten seconds is asked again'],
] as const)
  test(`X9 a process that ${what}, in the older way`, async (t) => {
    const { start, said, names, log } = await openServers(t, `[mcp.f]\n${roughServer(how)}`);
    await start();
    await said(connected);
    assert.deepEqual(names(), ['mcp_f_echo']);
    assert.ok(!log.lines.some(({ level }) => level === 'warn'));
  });

test('X9 a list lasts as long as its server says, but is never read again within a minute for its age alone', async (t) => {
  const tools = [listedTool('echo')];
  const server = await serveTools(t, { tools, quiet: true, ttlMs: 1_000 }, newer);
  const { start, said, clock, off } = await openServers(t, `[mcp.f]\n${server.toml}`);
  await start();
  await said(connected);
  const lists = (): number => server.asked.filter((method) => method === 'tools/list').length;
  await server.write({ tools: [...tools, listedTool('late')], quiet: true, ttlMs: 1_000 });
  await clock.advance(59_999);
  assert.equal(lists(), 1);
  await clock.advance(1);
  await until(() => off.length > 0);
  assert.deepEqual(off, [['f', 'late new']], 'what came later is off until the operator agrees');
  assert.equal(lists(), 2);
});

test('X9 a server that announces changes is not asked again for the age of its list; its resources are kept that long', async (t) => {
  const resources = [{ listed: { uri: 'file:///a', name: 'a' } }];
  const server = await serveTools(t, { tools: [listedTool('echo')], resources, ttlMs: 90_000 }, newer);
  const { start, said, call, clock } = await openServers(t, `[mcp.f]\n${server.toml}`);
  await start();
  await said(connected);
  const lists = (kind: string): number => server.asked.filter((method) => method === `${kind}/list`).length;
  for (let again = 0; again < 3; again++) assert.match(await call('mcp_f_resources_list'), /file:\/\/\/a/);
  assert.equal(lists('resources'), 1);
  await clock.advance(90_000);
  await call('mcp_f_resources_list');
  assert.equal(lists('resources'), 2);
  assert.equal(lists('tools'), 1);
  const more = [...resources, { listed: { uri: 'file:///b', name: 'b' } }];
  await server.write({ tools: [listedTool('echo')], resources: more, ttlMs: 90_000 });
  await until(async () => /file:\/\/\/b/.test(await call('mcp_f_resources_list')));
});

test('X9 a stream of changes that ends is opened again, and what changed in between is read', async (t) => {
  const server = await serveTools(t, { tools: [listedTool('echo')] }, newer);
  const { start, said, clock, off } = await openServers(t, `[mcp.f]\n${server.toml}`);
  await start();
  await said(connected);
  const streams = (): number => server.asked.filter((method) => method === 'subscriptions/listen').length;
  await until(() => streams() === 1);
  await server.forget();
  // The look at the server comes first.
  await until(() => server.asked.filter((method) => method === 'server/discover').length === 2);
  await clock.advance(1_000);
  await until(() => streams() === 2);
  await server.write({ tools: [listedTool('echo'), listedTool('late')] });
  await clock.advance(1_000);
  await until(() => off.length > 0);
  assert.deepEqual(off, [['f', 'late new']]);
});
