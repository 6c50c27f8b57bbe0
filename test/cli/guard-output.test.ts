import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { childEnv } from '../support/child-env.ts';
import { openCliHome } from '../support/run-cli.ts';

const password = 'canary pg-9f3b/7c1e';
const key = 'canary-model-9f3b7c1e';
const toml = `[store]\nurl = "postgres://bot:${encodeURIComponent(password)}@127.0.0.1:1/bot"\n[models.default]\nmodel = "x"\napi_key = "$CANARY_KEY"\n`;

test('S2 S3 a command that fails on its database tells neither the password nor any other secret', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', toml);
  for (const command of [['inbox', 'list'], ['start'], ['config', 'show'], ['config', 'check']]) {
    const { stdout, stderr } = await home.runAlone(command, { env: { CANARY_KEY: key } });
    const said = stdout + stderr;
    assert.ok(said.length > 20, command.join(' '));
    for (const secret of [password, encodeURIComponent(password), key])
      assert.ok(!said.includes(secret), said);
  }
});

test('S2 a guard that is set again goes by what is secret now', async (t) => {
  const home = await openCliHome(t);
  const file = pathToFileURL(path.join(import.meta.dirname, '../../src/cli/console.ts')).href;
  const code = `import { guardOutput } from '${file}';
    guardOutput((text) => text.replaceAll('old', '[redacted]'));
    guardOutput((text) => text.replaceAll('new', '[redacted]'));
    console.log('old new'); console.error('old new');`;
  const run = promisify(execFile);
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', code], {
    env: childEnv(home.folder),
  });
  assert.deepEqual([stdout, stderr], ['old [redacted]\n', 'old [redacted]\n']);
});

test('S2 what Node prints of a crash holds no secret', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', toml);
  // Breaks at once after the config was read, in the middle of whatever goes on.
  const breaks = `setInterval(() => { if (process.listenerCount('uncaughtException') > 0) throw new Error('it broke with ' + process.env.CANARY_KEY, { cause: process.env.CANARY_KEY }); }, 1)`;
  const env = {
    CANARY_KEY: key,
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(breaks)}"`,
  };
  const { code, stdout, stderr } = await home.runAlone(['start'], { env });
  assert.equal(code, 1);
  assert.match(stderr, /it broke with \[redacted CANARY_KEY\]/);
  assert.ok(!(stdout + stderr).includes(key));
});
