import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startConnectProxy, type ConnectProxy } from '../servers/connect-proxy.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { sandboxHere } from '../support/bubblewrap-here.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';

const portOf = (url: string): number => Number(new URL(url).port);

/** All that the bot talks to, under names that a proxy alone knows. */
async function openOutside(t: TestContext, scheme: 'http' | 'https') {
  const messages = await startMessagesServer({ script: () => 'Heard you.' });
  const telegram = await startTelegramServer();
  const slack = await startSlackServer({ named: `${scheme}://slack.invalid` });
  t.after(() => Promise.all([messages.close(), telegram.close(), slack.close()]));
  const hosts = new Map([
    ['model.invalid', portOf(messages.url)],
    ['telegram.invalid', portOf(telegram.url)],
    ['slack.invalid', slack.port],
  ]);
  const ann = telegram.person({ name: 'Ann' });
  const toml = `[bot]\nowner = ["telegram:${ann.id}"]
[telegram]\ntoken = "${telegram.token}"\napi_root = "${scheme}://telegram.invalid"
[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${scheme}://slack.invalid/api/"
[access]\nusers = ["slack:*"]
[models.default]\nmodel = "m"\nbase_url = "${scheme}://model.invalid"\napi_key = "key-0123456789"
${sandboxHere}`;
  return { hosts, ann, slack, toml };
}

/** Runs until it is stopped. */
function startBot(t: TestContext, { folder }: CliHome, env: Readonly<Record<string, string>>): () => string {
  const child = spawn(process.execPath, [cliPath, 'start'], {
    cwd: folder,
    env: { ...childEnv(folder), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(String(part)));
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    if (t.signal.aborted) console.error(said.join(''));
  });
  return () => said.join('');
}

async function assertAnswers(
  { ann, slack }: Awaited<ReturnType<typeof openOutside>>,
  { asked }: ConnectProxy,
): Promise<void> {
  ann.says('hello');
  await ann.dm.nextMessage('Heard you.');
  await slack.socket.greeted.untilCount(1);
  for (const name of ['telegram', 'slack', 'model'])
    assert.ok(
      asked.some((one) => one.includes(`${name}.invalid`)),
      `${name}: ${asked.join(', ')}`,
    );
}

test('G5 proxies of the environment count for Telegram, Slack with its sockets, and models', async (t) => {
  const outside = await openOutside(t, 'http');
  const proxy = await startConnectProxy(outside.hosts);
  t.after(proxy.close);
  const home = await openCliHome(t);
  await home.write('config.toml', outside.toml);
  startBot(t, home, { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
  await assertAnswers(outside, proxy);
});

test('G5 proxies of .env count, with a login, and the password is printed nowhere', async (t) => {
  const outside = await openOutside(t, 'http');
  const proxy = await startConnectProxy(outside.hosts, { login: 'bot:s3cret-word' });
  t.after(proxy.close);
  const home = await openCliHome(t);
  await home.write('config.toml', outside.toml);
  const url = proxy.url.replace('//', '//bot:s3cret-word@');
  await home.write('.env', `HTTP_PROXY=${url}\nhttps_proxy=${url}\n`);
  const said = startBot(t, home, {});
  await assertAnswers(outside, proxy);
  const doctor = await home.runAlone(['doctor', '--online']);
  assert.match(doctor.stdout, /✓ network .*telegram by proxy 127\.0\.0\.1:\d+/);
  assert.doesNotMatch(said() + doctor.stdout + doctor.stderr, /s3cret-word/);
});

test('G5 [network] proxy and ca_file: everything through TLS that the proxy looks into', async (t) => {
  const home = await openCliHome(t);
  const certificate = makeCertificates(home.folder);
  if (certificate === undefined) return t.skip('openssl is not installed');
  const outside = await openOutside(t, 'https');
  const proxy = await startConnectProxy(outside.hosts, { login: 'bot:s3cret-word', certificate });
  t.after(proxy.close);
  const url = proxy.url.replace('//', '//bot:s3cret-word@');
  await home.write('config.toml', `${outside.toml}[network]\nproxy = "$MY_PROXY"\nca_file = "ca.pem"\n`);
  // The key of the config wins.
  const env = { MY_PROXY: url, HTTPS_PROXY: 'http://127.0.0.1:1' };
  startBot(t, home, env);
  await assertAnswers(outside, proxy);
  assert.ok(proxy.asked.includes('CONNECT telegram.invalid:443'));
  const doctor = await home.runAlone(['doctor', '--online', '--json'], { env });
  const { checks } = JSON.parse(doctor.stdout) as { checks: readonly { name: string; said: string }[] };
  const found = new Map(checks.map(({ name, said }) => [name, said]));
  assert.match(found.get('telegram') ?? '', /@test_bot/);
  assert.match(found.get('slack') ?? '', /Skillet Test/);
  assert.match(found.get('model') ?? '', /answered/);
  assert.match(found.get('network') ?? '', /ca_file/);
});

test('G5 NO_PROXY is heeded, and this machine is never asked of a proxy', async (t) => {
  const outside = await openOutside(t, 'http');
  const proxy = await startConnectProxy(outside.hosts);
  t.after(proxy.close);
  const home = await openCliHome(t);
  await home.write('config.toml', outside.toml);
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, NO_PROXY: '.invalid,10.0.0.0/8' };
  const doctor = await home.runAlone(['doctor', '--online'], { env });
  assert.equal(doctor.code, 1);
  assert.deepEqual(proxy.asked, []);
  assert.match(doctor.stdout, /TELEGRAM_UNREACHABLE/);
  const own = await startMessagesServer({ script: () => 'ok' });
  t.after(own.close);
  await home.write(
    'config.toml',
    `[models.default]\nmodel = "m"\nbase_url = "${own.url}"\napi_key = "key-0123456789"\n${sandboxHere}`,
  );
  const local = await home.runAlone(['doctor', '--online'], { env });
  assert.match(local.stdout, /✓ model/, local.stdout);
  assert.deepEqual(proxy.asked, []);
});

test('G5 a proxy or certificate file that can not be used is named at once', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '[bot]\nname = "Bo"\n');
  for (const bad of ['socks5://127.0.0.1:1', 'ftp://p:1', 'http://']) {
    const said = await home.runAlone(['config', 'check'], { env: { HTTPS_PROXY: bad } });
    assert.equal(said.code, 1, bad);
    assert.match(
      said.stdout + said.stderr,
      /HTTPS_PROXY is no address of an HTTP proxy: write http:\/\/HOST:PORT/,
    );
  }
  await home.write('config.toml', '[network]\nca_file = "missing.pem"\n');
  assert.match(
    (await home.runAlone(['config', 'check'])).stderr,
    /ca_file .*missing\.pem can't be read \(ENOENT\)/,
  );
  await home.write('missing.pem', 'no certificate\n');
  assert.match((await home.runAlone(['config', 'check'])).stderr, /ca_file .* holds no certificate/);
  await home.write('config.toml', '[bot]\nname = "Bo"\n');
  await home.write('.env', 'NODE_EXTRA_CA_CERTS=missing.pem\n');
  assert.match(
    (await home.runAlone(['config', 'check'])).stderr,
    /NODE_EXTRA_CA_CERTS in \.env missing\.pem holds no certificate/,
  );
});

