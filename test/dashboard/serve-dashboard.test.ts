import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { createManualClock } from '../support/manual-clock.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';
import { ask, enter, everyPage, openDashboard } from '../support/visit-dashboard.ts';
import { startWholeBot } from '../support/whole-bot.ts';

test('S8 L10 `skillet dashboard` prints a link to loopback, shows a stopped and a running bot, and ends with a signal', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '[bot]\nname = "Pan"\nowner = ["telegram:7"]\n');
  const child = spawn(process.execPath, [cliPath, 'dashboard'], {
    cwd: home.folder,
    env: childEnv(home.folder),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => void child.kill('SIGKILL'));
  let link = '';
  for await (const line of createInterface({ input: child.stdout })) {
    link = /http:\S+/.exec(line)?.[0] ?? '';
    if (link !== '') break;
  }
  assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/enter\?token=[\w-]{43}$/);
  const visitor = await enter(link);
  for (const where of everyPage) {
    const { status, body } = await visitor.get(where);
    assert.equal(status, 200, where);
    assert.match(body, /<strong>Pan<\/strong>\s+<span class="mark no">stopped/, where);
    assert.match(body, /Read-only/, where);
  }
  const explained = await visitor.get('/playground?person=telegram%3A7&addressed=yes');
  assert.match(explained.body, /The bot answers this message[^]*research/);
  // Nothing is held open: a bot can start beside it.
  const { end } = await openRunningBot(t, home, '[bot]\nname = "Pan"\nowner = ["telegram:7"]\n');
  assert.match((await visitor.get('/health')).body, /The bot is ready\.[^]*telegram/);
  await end();
  assert.match((await visitor.get('/health')).body, /No bot runs on this data directory/);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});

test('S8 a link opens one session, within a minute', async (t) => {
  const clock = createManualClock();
  const dashboard = await openDashboard(t, await startWholeBot(t), { clock });
  const link = dashboard.newLink();
  const first = await ask(link);
  assert.equal(first.status, 200);
  const [cookie = ''] = first.headers['set-cookie'] ?? [];
  assert.match(cookie, /^skillet-dashboard-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\//);
  assert.equal((await ask(link)).status, 403);
  const late = dashboard.newLink();
  await clock.advance(60_000);
  assert.equal((await ask(late)).status, 403);
  const previewed = dashboard.newLink();
  const preview = await ask(previewed, { method: 'HEAD' });
  assert.deepEqual([preview.status, preview.headers['set-cookie']], [403, undefined]);
  assert.equal((await ask(previewed)).status, 200);
  const older = dashboard.newLink();
  const newer = dashboard.newLink();
  assert.equal((await ask(older)).status, 403);
  assert.equal((await ask(newer)).status, 200);
  const { origin } = new URL(link);
  const visit = (cookie: string) => ask(`${origin}/`, { headers: { cookie } });
  assert.equal((await visit(cookie)).status, 200);
  assert.equal((await visit(cookie.replace(/=./, '=!'))).status, 401);
  assert.equal((await ask(`${origin}/`)).status, 401);
  assert.equal((await ask(`${origin}/live?page=/`)).status, 401);
  await clock.advance(12 * 60 * 60_000 - 60_000 - 1);
  assert.equal((await visit(cookie)).status, 200);
  await clock.advance(1);
  assert.equal((await visit(cookie)).status, 401);
});

test('S8 a live page ends with its session, and eight are shown at once', async (t) => {
  const { bot, home } = await startWholeBot(t);
  const time = { now: Date.UTC(2026, 0, 1) };
  const wakes: (() => void)[] = [];
  const sleep = () => new Promise<void>((resolve) => void wakes.push(resolve));
  let onLook = (): void => undefined;
  const operate = ((...asked: Parameters<typeof bot.operate>) => {
    onLook();
    return bot.operate(...asked);
  }) as typeof bot.operate;
  const dashboard = await openDashboard(
    t,
    { bot: { ...bot, operate }, home },
    { clock: { now: () => time.now, sleep } },
  );
  const { origin, cookie } = await enter(dashboard.newLink());
  const watch = () => fetch(`${origin}/live?page=/`, { headers: { cookie } });
  const watched = await Promise.all(Array.from({ length: 8 }, watch));
  const readers = watched.map(({ body }) => body?.getReader() ?? assert.fail());
  for (const reader of readers) {
    const { value } = (await reader.read()) as Readonly<{ value?: Uint8Array }>;
    assert.match(new TextDecoder().decode(value), /^data: /);
  }
  const refused = await watch();
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '10']);
  time.now += 12 * 60 * 60_000;
  const shown = new Promise<string>((resolve) => (onLook = () => resolve('shown')));
  for (const wake of wakes) wake();
  const ended = Promise.all(readers.map((reader) => reader.read())).then((all) =>
    all.map(({ done }) => done),
  );
  assert.deepEqual(await Promise.race([ended, shown]), Array<boolean>(8).fill(true));
});

test('S8 another Host, Origin, site, method or form is refused', async (t) => {
  const dashboard = await openDashboard(t, await startWholeBot(t), { acts: {} });
  const { origin, cookie, get } = await enter(dashboard.newLink());
  await assert.rejects(ask(origin.replace('127.0.0.1', '127.0.0.2')), 'it listens on one address');
  const asked = async (where: string, headers: Readonly<Record<string, string>>) =>
    (await ask(origin + where, { headers: { cookie, ...headers } })).status;
  assert.equal(await asked('/', {}), 200);
  assert.equal(await asked('/', { host: new URL(origin).host.replace('127.0.0.1', 'localhost') }), 200);
  for (const host of [
    'evil.example',
    'evil.example:80',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.evil.example',
  ])
    assert.equal(await asked('/', { host }), 421, host);
  assert.equal(await asked('/', { origin: 'http://evil.example' }), 403);
  assert.equal(await asked('/', { origin: 'null' }), 403);
  assert.equal(await asked('/', { 'sec-fetch-site': 'same-site' }), 403);
  assert.equal(await asked('/', { 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal((await ask(origin, { method: 'DELETE', headers: { cookie } })).status, 405);
  const token = /name="token"/;
  assert.doesNotMatch((await get('/letters')).body, token);
  const sent = async (headers: Readonly<Record<string, string>>, form: Readonly<Record<string, string>>) =>
    (await ask(`${origin}/inbox/retry`, { headers: { cookie, ...headers }, form })).status;
  assert.equal(await sent({}, { key: 'a' }), 403);
  assert.equal(await sent({ origin }, { key: 'a' }), 403);
  assert.equal(await sent({ origin }, { key: 'a', token: 'guessed' }), 403);
  assert.equal(await sent({ origin }, { key: 'a'.repeat(20_000) }), 403);
  assert.equal((await get('/nowhere')).status, 404);
});

test('S8 S4 a page runs and shows only what comes from the dashboard itself', async (t) => {
  const dashboard = await openDashboard(t, await startWholeBot(t));
  const { get } = await enter(dashboard.newLink());
  for (const where of everyPage) {
    const { headers, body } = await get(where);
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    assert.doesNotMatch(String(headers['content-security-policy']), /unsafe/);
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.doesNotMatch(
      body,
      /<script(?! src="\/page\.js" defer)|\son\w+=|\sstyle=|<style|src="(?!\/page\.js)|javascript:/,
    );
  }
  for (const file of ['/page.css', '/page.js']) assert.equal((await get(file)).status, 200);
});
