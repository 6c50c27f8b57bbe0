import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { renderEnvelope } from '../../../src/core/envelope.ts';
import { createRedactor } from '../../../src/lib/redaction/redact.ts';
import { silentMs } from '../../../src/features/mcp/create-lasting-link.ts';
import { createEndWithUs } from '../../../src/lib/processes/end-with-us.ts';
import { createFlowMeter } from '../../../src/features/mcp/limited-fetch.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { away, connected, isGone, listen, openServers } from '../../servers/mcp/open-servers.ts';
import { until } from '../../support/until.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { serveTools } from '../../servers/mcp/start-http-server.ts';
import { listedTool, roughServer } from '../../servers/mcp/tool-files.ts';
import { toolContext } from '../../support/tool-context.ts';

const secret = 'sk-rough-0123456789';
const redact = createRedactor([{ name: 'KEY', value: secret }]);

/** A connected server that goes its own way, and why it was given up once it was. */
async function rough(t: TestContext, toml: string) {
  const set = await openServers(t, `[mcp.f]\n${toml}`, { redact });
  await set.start();
  const why = async (): Promise<string> => String((await set.said(away)).fields['why']);
  return { ...set, why };
}

for (const [how, much] of [
  ['babble', /it sent more than 6000 messages within a minute/],
  ['notify', /it sent more than 6000 messages within a minute/],
  ['complain', /it sent more than \d+ bytes within a minute/],
  ['rich', /it sent more than 100000 values at once/],
  ['richer', /it sent more than 1000000 values within a minute/],
] as const)
  test(`X7 a server that floods (${how}) is ended, and the reason is told`, async (t) => {
    const { said, call, why } = await rough(t, roughServer(how));
    await said(connected);
    assert.match(await call('mcp_f_echo'), /TOOL_FAILED.*whether it was carried out is not known/);
    assert.match(await why(), much);
  });

test('X7 what a server may send is counted anew each minute', async () => {
  const clock = createManualClock();
  const flow = createFlowMeter(clock);
  for (let n = 0; n < 6_000; n++) assert.equal(flow(1, 1), undefined);
  assert.match(flow(1, 1) ?? '', /6000 messages/);
  await clock.advance(60_000);
  assert.equal(flow(1, 40 * 1024 * 1024), undefined);
  assert.match(flow(1, 40 * 1024 * 1024) ?? '', /bytes/);
});

test('X7 a server that hangs is given up once a call was, and started anew', async (t) => {
  const { said, call, why, clock } = await rough(t, roughServer('hang'));
  await said(connected);
  const late = call('mcp_f_echo');
  await clock.advance(silentMs);
  assert.match(await late, /error TIMEOUT/);
  await clock.advance(10_000);
  assert.match(await why(), /it gives no sign of life: no answer within 10 s/);
  await clock.advance(1_000);
  await said(connected, 2);
});

test('X7 answers that are none: a call is told, a list keeps the server away', async (t) => {
  const one = await rough(t, roughServer('words'));
  await one.said(connected);
  const late = one.call('mcp_f_echo');
  await one.clock.advance(silentMs);
  assert.match(await late, /^error TIMEOUT/);
  const other = await rough(t, roughServer('list'));
  assert.match(await other.why(), /tools/);
  assert.deepEqual(other.names(), []);
});

test('X7 an error of the code -32000 is the answer of a server that is still there', async (t) => {
  const { said, call, log } = await rough(t, roughServer('refuse'));
  await said(connected);
  for (let again = 0; again < 2; again++)
    assert.match(
      await call('mcp_f_echo'),
      /^error TOOL_FAILED: [^\n]*refused[^\n]*\n<output[^\n]*\n.*shelf is locked/,
    );
  assert.ok(!log.lines.some(({ level }) => level === 'warn'));
});

test('X7 a tool whose schema is nested too deep is left out, and no other tool with it', async (t) => {
  const { said, names } = await rough(t, roughServer('deep'));
  await said(connected);
  assert.deepEqual(names(), ['mcp_f_echo']);
});

test('X7 S2 of a server’s last words the end is told, without secrets', async (t) => {
  const { said, call, why } = await rough(t, roughServer('last-words'));
  await said(connected);
  await call('mcp_f_echo');
  const told = await why();
  assert.match(told, /its last words are: key \[redacted KEY\] is no key$/);
});

test('X7 a tool that changes while it is called: the call goes on, the next one is refused', async (t) => {
  const script = await serveTools(t, { tools: [listedTool('turn')] });
  const { said, find, names, off, call } = await rough(t, script.toml);
  await said(connected);
  const before = find('mcp_f_turn');
  assert.match(await call('mcp_f_turn'), /\nturned\n/);
  await until(() => off.length > 0);
  assert.deepEqual(names(), []);
  assert.match(
    renderEnvelope(await before.run({}, toolContext())),
    /TOOL_POLICY_DENIED: mcp_f_turn was changed by its server/,
  );
});