test('G5 certificates that .env names are trusted, and git gets them with the usual ones in one file', async (t) => {
  const { folder, write } = await openCliHome(t);
  if (makeCertificates(folder) === undefined) return t.skip('openssl is not installed');
  await write('.env', 'NODE_EXTRA_CA_CERTS=ca.pem\n');
  const source = (file: string): string => path.join(import.meta.dirname, '../../src', file);
  const script = `
    import { getCACertificates } from 'node:tls';
    import { loadEnvBeside } from ${JSON.stringify(source('cli/env-file.ts'))};
    import { runGit } from ${JSON.stringify(source('skills/install/git-process.ts'))};
    loadEnvBeside('config.toml');
    const { signal } = new AbortController();
    const args = ['-c', 'alias.told=!cat "$GIT_SSL_CAINFO"', 'told'];
    const told = await runGit({ args, fileLimit: 1e6, outputLimit: 1e7, signal, env: process.env });
    console.log(JSON.stringify([getCACertificates('default').join('\\n'), String(told.output)]));`;
  const child = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script];
  const printed = execFileSync(process.execPath, child, {
    cwd: folder,
    env: childEnv(folder),
    maxBuffer: 1e8,
  });
  const own = readFileSync(path.join(folder, 'ca.pem'), 'utf8').split('\n')[3] ?? assert.fail();
  for (const trusted of JSON.parse(String(printed)) as readonly string[]) {
    assert.ok(trusted.includes(own), 'the own certificate');
    assert.ok(trusted.split('BEGIN CERTIFICATE').length > 50, 'and the usual ones');
  }
});

/** A CA (`ca.pem`) and a certificate of it for all names of these tests. Undefined without openssl. */
function makeCertificates(folder: string): Readonly<{ key: string; cert: string }> | undefined {
  const at = (name: string): string => path.join(folder, name);
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', [...args, '-newkey', 'rsa:2048', '-nodes'], { stdio: 'pipe' });
  try {
    openssl(
      'req',
      '-x509',
      '-days',
      '2',
      '-subj',
      '/CN=Own CA',
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
    );
    openssl(
      'req',
      '-x509',
      '-days',
      '2',
      '-subj',
      '/CN=invalid',
      '-addext',
      'subjectAltName=DNS:*.invalid,DNS:telegram.invalid,DNS:slack.invalid,DNS:model.invalid',
      '-addext',
      'basicConstraints=critical,CA:FALSE',
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
      '-keyout',
      at('key.pem'),
      '-out',
      at('cert.pem'),
    );
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return { key: readFileSync(at('key.pem'), 'utf8'), cert: readFileSync(at('cert.pem'), 'utf8') };
}
