import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { hookSecret } from '../support/send-event.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const run = promisify(execFile);
const page = readFileSync(path.join(import.meta.dirname, '../../docs/how-to/hooks.md'), 'utf8');

function blocks(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );
}

test('N7 the hook and the commands of docs/how-to/hooks.md work as they are shown', async (t) => {
  const set = await startWholeBot(t, {
    toml: '[server]\nlisten = "127.0.0.1:0"\n',
    script: () => 'Build 118 failed.',
  });
  const friends = set.telegram.group({ title: 'Friends' });
  const [shown = ''] = blocks('toml');
  const hook = shown
    .replace('"$HOOK_SECRET_OF_CI"', `"${hookSecret}"`)
    .replace('telegram:-100123', `telegram:${friends.id}`);
  const access = `[access]\nusers = ["telegram:42"]\ngroups = ["telegram:${friends.id}"]\n`;
  await set.reconfigure(`[server]\nlisten = "127.0.0.1:0"\n${access}${hook}`);
  await set.log.line(({ message }) => message === 'the config was changed');
  const served = await set.log.line(({ message }) => message === 'serving health and metrics');
  const { host } = new URL(String(served.fields['url']));
  const commands = blocks('sh');
  assert.equal(commands.length, 2);
  for (const command of commands) {
    const { stdout } = await run('bash', ['-euc', command.replace('127.0.0.1:9464', host)], {
      env: { ...process.env, HOOK_SECRET_OF_CI: hookSecret },
    });
    assert.equal(stdout, 'accepted\n');
    assert.equal((await friends.nextMessage()).text, 'Build 118 failed.');
  }
  const asked = JSON.stringify(set.messages.requests.map(({ body }) => body.messages));
  assert.match(asked, /Say who broke the build, and which test fails\./);
});
