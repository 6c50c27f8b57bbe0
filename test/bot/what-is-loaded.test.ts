import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';
import { startRunningBot } from '../support/running-bot.ts';

/** Writes down, when the process ends, each module that it loaded and each part of Intl that it made. */
const watching = (file: string): string => `
  import { registerHooks } from 'node:module';
  import { writeFileSync } from 'node:fs';
  const used = [];
  registerHooks({ load: (url, context, next) => (used.push(url), next(url, context)) });
  for (const name of ['Collator', 'DateTimeFormat', 'ListFormat', 'NumberFormat', 'PluralRules', 'Segmenter'])
    Intl[name] = new Proxy(Intl[name], {
      construct: (target, values) => (used.push('Intl.' + name), new target(...values)),
    });
  process.on('exit', () => writeFileSync(${JSON.stringify(file)}, JSON.stringify(used)));`;

const packages = [
  '@anthropic-ai/sdk',
  '@modelcontextprotocol/client',
  '@slack/bolt',
  'jose',
  'just-bash',
  'pg',
  'pg-boss',
  'prom-client',
  'turndown',
  'undici',
  'yaml',
];
const files = ['skills/check-sources.ts', 'sandbox/container/docker.ts', 'store/sqlite/create-forget.ts'];

test('B3 B4 a bot that has just started has loaded nothing that it may never use', async (t) => {
  const home = await openCliHome(t);
  const list = path.join(home.folder, 'used.json');
  const preload = `data:text/javascript,${encodeURIComponent(watching(list))}`;
  const bot = await startRunningBot(t, home, '', ['--import', preload]);
  assert.equal(await bot.end(), 0);
  const used = JSON.parse(await readFile(list, 'utf8')) as readonly string[];
  assert.ok(used.some((url) => url.includes('/node_modules/grammy/')));
  assert.ok(used.some((url) => url.endsWith('/src/bot/create-bot.ts')));
  for (const name of packages) {
    assert.deepEqual(
      used.filter((url) => url.includes(`/node_modules/${name}/`)),
      [],
    );
  }
  for (const file of files) assert.ok(!used.some((url) => url.endsWith(`/src/${file}`)), file);
  assert.deepEqual(
    used.filter((what) => what.startsWith('Intl.')),
    [],
  );
});
