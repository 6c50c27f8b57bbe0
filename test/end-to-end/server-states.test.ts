import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { BotStatus } from '../../src/operator/status-of.ts';
import { listedTool, makeToolFile } from '../servers/mcp/tool-files.ts';
import { freePort } from '../support/free-port.ts';
import { openCliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';
import { enter, openDashboard } from '../support/visit-dashboard.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const owner = '[bot]\nowner = ["telegram:42"]\nshutdown_seconds = 1\n';
const changed = { tools: [listedTool('echo', { description: 'Does echo, and more.' }), listedTool('add')] };

/** A server of HTTP that wants a sign-in, as those with OAuth do. */
async function signIn(t: TestContext): Promise<string> {
  const server = createServer((_, response) =>
    response
      .writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://example.com/x"' })
      .end('{"error":"invalid_token"}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `[mcp.tracker]\nurl = "http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp"\n`;
}

const refused = /it refuses the sign-in \(HTTP 401\): set its token in headers of this server/;

test('X7 L12 S8 a server that is away, one with a changed tool and a broken plugin are named in /status for owners alone, and on the page', async (t) => {
  const tools = await makeToolFile(t, { tools: [listedTool('echo'), listedTool('add')] });
  const set = await startWholeBot(t, {
    toml: `${owner}[access]\ndm = "open"\n[mcp.notes]\n${tools.toml}${await signIn(t)}[[plugins]]\npath = "./missing"\n`,
  });
  const ann = set.telegram.person({ name: 'Ann', id: 42 });
  const bob = set.telegram.person({ name: 'Bob', id: 7 });
  await set.log.line(({ fields }) => fields['server'] === 'notes' && fields['why'] === undefined);
  await tools.write(changed);
  await set.log.line(({ fields }) => fields['server'] === 'notes' && fields['off'] !== undefined);
  await set.log.line(({ fields }) => fields['server'] === 'tracker');
  ann.says('/status');
  const said = await ann.dm.nextMessage(/Model:/);
  assert.match(said.text, /The MCP server tracker is away since .*: it refuses the sign-in/);
  assert.match(said.text, /Tools of the MCP server notes that are off until you approve them: 1\./);
  assert.match(said.text, /missing/);
  bob.says('/status');
  assert.doesNotMatch((await bob.dm.nextMessage(/Model:/)).text, /MCP|missing/);
  const { servers, plugins } = await set.bot.operate('status');
  assert.deepEqual(
    servers.map(({ name, is, tools: on, waiting }) => [name, is, on, waiting]),
    [
      ['notes', 'connected', 1, 1],
      ['tracker', 'away', 0, 0],
    ],
  );
  assert.match(servers[1]?.why ?? '', refused);
  assert.equal(plugins.length, 1);
  const visitor = await enter((await openDashboard(t, set)).newLink());
  const page = (await visitor.get('/health')).body;
  assert.match(page, /MCP servers and plugins[^]*tracker[^]*away[^]*it refuses the sign-in/);
});

test('X7 L2 L4 L12 status, mcp list, doctor and /readyz say of each server how it is and since when, with a bot and without', async (t) => {
  const tools = await makeToolFile(t, { tools: [listedTool('echo')] });
  const home = await openCliHome(t);
  const port = await freePort();
  const toml = `${owner}[mcp.notes]\n${tools.toml}${await signIn(t)}[[skills.sources]]\nrepo = "acme/skills"\n[[skills.sources]]\nurl = "git@git.example.com:a/b.git"\n`;
  await home.write('config.toml', toml);
  const before = (await home.run(['mcp', 'list'])).stdout;
  assert.equal(
    before,
    'notes  no bot runs, and it was never connected\ntracker  no bot runs, and it was never connected\n',
  );
  const bot = await openRunningBot(t, home, `${toml}[server]\nlisten = "127.0.0.1:${port}"\n`);
  const states = async (): Promise<BotStatus['servers']> =>
    (JSON.parse((await home.run(['status', '--json'])).stdout) as BotStatus).servers;
  while ((await states()).some(({ is }) => is === 'connecting'));
  const screen = (await home.run(['status'])).stdout;
  assert.match(screen, /^mcp notes +connected since \d+ s, 1 tool$/m);
  assert.match(screen, /^mcp tracker +away since \d+ s, 0 tools: it refuses the sign-in/m);
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  assert.equal(ready.status, 200, 'the bot works without a server');
  const { mcp } = (await ready.json()) as Readonly<{
    mcp: Record<string, { state: string; reason?: string }>;
  }>;
  assert.deepEqual(
    Object.entries(mcp).map(([name, { state }]) => [name, state]),
    (await states()).map(({ name, is }) => [name, is]),
  );
  assert.match(mcp['tracker']?.reason ?? '', refused);
  const list = (await home.run(['mcp', 'list'])).stdout;
  assert.match(list, /^notes {2}connected since \d+ s$/m);
  assert.match(list, /^tracker {2}away since \d+ s: it refuses the sign-in/m);
  const doctor = (await home.run(['doctor'])).stdout;
  assert.match(doctor, /MCP_AWAY[^]*the MCP server tracker is away: it refuses the sign-in/);
  assert.doesNotMatch(doctor, /server notes is away/);
  await bot.end();
  assert.doesNotMatch((await home.run(['doctor'])).stdout, /MCP_AWAY/);
  const online = (await home.run(['doctor', '--online'], { env: { HTTPS_PROXY: 'http://127.0.0.1:9' } }))
    .stdout;
  assert.match(online, /notes 1 tools; tracker failed/);
  assert.match(online, /the MCP server tracker is away: it refuses the sign-in/);
  assert.match(online, /mcp tracker directly/);
  assert.match(online, /skills of acme\/skills by proxy 127\.0\.0\.1:9/);
  assert.match(online, /skills of git@git\.example\.com:a\/b\.git directly/);
});

test('X7 mcp list says how to begin where no server is configured', async (t) => {
  const home = await openCliHome(t);
  assert.equal(
    (await home.run(['mcp', 'list'])).stdout,
    'No MCP server is configured: [mcp.NAME] in config.toml names one.\n',
  );
});
