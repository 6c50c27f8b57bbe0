import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { childEnv } from '../support/child-env.ts';
import { startMessagesServer } from '../support/messages-server/messages-server.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startTelegramServer } from '../support/telegram-server/start-telegram-server.ts';

const skill =
  '---\nname: lookup\ndescription: Looks things up.\nargument_hint: "[question]"\n---\nLook it up.\n';

test('Q6 H7 what a bot showed when it was killed becomes the answer after the restart: one message, nothing left behind', async (t) => {
  const { write, folder } = await openCliHome(t);
  const telegram = await startTelegramServer({ privacy: false });
  t.after(() => telegram.close());
  const held = Promise.withResolvers<void>();
  const messages = await startMessagesServer({
    script: (body) => ({
      content: [{ type: 'text', text: 'It is **so**.' }],
      ...(JSON.stringify(body.system).includes('You carry out the skill')
        ? { wire: { hold: held.promise } }
        : {}),
    }),
  });
  t.after(() => messages.close());
  await mkdir(path.join(folder, 'workspace/skills/lookup'), { recursive: true });
  await writeFile(path.join(folder, 'workspace/skills/lookup/SKILL.md'), skill);
  await write(
    'config.toml',
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\n[access]\ndm = "open"\n[log]\nlevel = "error"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  const start = (): ChildProcess => {
    const bot = spawn(process.execPath, [cliPath, 'start'], {
      cwd: folder,
      env: childEnv(folder),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.after(() => bot.kill('SIGKILL'));
    return bot;
  };
  const ann = telegram.person({ name: 'Ann' });
  const first = start();
  ann.says('/lookup is it so?');
  const line = await ann.dm.nextMessage('lookup');
  // The receipt is stored a moment after the answer to the post.
  const store = new DatabaseSync(path.join(folder, 'data', 'skillet.db'), { readOnly: true });
  t.after(() => store.close());
  const kept = () => store.prepare('SELECT COUNT(*) AS n FROM shown').get()?.['n'];
  await t.waitFor(() => assert.equal(kept(), 1), { timeout: 60_000 });
  first.kill('SIGKILL');
  await once(first, 'exit');
  const second = start();
  await telegram.until('the line is gone on with', () => {
    const edits = telegram.calls('editMessageText');
    return edits.length > 0 || messages.requests.length > 1 || undefined;
  });
  held.resolve();
  await telegram.until('the answer', () => ann.dm.sent()[0]?.text === 'It is so.' || undefined);
  second.kill('SIGTERM');
  await once(second, 'exit');
  assert.deepEqual(
    ann.dm.everSent().map(({ id, text, deleted }) => [id, text, deleted]),
    [[line.id, 'It is so.', false]],
  );
});
