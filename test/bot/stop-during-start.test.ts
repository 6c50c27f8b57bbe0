import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openBot } from '../../src/bot/open-bot.ts';
import { openChannels } from '../../src/bot/open-channels.ts';
import { readConfigFile } from '../../src/config/load-config.ts';
import { isShutdown } from '../../src/lib/async/shutdown.ts';
import { quietLog } from '../support/quiet-log.ts';

async function configOf(t: TestContext, toml: string) {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-stop-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const file = path.join(home, 'config.toml');
  await writeFile(file, toml);
  const parsed = await readConfigFile({ file, env: {}, cwd: home, home });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.config;
}

test('Q9 a bot whose channels cannot be opened gives everything back: the next one opens', async (t) => {
  const config = await configOf(t, '[sandbox]\nmode = "off"\n');
  const options = { config, env: {}, log: quietLog() };
  const failing = async (): Promise<never> => {
    throw new Error('no such channel');
  };
  await assert.rejects(openBot({ ...options, channels: failing }), /no such channel/);
  const bot = await openBot({ ...options, channels: async () => [] });
  await bot.start();
  await bot.close();
});

test('Q13 a bot that is stopped before its start got anywhere begins nothing', async (t) => {
  const config = await configOf(t, '[sandbox]\nmode = "off"\n');
  const log = quietLog();
  const bot = await openBot({ config, env: {}, log, channels: async () => [] });
  const gaveUp = assert.rejects(bot.start(), isShutdown);
  await bot.close();
  await gaveUp;
  assert.deepEqual(
    log.lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('Q9 a stop while Telegram is awaited closes everything once', async (t) => {
  const config = await configOf(
    t,
    '[telegram]\ntoken = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\napi_root = "http://127.0.0.1:1"\n[sandbox]\nmode = "off"\n',
  );
  const log = quietLog();
  const bot = await openBot({ config, env: {}, channels: (needs) => openChannels(config, needs), log });
  const started = bot.start();
  const gaveUp = assert.rejects(started, { name: 'AbortError' });
  await log.line(({ message }) => message.includes('could not be reached'));
  await bot.close();
  await gaveUp;
  await bot.close();
});
