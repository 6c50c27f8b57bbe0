import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openBot } from '../../src/app/open-bot.ts';
import { openChannels } from '../../src/app/open-channels.ts';
import { readConfigFile } from '../../src/config/load-config.ts';
import { quietLog } from '../support/quiet-log.ts';

test('Q9 a stop while Telegram is awaited closes everything once', async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-stop-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const file = path.join(home, 'config.toml');
  await writeFile(
    file,
    '[telegram]\ntoken = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\napi_root = "http://127.0.0.1:1"\n[sandbox]\nmode = "off"\n',
  );
  const parsed = await readConfigFile({ file, env: {}, cwd: home, home });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { config } = parsed;
  const log = quietLog();
  const bot = await openBot({ config, env: {}, channels: (needs) => openChannels(config, needs), log });
  const started = bot.start();
  const gaveUp = assert.rejects(started, { name: 'AbortError' });
  await log.line(({ message }) => message.includes('could not be reached'));
  await bot.close();
  await gaveUp;
  await bot.close();
});
