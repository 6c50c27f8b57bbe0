import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { childEnv } from '../support/child-env.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { cliPath } from '../support/cli-path.ts';
import { knowPeople } from '../support/known-people.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

const skill =
  '---\nname: lookup\ndescription: Looks things up.\nargument_hint: "[question]"\n---\nLook it up.\n';

/** Bots that work on one folder, one after the other, with this script of a model. */
async function setUp(t: TestContext, script: Parameters<typeof startMessagesServer>[0]['script']) {
  const { write, folder } = await openCliHome(t);
  const telegram = await startTelegramServer({ privacy: false });
  t.after(() => telegram.close());
  const messages = await startMessagesServer({ script });
  t.after(() => messages.close());
  await mkdir(path.join(folder, 'workspace/skills/lookup'), { recursive: true });
  await writeFile(path.join(folder, 'workspace/skills/lookup/SKILL.md'), skill);
  await write(
    'config.toml',
    `[bot]\nshutdown_seconds = 1\n[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\n[access]\ndm = "open"\nusers = ["telegram:1001"]\ngroups_mode = "open"\n[log]\nlevel = "error"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  await knowPeople(`sqlite:${folder}/data/skillet.db`);
  const start = (): ChildProcess => {
    const bot = spawn(process.execPath, [cliPath, 'start'], {
      cwd: folder,
      env: childEnv(folder),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.after(() => bot.kill('SIGKILL'));
    return bot;
  };
  const end = async (bot: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
    bot.kill(signal);
    await once(bot, 'exit');
  };
  /** The receipt of what is shown is stored a moment after the platform's answer. */
  const kept = async (): Promise<void> => {
    const store = new DatabaseSync(path.join(folder, 'data', 'skillet.db'), { readOnly: true });
    try {
      const count = () => store.prepare('SELECT COUNT(*) AS n FROM shown').get()?.['n'];
      await t.waitFor(() => assert.equal(count(), 1), { timeout: 60_000 });
    } finally {
      store.close();
    }
  };
  return { telegram, messages, start, end, kept };
}

test('Q6 H7 U13 a line that was shown when the bot was killed is gone on with after the restart, and goes for the answer', async (t) => {
  const held = Promise.withResolvers<void>();
  const isRun = (body: MessagesRequest): boolean =>
    JSON.stringify(body.system).includes('You carry out the skill');
  const { telegram, messages, start, end, kept } = await setUp(t, (body) => ({
    content: [{ type: 'text', text: 'It is **so**.' }],
    ...(isRun(body) ? { wire: { hold: held.promise } } : {}),
  }));
  const ann = telegram.person({ name: 'Ann' });
  const first = start();
  ann.says('/lookup is it so?');
  const line = await ann.dm.nextMessage('lookup');
  await kept();
  await end(first, 'SIGKILL');
  const second = start();
  await telegram.until('the line is gone on with', () => {
    const edits = telegram.calls('editMessageText');
    return edits.length > 0 || messages.requests.length > 1 || undefined;
  });
  held.resolve();
  const answer = await ann.dm.nextMessage('It is so.');
  await end(second, 'SIGTERM');
  assert.deepEqual(
    ann.dm.everSent().map(({ id, text, deleted }) => [id, text, deleted]),
    [
      [line.id, 'lookup: step 1', true],
      [answer.id, 'It is so.', false],
    ],
  );
});

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`H6 Q6 words that were shown when the bot ended (${signal}) become the answer after the restart: one message`, async (t) => {
    const held = Promise.withResolvers<void>();
    let calls = 0;
    const { telegram, messages, start, end, kept } = await setUp(t, () => {
      calls += 1;
      const text = calls === 1 ? 'I guess so' : 'It is **so**.';
      return { content: [{ type: 'text', text }], ...(calls === 1 ? { wire: { hold: held.promise } } : {}) };
    });
    const ann = telegram.person({ name: 'Ann', id: 1001 });
    const friends = telegram.group({ title: 'Friends' });
    const first = start();
    const asked = ann.says('@test_bot is it so?', { in: friends });
    const words = await friends.nextMessage('I guess so');
    assert.deepEqual([words.replyTo, words.silent], [asked, false]);
    await kept();
    await end(first, signal);
    const second = start();
    await telegram.until('the answer', () => friends.sent()[0]?.text === 'It is so.' || undefined);
    await end(second, 'SIGTERM');
    held.resolve();
    assert.equal(messages.requests.length, 2);
    assert.deepEqual(
      friends.everSent().map(({ id, text, deleted }) => [id, text, deleted]),
      [[words.id, 'It is so.', false]],
    );
  });