/** A server over HTTP that greets, lists nothing, and answers the wish for a stream in this way. */
async function streaming(t: TestContext, stream: (response: ServerResponse) => void) {
  const url = await listen(
    t,
    createServer((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return stream(response);
      }
      void text(request).then((body) => {
        const { id, method } = JSON.parse(body) as { id?: number; method?: string };
        if (id === undefined) return response.writeHead(202).end();
        const greeting = { protocolVersion: '2025-06-18', serverInfo: { name: 'rough', version: '1' } };
        const result = method === 'initialize' ? { ...greeting, capabilities: {} } : {};
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
    }),
  );
  return rough(t, `url = "${url}"\n`);
}

test('X7 a stream over HTTP that floods, or wants to be opened again and again, ends the connection', async (t) => {
  const events = 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'.repeat(500);
  const pump = (response: ServerResponse): void => {
    while (!response.destroyed && response.write(events));
    response.once('drain', () => pump(response));
  };
  let opened = 0;
  // Nothing is sent but how soon to ask again.
  const again = (response: ServerResponse): void =>
    void response.end((opened += 1) === 1 ? 'retry: 0\nid: 1\ndata: \n\n' : '');
  for (const stream of [pump, again]) {
    const { said, why } = await streaming(t, stream);
    await said(connected);
    assert.match(await why(), /it sent more than 6000 messages within a minute/);
  }
});

/** A server over HTTP that answers each request in this way. */
async function answering(t: TestContext, answer: (response: ServerResponse) => void) {
  const url = await listen(
    t,
    createServer((request, response) => void text(request).then(() => answer(response))),
  );
  return rough(t, `url = "${url}"\n`);
}

for (const [what, answer, why] of [
  [
    'a page',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome</p>'),
    /Unexpected content type: text\/html/,
  ],
  ['no MCP', (response) => response.writeHead(404).end('no such page'), /no such page/],
  [
    'JSON that is no message',
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":1}'),
    /invalid/i,
  ],
  [
    'more values than are taken',
    (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"result":{"list":[${'0,'.repeat(200_000)}0]}}`),
    /it sent more than 100000 values at once/,
  ],
  [
    'what is no JSON',
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('hello'),
    /JSON/,
  ],
] as const satisfies readonly (readonly [string, (response: ServerResponse) => void, RegExp])[])
  test(`X7 a server over HTTP that answers ${what} stays away, and why is told`, async (t) => {
    const set = await answering(t, answer);
    assert.match(await set.why(), why);
  });

test('X7 S2 an error as long as a book is told in short, without secrets', async (t) => {
  const set = await answering(t, (response) => {
    response.writeHead(500).end(`${secret} `.repeat(100_000));
  });
  const { why } = await until(() => set.servers().states()['f']?.is === 'lost').then(() => {
    const state = set.servers().states()['f'];
    return state?.is === 'lost' ? state : assert.fail('it is not lost');
  });
  assert.ok(why.length <= 2_000 && why.includes('[redacted KEY]'), why.slice(0, 200));
  assert.doesNotMatch(why, /sk-rough/);
});

test('X7 what is to end with this process hangs on one listener and one shell, however much it is', async () => {
  const before = process.listenerCount('exit');
  const log = quietLog();
  const endWithUs = createEndWithUs(log);
  const others = Array.from({ length: 20 }, () => spawn('sleep', ['100'], { detached: true }));
  const forgets = others.map(({ pid }) => endWithUs(pid ?? assert.fail('it did not start')));
  assert.equal(process.listenerCount('exit'), before + 1);
  for (const forget of forgets) forget();
  assert.equal(process.listenerCount('exit'), before);
  const ends = others.map((one) => once(one, 'exit'));
  for (const { pid } of others) process.kill(-(pid ?? 0), 'SIGTERM');
  for (const [, signal] of await Promise.all(ends)) assert.equal(signal, 'SIGTERM', 'it was ended by us');
  assert.deepEqual(log.lines, []);
});

for (const [how, end] of [
  ['ends at once', 'process.exit(0)'],
  ['is killed', 'process.kill(process.pid, "SIGKILL")'],
] as const)
  test(`X7 a bot that ${how} takes its servers along, and what they started, whatever they ignore`, async () => {
    const source = path.join(import.meta.dirname, '../../../src');
    const program = `import { createEndWithUs } from ${JSON.stringify(`${source}/lib/processes/end-with-us.ts`)};
      import { processTransport } from ${JSON.stringify(`${source}/features/mcp/process-transport.ts`)};
      import { writeSync } from 'node:fs';
      const silent = { warn() {} };
      const transport = processTransport({
        command: 'sh', args: ['-c', 'trap "" TERM HUP PIPE; sleep 100 & echo $$ $! >&2; while :; do sleep 100; done'],
        env: { PATH: process.env.PATH }, cwd: '/',
        redact: (text) => text, onTooMuch() {}, endWithUs: createEndWithUs(silent),
      });
      await transport.start();
      while (!transport.lastWords().endsWith('\\n')) await new Promise((resolve) => setImmediate(resolve));
      writeSync(1, transport.lastWords());
      ${end};`;
    const bot = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program]);
    const [said] = await Promise.all([text(bot.stdout), once(bot, 'exit')]);
    const pids = said.trim().split(' ').map(Number);
    assert.equal(pids.length, 2, said);
    for (const pid of pids) await until(() => isGone(pid));
  });
